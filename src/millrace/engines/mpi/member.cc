// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/mpi/member.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/machine/detect.h"

namespace millrace::mpi {
namespace {

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "unknown";
}

void PutFacts(const RankFacts& facts, Letter& letter) {
  letter.PutText(facts.build);
  letter.PutText(facts.model);
  letter.PutText(facts.failure);
  letter.PutText(facts.host);
  letter.PutText(facts.processor);
  letter.PutAll(facts.cpus);
  for (const double number : {facts.flops_per_second, facts.memory_bandwidth, facts.most_bandwidth, facts.memory_bytes,
                              facts.launch_seconds, facts.gang_launch_seconds})
    letter.Put(number);
}

RankFacts TakeFacts(Letter& letter) {
  RankFacts facts;
  facts.build = letter.TakeText();
  facts.model = letter.TakeText();
  facts.failure = letter.TakeText();
  facts.host = letter.TakeText();
  facts.processor = letter.TakeText();
  facts.cpus = letter.TakeAll<int>();
  for (double* const number : {&facts.flops_per_second, &facts.memory_bandwidth, &facts.most_bandwidth,
                               &facts.memory_bytes, &facts.launch_seconds, &facts.gang_launch_seconds})
    *number = letter.Take<double>();
  return facts;
}

void Answer(Postman& postman, int rank, bool stay, const std::vector<int>& cpus) {
  Letter letter;
  letter.Put(stay);
  letter.PutAll(cpus);
  SendLetter(postman, rank, letter);
}

}  // namespace

RankFacts FactsOfThisRank() {
  const Machine host = DetectHost();
  RankFacts facts;
  facts.host = HostName();
  const Device& one = host.devices.front();
  const Device& all = host.devices.back();
  facts.cpus = all.units;
  facts.flops_per_second = one.flops_per_second;
  facts.memory_bandwidth = one.memory_bandwidth;
  facts.most_bandwidth = all.memory_bandwidth;
  facts.memory_bytes = one.memory_bytes.value_or(0);
  facts.launch_seconds = one.launch_seconds;
  facts.gang_launch_seconds = all.launch_seconds;
  return facts;
}

std::vector<Member> MembersOf(const std::vector<RankFacts>& facts) {
  std::vector<Member> members;
  std::map<std::string, int> on_host;
  std::map<std::pair<std::string, std::vector<int>>, std::vector<std::size_t>> same;  // who has the same processors
  for (std::size_t rank = 0; rank < facts.size(); ++rank) {
    members.push_back({facts[rank], facts[rank].cpus, false, 1});
    ++on_host[facts[rank].host];
    same[{facts[rank].host, facts[rank].cpus}].push_back(rank);
  }
  for (const auto& [where, ranks] : same) {
    const std::vector<int>& cpus = where.second;
    const std::size_t count = ranks.size();
    for (std::size_t i = 0; i < count && count > 1 && !cpus.empty(); ++i) {
      Member& member = members[ranks[i]];
      if (cpus.size() < count) {
        member.cpus = {cpus[i % cpus.size()]};
        member.shares_cpu = true;
        continue;
      }
      const auto begin = cpus.begin() + static_cast<std::ptrdiff_t>(i * cpus.size() / count);
      const auto end = cpus.begin() + static_cast<std::ptrdiff_t>((i + 1) * cpus.size() / count);
      member.cpus.assign(begin, end);
    }
  }
  for (Member& member : members) member.ranks_of_host = on_host[member.facts.host];
  return members;
}

std::string WhyNotTogether(const std::vector<RankFacts>& facts) {
  for (std::size_t rank = 0; rank < facts.size(); ++rank) {
    const RankFacts& own = facts[rank];
    if (!own.failure.empty()) return fmt::format("rank {} on {}: {}", rank, own.host, own.failure);
    if (own.build != facts.front().build) {
      return fmt::format("rank {} on {} is {}, and rank 0 is {}; install the same build on every machine", rank,
                         own.host, own.build, facts.front().build);
    }
    if (own.model != facts.front().model) {
      return fmt::format(
          "rank {} on {} has read another model than rank 0 ({}, not {}); the same file has to lie on every machine",
          rank, own.host, own.model, facts.front().model);
    }
  }
  return "";
}

std::vector<Member> Gather(Postman& postman, const RankFacts& own) {
  std::vector<RankFacts> facts{own};
  for (int rank = 1; rank < postman.size(); ++rank) {
    Letter letter = ReceiveLetter(postman, rank);
    facts.push_back(TakeFacts(letter));
  }
  const std::string why_not = WhyNotTogether(facts);
  std::vector<Member> members = MembersOf(facts);
  for (int rank = 1; rank < postman.size(); ++rank)
    Answer(postman, rank, why_not.empty(), members[static_cast<std::size_t>(rank)].cpus);
  if (!why_not.empty()) throw InvalidInput(why_not);
  return members;
}

void TurnAway(Postman& postman) {
  for (int rank = 1; rank < postman.size(); ++rank) {
    ReceiveLetter(postman, rank);
    Answer(postman, rank, false, {});
  }
}

std::optional<std::vector<int>> Report(Postman& postman, const RankFacts& own) {
  Letter letter;
  PutFacts(own, letter);
  SendLetter(postman, 0, letter);
  Letter answer = ReceiveLetter(postman, 0);
  const bool stay = answer.Take<bool>();
  std::vector<int> cpus = answer.TakeAll<int>();
  return stay ? std::optional(std::move(cpus)) : std::nullopt;
}

}  // namespace millrace::mpi

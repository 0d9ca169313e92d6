// SPDX-License-Identifier: Apache-2.0
#include "millrace/rank_session.h"

#include <fmt/core.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <utility>
#include <vector>

#include "millrace/engines/mpi/model_parts.h"
#include "millrace/engines/mpi/rank_machine.h"
#include "millrace/engines/mpi/seats.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/machine_json.h"
#include "millrace/plan/hash.h"
#include "millrace/ranks/load_module.h"
#include "millrace/runtime/revision.h"
#include "millrace/target/mpi_target.h"
#include "millrace/target/profile_cache.h"
#include "millrace/target/profile_groups.h"
#include "millrace/version_line.h"

namespace millrace::cli {
namespace {

// Of the graph and of the file as it lies there: weights are in it.
std::string FingerprintOf(const std::string& path, const ComputationGraph& graph) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint64_t> words(1 << 16);
  while (file) {
    words.back() = 0;
    file.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * sizeof(words[0])));
    const std::size_t bytes = static_cast<std::size_t>(file.gcount());
    const std::size_t whole = (bytes + sizeof(words[0]) - 1) / sizeof(words[0]);
    if (bytes % sizeof(words[0]) != 0) {
      std::memset(reinterpret_cast<char*>(words.data()) + bytes, 0, whole * sizeof(words[0]) - bytes);
    }
    for (std::size_t i = 0; i < whole; ++i) hash = (hash ^ words[i]) * 0x100000001b3ULL;
    hash = (hash ^ bytes) * 0x100000001b3ULL;
  }
  return fmt::format("{}-{:016x}", GraphHash(graph), hash);
}

mpi::RankFacts OwnFacts() {
  mpi::RankFacts facts = mpi::FactsOfThisRank();
  facts.build = VersionLine() + ", " + RuntimeRevision();
  facts.processor = HostProcessor();
  return facts;
}

// The model outlives what is returned.
mpi::RankSkills SkillsOf(const Model* model) {
  mpi::RankSkills skills;
  skills.model = model;
  if (model == nullptr) return skills;
  skills.time_group = [model](std::span<const int> ops, const std::vector<int>& cpus) {
    ProfileGroupOptions options;
    options.seconds = 0.02;
    options.weights_apart = WeightsLeaveCaches(*model);
    const ProfiledTime time = ProfileGroup(*model, ops, cpus, options);
    return mpi::TimedGroup{time.seconds, time.disturbed};
  };
  return skills;
}

}  // namespace

RankSession::RankSession(const std::string& target) : target_(target) {
  if (!NamesMpi(target)) return;
  auto postman = std::make_unique<mpi::Postman>(mpi::JoinMpiRanks());
  if (postman->rank() != 0) {
    postman_ = std::move(postman);
    return;
  }
  // From here on the others hear of whatever goes wrong here.
  leader_ = std::make_unique<mpi::Leader>(std::move(postman));
  ParseMpiTarget(target);
}

int RankSession::Follow(const CommandLine& line, const std::string& path) {
  const int rank = postman_->rank();
  try {
    mpi::RankFacts facts = OwnFacts();
    LoadedGraph loaded;
    try {
      if (!path.empty()) loaded = LoadGraph(path, line.common.dimensions);
      if (!path.empty()) facts.model = FingerprintOf(path, loaded.graph);
    } catch (const InvalidInput& error) {
      facts.failure = error.what();
    }
    mpi::FollowRankZero(*postman_, facts, SkillsOf(loaded.model ? &*loaded.model : nullptr));
  } catch (const Interrupted&) {
    return 1;  // rank 0 says so
  } catch (const std::exception&) {
    // Rank 0 says what is wrong; where it is rank 0 that is lost, the next one does.
    if (rank == 1) throw;
    return 1;
  }
  postman_.reset();
  return 0;
}

mpi::Leader* RankSession::Lead(const CommandLine& line, const std::string& path, const LoadedGraph& loaded) {
  if (leader_ == nullptr) return nullptr;
  model_ = loaded.model ? &*loaded.model : nullptr;
  mpi::RankFacts facts = OwnFacts();
  if (!path.empty()) facts.model = FingerprintOf(path, loaded.graph);
  leader_->Assemble(facts, SkillsOf(model_));
  if (ParseMpiTarget(target_).emulate || line.common.quiet) return leader_.get();
  for (const mpi::Member& member : leader_->members()) {
    if (!member.shares_cpu) continue;
    Warn(fmt::format("{} ranks on {} run on fewer processors and slow each other down; mpi,emulate does not mind",
                     member.ranks_of_host, member.facts.host));
    break;
  }
  return leader_.get();
}

Machine RankSession::MeasuredMachine(const std::string& words, double seconds) {
  Machine machine = words == "this" ? mpi::MachineOfRanks(leader_->members()) : LoadMachine(words);
  mpi::CheckRanks(mpi::SeatsOf(machine), leader_->size());
  if (!ParseMpiTarget(target_).links_given) mpi::MeasureLinks(*leader_, machine, seconds);
  return machine;
}

std::optional<GroupTiming> RankSession::Timing(const std::string& words, const Machine& machine) const {
  if (leader_ == nullptr || model_ == nullptr) return std::nullopt;
  // What is emulated on a machine that is made up has the times of that machine.
  if (ParseMpiTarget(target_).emulate && words != "this") return std::nullopt;
  GroupTiming timing;
  std::map<std::vector<int>, mpi::Seat> seat_of;  // by units
  const std::vector<mpi::Seat> seats = mpi::SeatsOf(machine);
  for (std::size_t device = 0; device < seats.size(); ++device) {
    seat_of[machine.devices[device].units] = seats[device];
    const std::string& processor = leader_->members()[static_cast<std::size_t>(seats[device].rank)].facts.processor;
    if (processor != leader_->members().front().facts.processor)
      timing.processors[machine.devices[device].kind] = processor;
  }
  timing.time = [leader = leader_.get(), seat_of](const Model&, std::span<const int> ops, std::span<const int> units,
                                                  const ProfileGroupOptions&) {
    const mpi::Seat& seat = seat_of.at({units.begin(), units.end()});
    const mpi::TimedGroup timed = leader->Time(seat.rank, ops, seat.processors);
    return ProfiledTime{timed.seconds, timed.disturbed};
  };
  return timing;
}

}  // namespace millrace::cli

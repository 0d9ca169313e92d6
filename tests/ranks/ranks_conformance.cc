// SPDX-License-Identifier: Apache-2.0
#include "tests/ranks/ranks_conformance.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace millrace::testing {
namespace {

using Content = std::vector<std::byte>;

// Bytes that tell who sent them to whom and as which message.
Content ContentOf(int from, int to, int number, std::size_t size) {
  Content content(size);
  for (std::size_t i = 0; i < size; ++i)
    content[i] = static_cast<std::byte>(
        ((i ^ (i >> 11) ^ (i >> 20)) * 31 + static_cast<std::size_t>(from * 7 + to * 13 + number * 17)) & 0xff);
  return content;
}

// The order in which the messages were complete.
std::vector<std::size_t> WaitForAll(mpi::Ranks& ranks, std::vector<mpi::MessageId> ids) {
  std::vector<std::size_t> place(ids.size()), order;
  for (std::size_t i = 0; i < ids.size(); ++i) place[i] = i;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!ids.empty()) {
    std::vector<std::size_t> complete;
    ranks.Test(ids, complete);
    std::sort(complete.rbegin(), complete.rend());
    for (const std::size_t at : complete) {
      order.push_back(place[at]);
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at));
      place.erase(place.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("a message never completes");
    if (complete.empty()) std::this_thread::yield();
  }
  return order;
}

// Each sends to the next and hears from the one before: sizes from none to megabytes, several of one tag, which keep
// their order, and tags that are waited for in another order than they are sent in.
std::string FaultOfRing(mpi::Ranks& ranks) {
  const int next = (ranks.rank() + 1) % ranks.size();
  const int before = (ranks.rank() + ranks.size() - 1) % ranks.size();
  const std::vector<std::size_t> sizes = {0, 1, 100, 5000, 3'000'001, 1 << 20, 8};
  std::vector<Content> sent, received;
  std::vector<mpi::MessageId> ids;
  const int count = static_cast<int>(sizes.size());
  for (int number = 0; number < count; ++number) received.emplace_back(sizes[static_cast<std::size_t>(number)]);
  // Tag 5 three times in order; the other tags from the last to the first.
  for (const int number : {0, 2, 4, 6, 5, 3, 1}) {
    const int tag = number % 2 == 0 ? 5 : mpi::kMostTag - number;
    ids.push_back(ranks.Receive(before, tag, received[static_cast<std::size_t>(number)]));
  }
  for (int number = 0; number < count; ++number) {
    sent.push_back(ContentOf(ranks.rank(), next, number, sizes[static_cast<std::size_t>(number)]));
    const int tag = number % 2 == 0 ? 5 : mpi::kMostTag - number;
    ids.push_back(ranks.Send(next, tag, sent.back()));
  }
  WaitForAll(ranks, ids);
  for (int number = 0; number < count; ++number) {
    const std::size_t size = sizes[static_cast<std::size_t>(number)];
    if (received[static_cast<std::size_t>(number)] != ContentOf(before, ranks.rank(), number, size))
      return "message " + std::to_string(number) + " of the ring arrives changed";
  }
  return "";
}

// Everybody to everybody, sent before anybody expects it.
std::string FaultOfAllToAll(mpi::Ranks& ranks) {
  std::vector<Content> sent, received;
  std::vector<mpi::MessageId> ids;
  const auto size_of = [](int from, int to) { return static_cast<std::size_t>(1000 * from + 300 * to + 1); };
  for (int to = 0; to < ranks.size(); ++to) {
    sent.push_back(ContentOf(ranks.rank(), to, 0, size_of(ranks.rank(), to)));
    if (to != ranks.rank()) ids.push_back(ranks.Send(to, 9, sent.back()));
  }
  for (int from = 0; from < ranks.size(); ++from) {
    received.emplace_back(size_of(from, ranks.rank()));
    if (from != ranks.rank()) ids.push_back(ranks.Receive(from, 9, received.back()));
  }
  WaitForAll(ranks, ids);
  for (int from = 0; from < ranks.size(); ++from) {
    if (from == ranks.rank()) continue;
    if (received[static_cast<std::size_t>(from)] != ContentOf(from, ranks.rank(), 0, size_of(from, ranks.rank())))
      return "what rank " + std::to_string(from) + " sent arrives changed";
  }
  return "";
}

// A message that nobody has sent is not complete, and does not keep others from it.
std::string FaultOfWaiting(mpi::Ranks& ranks) {
  if (ranks.size() < 2 || ranks.rank() > 1) return "";
  const int other = 1 - ranks.rank();
  std::byte late{}, soon{};
  const mpi::MessageId waiting = ranks.Receive(other, 11, {&late, 1});
  const std::byte first{1}, second{2};
  WaitForAll(ranks, {ranks.Receive(other, 12, {&soon, 1}), ranks.Send(other, 12, {&first, 1})});
  std::vector<std::size_t> complete;
  ranks.Test(std::vector<mpi::MessageId>{waiting}, complete);
  // The other side may have gone on to send it by now.
  if (!complete.empty() && late != second) return "a message is complete that nobody sent";
  std::vector<mpi::MessageId> rest{ranks.Send(other, 11, {&second, 1})};
  if (complete.empty()) rest.push_back(waiting);
  WaitForAll(ranks, rest);
  return late == second && soon == first ? "" : "a message arrives changed";
}

// Quick to make: every megabyte of it begins with its number.
Content LongContent(int number, std::size_t size) {
  Content content(size, static_cast<std::byte>(100 + number));
  for (std::size_t at = 0; at < size; at += std::size_t{1} << 20) content[at] = static_cast<std::byte>((at >> 20) + 1);
  return content;
}

// Two long messages of one tag, and a short one of another that rank 0 sends behind them.
struct LongAndShort {
  std::vector<std::size_t> order;
  std::string fault;
};

LongAndShort SendLongAndShort(mpi::Ranks& ranks, std::size_t first, std::size_t second) {
  LongAndShort done;
  if (ranks.rank() > 1 || ranks.size() < 2) return done;
  const int other = 1 - ranks.rank();
  const std::vector<std::size_t> sizes = {first, second, 1};
  std::vector<Content> contents;
  std::vector<mpi::MessageId> ids;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const int tag = i < 2 ? 20 : 21;
    contents.push_back(ranks.rank() == 0 ? LongContent(static_cast<int>(i), sizes[i]) : Content(sizes[i]));
    ids.push_back(ranks.rank() == 0 ? ranks.Send(other, tag, contents[i]) : ranks.Receive(other, tag, contents[i]));
  }
  done.order = WaitForAll(ranks, ids);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (contents[i] != LongContent(static_cast<int>(i), sizes[i])) done.fault = "a long message arrives changed";
  }
  return done;
}

std::string FaultOfLongMessages(mpi::Ranks& ranks) { return SendLongAndShort(ranks, 20'000'001, 3'000'000).fault; }

}  // namespace

std::string FaultOfOvertaking(mpi::Ranks& ranks) {
  const LongAndShort done = SendLongAndShort(ranks, 40'000'000, 50'000'000);
  if (!done.fault.empty() || ranks.rank() != 1) return done.fault;
  return done.order.front() == 2 ? "" : "a short message waits until the long one before it is over";
}

std::string FaultOfRanks(mpi::Ranks& ranks) {
  if (ranks.rank() < 0 || ranks.rank() >= ranks.size()) return "rank and size do not fit";
  try {
    std::vector<std::size_t> complete;
    ranks.Test({}, complete);
    if (!complete.empty()) return "nothing is complete where nothing was begun";
    for (int round = 0; round < 5; ++round) {
      for (std::string (*const fault_of)(mpi::Ranks&) : {FaultOfRing, FaultOfAllToAll, FaultOfWaiting}) {
        std::string fault = fault_of(ranks);
        if (!fault.empty()) return fault;
      }
    }
    return FaultOfLongMessages(ranks);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace millrace::testing

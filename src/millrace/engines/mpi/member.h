// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "millrace/engines/mpi/letter.h"
#include "millrace/engines/mpi/postman.h"

// Who takes part: what every rank says of itself when it joins, whether all of them fit together, and which processors
// each has. Bytes, seconds.
namespace millrace::mpi {

// What a rank knows of itself.
struct RankFacts {
  std::string build;      // of the program; ranks of another are refused
  std::string model;      // which model it has read: a fingerprint; ranks with another are refused
  std::string failure;    // why it could not read it; empty if it could
  std::string host;       // name of the machine it runs on
  std::string processor;  // of what kind its processors are
  std::vector<int> cpus;  // that it may use, neighbours side by side
  double flops_per_second = 0, memory_bandwidth = 0;  // of one of them
  double most_bandwidth = 0;                          // of all of them
  double memory_bytes = 0;                            // of the machine; 0: not known
  double launch_seconds = 0, gang_launch_seconds = 0;
};

// Of the rank that calls this, but for build, model and failure.
RankFacts FactsOfThisRank();

struct Member {
  RankFacts facts;
  std::vector<int> cpus;    // that are its own: ranks of one machine that may use the same ones share them out
  bool shares_cpu = false;  // it has one only, and others have the same
  int ranks_of_host = 1;
};

// Shares out the processors.
std::vector<Member> MembersOf(const std::vector<RankFacts>& facts);

// Why these ranks cannot work together, in one line; empty if they can.
std::string WhyNotTogether(const std::vector<RankFacts>& facts);

// By rank 0: hears all others, and tells each of them whether it may stay. Throws InvalidInput, once all know, where
// they do not fit together.
std::vector<Member> Gather(Postman& postman, const RankFacts& own);

// Rank 0 leaves before it is ready: the others go as well.
void TurnAway(Postman& postman);

// By the others: the processors that are the caller's own; nothing where rank 0 does not want the ranks to go on.
std::optional<std::vector<int>> Report(Postman& postman, const RankFacts& own);

}  // namespace millrace::mpi

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/workloads/go_corpus.h"

// Good plans for the cases of go_corpus.h, which long searches under contention find. No training reads them yet.
// Seconds.
namespace millrace {

// A plan of greedily fused groups.
struct GoExpertPlan {
  double seconds = 0;                // under contention
  std::vector<std::int32_t> device;  // by op
  std::vector<std::int32_t> turn;    // by op: the place of its group in the sequence
};

// The fastest first: runners-up are good, too, and show that good plans differ. Empty: none fits in memory.
using GoExpertise = std::vector<GoExpertPlan>;

struct GoExpertOptions {
  int searches = 2;                 // independent of each other; each gives a plan
  std::int64_t evaluations = 4000;  // of each search
};

// Plans for case `number` of the seed: a function of the arguments alone. Throws Interrupted.
GoExpertise FindExpertise(std::uint64_t seed, GoCasePurpose purpose, int number, const GoExpertOptions& options);

// A file each, named for the case: FOLDER/training-000007.safetensors.
std::string ExpertiseFile(const std::string& folder, GoCasePurpose purpose, int number);
void WriteExpertise(const std::string& path, const GoCase& of, const GoExpertise& plans);

// Throws InvalidInput, naming the file, where it is of another graph or machine, or no such file.
GoExpertise ReadExpertise(const std::string& path, const GoCase& of, const ComputationGraph& graph);

}  // namespace millrace

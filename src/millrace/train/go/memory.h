// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "millrace/go/own_logits.h"
#include "millrace/network/weights.h"
#include "millrace/train/go/problem.h"

// What a training of GO remembers of its problems beside its weights, and the part of a checkpoint that keeps it.
namespace millrace {

struct GoProblemMemory {
  KnownDecisions best;
  std::int64_t searches = 0;      // for demonstrations
  std::vector<double> baselines;  // moving mean reward, by iteration; empty before the first sample
  double deviation = 0;           // moving deviation from it
  std::optional<OwnLogits> own;   // learned for this problem alone
};

struct GoMemory {
  std::int64_t evaluations = 0;  // of plans
  std::vector<GoProblemMemory> problems;
};

// Of all problems, or of one. What reads them throws InvalidInput where they are none.
Weights MemoryPart(const GoMemory& memory);
GoMemory MemoryOf(const Weights& part);
Weights ProblemPart(const GoProblemMemory& memory);
GoProblemMemory ProblemMemoryOf(const Weights& part);

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "millrace/plan/plan.h"
#include "millrace/random/random.h"
#include "millrace/train/gflownet/problems.h"

// Problems with a good plan to learn from: annealed ones, made when first asked for and kept in memory.
namespace millrace {

struct Demonstration {
  std::unique_ptr<Problem> problem;
  Assignment assignment;
};

class DemonstrationPool {
 public:
  // `source` must outlive the pool. Demonstration i depends on `random` and i alone. `visits` of groups and edges is
  // what annealing may spend on one (AnnealOptions).
  DemonstrationPool(const ProblemSource& source, int count, std::int64_t visits, const Random& random);

  int size() const { return static_cast<int>(slots_.size()); }

  // Safe on several threads. The pool owns what it returns. Throws Interrupted.
  const Demonstration& Get(int index);

 private:
  struct Slot {
    std::once_flag made;
    Demonstration demonstration;
  };

  const ProblemSource& source_;
  std::int64_t visits_;
  Random random_;
  std::vector<Slot> slots_;
};

}  // namespace millrace

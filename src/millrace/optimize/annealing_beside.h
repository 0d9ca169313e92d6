// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <optional>
#include <stop_token>
#include <thread>

#include "millrace/cost/cost_model.h"
#include "millrace/optimize/pool.h"
#include "millrace/planning/best_of.h"
#include "millrace/random/random.h"

// One long annealing on a thread of its own, while the pool is made and searched on from. Annealing gains by time as
// no other planner does, and a pool that gives it a share of the time gives it too little; nor does it leave every plan
// that others begin with. Seconds.
namespace millrace {

class AnnealingBeside {
 public:
  // Begins where annealing alone would, at the fastest plan of the heuristics of start.h, or at the fastest of all
  // where the pool has none of these; under the groups of that plan, for `seconds` at most. The pool needs an entry and
  // is not referred to later; the model must outlive this object.
  AnnealingBeside(const CostModel& model, const Pool& pool, double seconds, Random random);

  // Ends it and waits for it: its plan, as an entry of that pool, whose number of the groups it keeps. Nothing where no plan fits in memory. Once only. Throws Interrupted.
  std::optional<PoolEntry> Stop();

 private:
  int fusion_;
  std::future<std::optional<RatedAssignment>> found_;
  std::jthread thread_;  // the last: asked to stop, and waited for, before all else goes
};

}  // namespace millrace

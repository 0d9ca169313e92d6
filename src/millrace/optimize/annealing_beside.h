// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/fusion/fusion_options.h"
#include "millrace/optimize/pool.h"
#include "millrace/planning/best_of.h"
#include "millrace/random/random.h"

// One long annealing on a thread of its own, while the pool is made and searched on from. Annealing gains by time as
// no other planner does, and a pool that gives it a share of the time gives it too little; nor does it leave every plan
// that others begin with. Where ops can be fused, what fusion it begins with decides more than how long it goes on: the
// second of two searches with fusion open is worth as much as twice the time, annealing beside one of them nothing.
// Seconds.
namespace millrace {

class AnnealingBeside {
 public:
  // Plans as annealing alone would, for `seconds` at most: with fusion open (search/anneal_fusion.h) where there are
  // several `fusions` (FusionOptions, all of them) and time for it, else under the groups of those that fuse what pays.
  // The model must outlive this object.
  AnnealingBeside(const CostModel& model, const std::vector<FusionOption>& fusions, double seconds, Random random);

  // Ends it and waits for it: its plan, as an entry of the pool, which gets its way of fusing if it has not got it.
  // Nothing where no plan fits in memory. Once only. Throws Interrupted.
  std::optional<PoolEntry> Stop(Pool& pool);

 private:
  struct Found {
    std::string method;
    PoolFusion fusion;
    RatedAssignment best;
  };

  static std::optional<Found> Anneal(const CostModel& model, const FusionOption& fusion, bool open, double seconds,
                                     Random random, const std::stop_token& stop);

  std::future<std::optional<Found>> found_;
  std::jthread thread_;  // the last: asked to stop, and waited for, before all else goes
};

}  // namespace millrace

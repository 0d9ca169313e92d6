// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/heuristics/candidate_source.h"
#include "millrace/policy/one_shot_policy.h"
#include "millrace/random/random.h"
#include "millrace/rollout/one_shot_plan.h"
#include "millrace/rollout/one_shot_sampler.h"

// The one-shot policy as a source of plans. It chooses their fusion groups, too, and so is no CandidateSource.
namespace millrace {

struct OneShotSourceOptions {
  int iterations = 3;
  std::vector<double> softmax_temperatures = {0.1, 0.5};  // each with an equal share of the draws
  int threads = 1;
};

class OneShotSource {
 public:
  OneShotSource(std::shared_ptr<const OneShotPolicy> policy, OneShotSourceOptions options)
      : policy_(std::move(policy)), options_(std::move(options)) {}

  // Offers budget.samples plans, valid, memory aside: one for every iteration of a draw, the last one first; the draw
  // of the likeliest choices before those by chance. With budget.seconds it begins no more draws than are likely to end
  // in time. Offers are the same at any number of threads.
  void Propose(const CostModel& model, const SourceBudget& budget, const Random& random,
               const std::function<void(OneShotPlan)>& offer) const;

 private:
  std::shared_ptr<const OneShotPolicy> policy_;
  OneShotSourceOptions options_;
};

// The best plans of a source that fit in memory, all different, ascending by makespan.
struct BestOneShot {
  std::vector<OneShotPlan> kept;
  std::int64_t offered = 0;
  std::int64_t overfull = 0;
};

BestOneShot RunOneShot(const OneShotSource& source, const CostModel& model, const SourceBudget& budget,
                       const Random& random, std::size_t most);

}  // namespace millrace

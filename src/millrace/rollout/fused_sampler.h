// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "millrace/env/fusion_choices.h"
#include "millrace/env/reward.h"
#include "millrace/plan/plan.h"
#include "millrace/policy/fusion_policy.h"
#include "millrace/policy/policy.h"
#include "millrace/random/random.h"
#include "millrace/rollout/fused_environment.h"
#include "millrace/rollout/sampler.h"

// Draws whole plans, fusion included: first the fusion choices, then the placement of the groups they make, step by
// step.
namespace millrace {

struct FusedTrajectory {
  std::vector<char> answers;  // to the offered merges, 1 accepted
  FusionGroups groups;        // by first op in topological order
  Trajectory placing;         // of these groups; its log P_F and log P_B are of this phase alone
  double log_fusing = 0;      // log P_F of the answers

  double log_forward() const { return log_fusing + placing.log_forward; }
  double log_backward() const { return placing.log_backward; }  // groups tell their answers: P_B of those is 1
  Plan plan() const { return {groups, placing.assignment.placement, placing.assignment.sequence}; }
};

// For one graph, machine and reward temperature. Remembers contracted graphs from one call to the next.
class FusedSampler {
 public:
  // The model must outlive it; its graph has at least one op. Reward temperature > 0, else InvalidInput. The policy
  // that places groups is prepared for the temperature at which a reward by its own graph is as sharp as LogReward
  // below.
  FusedSampler(const CostModel& model, std::shared_ptr<const FusionPolicy> fusing,
               std::shared_ptr<const Policy> placing, double temperature);

  // `count` plans, the same at any number of threads. options.recorded_share is not looked at.
  //
  // Answers of plan i come from random.Fork(options.first + i), softmax temperature and epsilon as for placing. The
  // placements of equal groups are drawn from one stream, that of the first plan with them: the earlier plans of a call
  // do not depend on `count`.
  std::vector<FusedTrajectory> Sample(int count, const SamplerOptions& options, const Random& random);

  // One of the ways to build a given valid plan, drawn backwards, with its probabilities. Nothing where no answers lead
  // to its groups.
  std::optional<FusedTrajectory> DrawBackwards(const Plan& plan, const Random& random);

  // Size-scaled, n and the reference being those of the graph with every op single, whatever was fused.
  double LogReward(const FusedTrajectory& trajectory) const {
    return millrace::LogReward(scale_, trajectory.placing.makespan, temperature_);
  }

  const RewardScale& scale() const { return scale_; }
  const FusionProblem& problem() const { return problem_; }
  FusedEnvironments& environments() { return environments_; }

  double temperature() const { return temperature_; }

  // The reward temperature that groups of one contracted graph are placed at, and the placing policy for it. The
  // environment must outlive what is returned.
  double PlacingTemperature(const Environment& environment) const;
  std::unique_ptr<PreparedPolicy> Prepare(const Environment& environment) const;

  // Log probability of accepting and of declining an offered merge.
  struct LogAnswers {
    double accept = 0;
    double decline = 0;
  };
  LogAnswers Answer(const MergeObservation& offered) const;

 private:
  class Fuser;

  FusionProblem problem_;
  std::shared_ptr<const FusionPolicy> fusing_;
  std::shared_ptr<const Policy> placing_;
  double temperature_;
  RewardScale scale_;
  FusedEnvironments environments_;
};

}  // namespace millrace

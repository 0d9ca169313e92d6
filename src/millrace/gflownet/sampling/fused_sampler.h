// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "millrace/fusion/fusion_choices.h"
#include "millrace/gflownet/environment/reward.h"
#include "millrace/gflownet/policy/fusion_policy.h"
#include "millrace/gflownet/policy/policy.h"
#include "millrace/gflownet/sampling/fused_environment.h"
#include "millrace/gflownet/sampling/sampler.h"
#include "millrace/plan/plan.h"
#include "millrace/random/random.h"

// Draws whole plans with their fusion groups: first the fusion choices, then, step by step, the placement of the
// groups.
namespace millrace {

struct FusedTrajectory {
  std::vector<char> answers;  // to the offered merges, 1 accepted
  FusionGroups groups;        // by first op in topological order
  Trajectory placing;         // of these groups; its log P_F and log P_B are those of this phase alone
  double log_fusing = 0;      // log P_F of the answers

  double log_forward() const { return log_fusing + placing.log_forward; }
  double log_backward() const { return placing.log_backward; }  // P_B of the answers is 1: the groups tell them
  Plan plan() const { return {groups, placing.assignment.placement, placing.assignment.sequence}; }
};

// Samples for one graph, machine and reward temperature. Remembers contracted graphs from one call to the next.
class FusedSampler {
 public:
  // The model must outlive it; its graph has at least one op. Throws InvalidInput unless the reward temperature is > 0.
  // The policy that places groups is prepared for PlacingTemperature.
  FusedSampler(const CostModel& model, std::shared_ptr<const FusionPolicy> fusing,
               std::shared_ptr<const Policy> placing, double temperature);

  // Draws `count` plans, the same at any number of threads. options.recorded_share is ignored.
  //
  // The answers of plan i come from random.Fork(options.first + i), with the softmax temperature and epsilon of
  // placing. Plans of equal groups draw their placements from one stream, that of the first of them. So the first plans
  // of a call do not depend on `count`.
  std::vector<FusedTrajectory> Sample(int count, const SamplerOptions& options, const Random& random);

  // Draws one of the ways to build a given valid plan backwards, with its probabilities. Empty if no answers lead to
  // its groups.
  std::optional<FusedTrajectory> DrawBackwards(const Plan& plan, const Random& random);

  // The size-scaled reward, where n and the reference are those of the graph with every op single.
  double LogReward(const FusedTrajectory& trajectory) const {
    return millrace::LogReward(scale_, trajectory.placing.makespan, temperature_);
  }

  const RewardScale& scale() const { return scale_; }
  const FusionProblem& problem() const { return problem_; }
  FusedEnvironments& environments() { return environments_; }

  double temperature() const { return temperature_; }

  // The temperature at which the reward by the contracted graph's own scale is as sharp as LogReward, and the placing
  // policy prepared for it. The environment must outlive the returned policy.
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

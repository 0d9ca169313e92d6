// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "millrace/train/gflownet/batch.h"
#include "millrace/train/gflownet/learner.h"
#include "millrace/train/gflownet/objective.h"
#include "millrace/train/torch/team.h"

// One update of a learner: gradient steps on the mean loss over several batches, of all ranks of a team.
namespace millrace {

// Batches that go through the network together: those of one problem.
using UpdatePart = std::vector<TrajectoryBatch>;

struct UpdateResult {
  double loss = 0;                           // mean over the batches that were sampled, in the last step
  double gradient_norm = 0;                  // of the last step, before it was cut
  double demonstration_log_probability = 0;  // mean per recorded step of demonstrations; 0 without
};

// Descends the mean of the objective over sampled batches, plus `demonstration_weight` times the mean over
// demonstrations of the negative log probability per step. As many gradient steps as the objective has passes.
// `progress` of the training is 0..1. Throws WorkFailed for a loss or gradient that is not finite.
//
// Of the parts, those that this rank does not own may be empty. The learner is of the same team. The result is the same
// on all of its ranks, and however many they are.
UpdateResult UpdateLearner(std::span<const UpdatePart> parts, const Objective& objective, double demonstration_weight,
                           double learning_rate, double progress, const Team& team, GFlowNetLearner& learner);

// The same of one part by a learner alone.
UpdateResult UpdateLearner(const UpdatePart& batches, const Objective& objective, double demonstration_weight,
                           double learning_rate, double progress, GFlowNetLearner& learner);

}  // namespace millrace

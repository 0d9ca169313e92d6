// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "millrace/random/random.h"
#include "millrace/rollout/fused_sampler.h"
#include "millrace/train/fusion_learner.h"
#include "millrace/train/lesson.h"

// lesson.h for whole plans, fusion included: what fuses and what places learn together, since log Z is one number for
// all ways to fuse.
namespace millrace {

// Plans of one graph at one reward temperature.
struct FusedLesson {
  MergeSteps merges;
  // The plans with equal groups have one problem of placing them.
  std::vector<Lesson> placings;
  std::vector<std::vector<std::size_t>> members;  // by placing: which plans, in its order of trajectories
  std::vector<double> zeta;                       // by plan: log R + log P_B - log P_F of both phases
  int ops = 0;                                    // of the graph
};

// settings.trajectories plans of the sampler, with settings.epsilon in both phases. The sampler's placing policy is the
// one that `placing` below learns.
FusedLesson DrawFusedLesson(FusedSampler& sampler, const LessonSettings& settings, const Random& random);

struct FusedRates {
  double fusing = 0;  // the small network needs larger steps
  double placing = 0;
};

// Descends log-partition variance (objective.h) by both networks, the mean over the lessons; returns that mean. Weight
// limit as in ObjectiveSettings. Throws WorkFailed for a loss or gradient that is not finite.
double TeachFused(const std::vector<FusedLesson>& lessons, double weight_limit, const FusedRates& rates,
                  FusionLearner& fusing, Learner& placing);

}  // namespace millrace

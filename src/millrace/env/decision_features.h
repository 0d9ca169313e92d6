// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/env/decisions.h"
#include "millrace/env/one_shot_problem.h"

// What a one-shot policy is told of decisions: those of the iteration before, y[t-1], when it decides y[t]; and those
// of y[t] already made, when it decides the next task of it. All that there is of a timeline in them is that of the
// decisions themselves, every op single, queued by their priority.
namespace millrace {

inline constexpr int kDecisionFeatures = 8;
inline constexpr int kPlaceFeatures = 16;
inline constexpr int kPlacePriors = 4;
inline constexpr int kLevelFeatures = 8;
inline constexpr int kLevelPriors = 2;

// rows x kDecisionFeatures into `features`: 0 placed; 1 where its device stands among all; 2 share of its neighbours'
// bytes that stay on the device; 3 the device's share of the work against an even one; 4, 5 has it a priority, and
// which, in 0..1; 6, 7 the same of the fusion level. 0 where a task is not decided.
void DescribeDecisions(const OneShotProblem& problem, const Decisions& decisions, std::vector<float>& features);

// What is told of y[t-1], which may have all tasks, some, or none (t = 0). "Before": 0 where y[t-1] has no placement.
//
// Places, of a row on a device: 0 seconds against the row's mean; 1 distance along the devices from the row's work
// before it, signed, and 2 its size; 3 the same from its progress, and 4 its size; 5 is there a placement before; 6 is
// it this; 7 the device's share of the work against an even one; 8, 9 share of bytes of inputs and outputs that are
// there; 10 earliest finish there and 11 arrival of the inputs there, above the best; 12 is the finish the best; 13 how
// full its memory is with weights and outputs; 14 when it is done with everything, against the makespan; 15 is the
// maker of the largest input there.
// Priors of places: 0 minus the distance from progress, in devices; 1 minus earliest finish above the best, squashed,
// 0 before; 2 minus one where another device was chosen before; 3 share of neighbours' bytes there less one, 0 before.
//
// Levels, of a row: 0 is there a placement before; 1, 2 priority and fusion level before, in 0..1; 3 time from
// readiness to start; 4 how late it runs: 1 - (start + upward rank) / makespan; 5 start against the makespan; 6 its
// device's share of the work against an even one; 7 share of its neighbours' bytes on the device.
// Priors of level v are minus the distances |v - centre|, for two centres: one by the graph (upward rank among all ops;
// bytes that merging saves among all such ops, in the upper half), and the level chosen before, which is -1, with a
// prior of 0 for all, where there is none.
struct DecisionObservation {
  std::vector<float> decisions;         // rows x kDecisionFeatures
  std::vector<float> places;            // rows x devices x kPlaceFeatures
  std::vector<float> place_priors;      // rows x devices x kPlacePriors; 0 where it cannot run
  std::vector<float> levels;            // rows x kLevelFeatures
  std::vector<float> priority_centres;  // rows x kLevelPriors
  std::vector<float> fusion_centres;    // rows x kLevelPriors
};

// Storage of `observation` is used again.
void ObserveDecisions(const OneShotProblem& problem, const Decisions& before, DecisionObservation& observation);

}  // namespace millrace

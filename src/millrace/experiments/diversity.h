// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/planning/best_of.h"

// How different the plans of a set are from each other.
namespace millrace {

// Means over all pairs (plan/distance.h); all NaN for fewer than two plans. Start times are in units of the mean
// seconds of a group, and a group on another device counts as one such unit in start_and_placement.
struct Diversity {
  double edit = 0;                 // GED, 0..1
  double start = 0;                // d_inv
  double start_and_placement = 0;  // d_sen
};

Diversity DiversityOf(const CostedGraph& costed, const std::vector<RatedAssignment>& plans);

// Mean over groups of their mean seconds over the devices that can run them; 1 where all are 0.
double MeanGroupSeconds(const CostedGraph& costed);

}  // namespace millrace

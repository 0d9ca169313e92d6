// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/cost/costed_graph.h"

// How long the units of a machine need for all groups together, where devices are unlike. Seconds.
//
// Let every unit have a weight, all weights together 1. A group on a device costs its seconds x the weights of the
// device's units; no plan is shorter than the sum of what every group costs at least. With equal weights this is the
// second term of LowerBound; the best weights give the bound of the linear program that may split groups among devices.
namespace millrace {

struct WorkBound {
  double seconds = 0;                // no plan takes less, under either timeline
  std::vector<double> unit_weights;  // the weights behind it
};

// Looks for the best weights by multiplicative updates: deterministic, and true wherever it stops. Equal weights where
// others are not better.
WorkBound MakeWorkBound(const CostedGraph& costed);

// By group x device: seconds x the weights of the device's units; infinity where the group cannot run there.
std::vector<double> WeightedWork(const CostedGraph& costed, const std::vector<double>& unit_weights);

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/engines/llama/layer_split.h"

// The best splits there are: every set and order of hosts, every way to cut the parts, memory limits kept. Exact, by
// dynamic programming over how many parts a set of hosts has taken. A hand-over costs its stage the same whoever comes
// before, so the set is all that matters of the past; and of a pipelined prompt, whose time is a sum and a maximum, all
// pairs are kept that no other beats in both.
namespace millrace {

struct PlannedSplit {
  LayerSplit split;
  SplitTimes times;
};

// For each set of hosts the best split that uses just these, the fastest request first; none where nothing fits.
// Throws InvalidInput for more than kMostSplitHosts hosts.
std::vector<PlannedSplit> BestSplits(const SplitProblem& problem);

// The splits one step away: one part moved across a boundary, or two hosts that follow one another exchanged with
// their counts of parts. Only those that fit.
std::vector<LayerSplit> NeighboursOf(const SplitProblem& problem, const LayerSplit& split);

// Each host's share of the parts as its share of `weights`, hosts in the given order, rounded as llama.cpp rounds.
LayerSplit ProportionalSplit(const SplitProblem& problem, const std::vector<double>& weights);

}  // namespace millrace

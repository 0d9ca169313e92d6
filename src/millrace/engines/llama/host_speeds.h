// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/engines/llama/layer_split.h"

// How fast hosts are, from times of whole splits: each host is measured alone where the model fits there, and else with
// as much of it as fits, the others taking the rest. Seconds.
namespace millrace {

// The splits to measure, one for each host, in the order of the hosts; none for a host where not even one part fits.
// Speeds in the problem do not matter. Equal splits are given once.
std::vector<LayerSplit> SpeedProbes(const SplitProblem& problem);

struct MeasuredSplit {
  LayerSplit split;
  double token_seconds = 0;        // 0: not measured
  double micro_batch_seconds = 0;  // of a prompt of one micro-batch, which no pipeline speeds up; 0: not measured
};

// Sets seconds_per_byte and seconds_per_flop of every host so that the measured times come out as nearly as they can,
// none of them negative: what is left of a time after its hand-overs is a sum over hosts of work times speed. Image
// space reconstruction (Daube-Witherspoon and Muehllehner, 1986), from equal speeds: hosts that no time tells apart
// stay equal.
void FitSpeeds(const std::vector<MeasuredSplit>& measured, SplitProblem& problem);

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "millrace/env/one_shot_problem.h"

// What a one-shot policy's encoder is shown of a problem before any decision: numbers per op, edge and device and for
// the whole. Squashed (squash.h) where they have no bound; times are relative to OneShotProblem::scale().
namespace millrace {

inline constexpr int kOneShotOpFeatures = 24;
inline constexpr int kOneShotDeviceFeatures = 12;
inline constexpr int kOneShotGlobalFeatures = 8;

// Row-major, rows as OneShotProblem counts them.
//
// Ops: 0 mean seconds; 1 their logarithm; 2 fastest and 3 slowest against the mean; 4 upward rank, 5 downward rank and
// 6 what is left, against the critical path; 7 work before it; 8 progress; 9 is its layer stated; 10 depth against the
// deepest; 11, 12 mean transfer of all its inputs and outputs; 13, 14 of the largest; 15, 16 number of predecessors and
// successors; 17 anchor; 18 elementwise; 19 may be merged with a producer; 20 is tied to others; 21 how many; 22
// weights and 23 outputs against the least memory.
//
// Devices: 0 where it stands among all, (i + 0.5) / devices, the only thing that tells equal ones apart; 1, 2 sine and
// cosine of a turn by that; 3 seconds against the mean; 4 share of ops it can run; 5 share it is fastest at; 6 share of
// units; 7, 8 a mean transfer out and in; 9 latency; 10 share of other devices it reaches for free; 11 all weights
// against its memory.
//
// Whole: 0 ops and 1 devices, log; 2 a mean transfer; 3 work against the critical path, log, and 4 the same per
// device; 5 fastest against mean seconds; 6 edges per op; 7 all weights against all memory.
struct OneShotFeatures {
  int num_rows = 0;
  int num_devices = 0;
  std::vector<float> ops;      // rows x kOneShotOpFeatures
  std::vector<float> devices;  // devices x kOneShotDeviceFeatures
  std::array<float, kOneShotGlobalFeatures> global{};

  // Edges as CSR over rows, both ways, each with a feature: its mean transfer.
  std::vector<std::int32_t> predecessor_offsets, predecessors;
  std::vector<float> predecessor_features;
  std::vector<std::int32_t> successor_offsets, successors;
  std::vector<float> successor_features;
};

OneShotFeatures MakeOneShotFeatures(const OneShotProblem& problem);

// Where a device stands among all.
inline double DeviceFraction(int device, int devices) { return (device + 0.5) / devices; }

}  // namespace millrace

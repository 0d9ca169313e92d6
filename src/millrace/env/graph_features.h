// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "millrace/env/environment.h"

// What an encoder is shown of a problem before any step: numbers per group, per edge, per device and for the whole.
namespace millrace {

inline constexpr int kNodeFeatures = 16;
inline constexpr int kDeviceFeatures = 8;
inline constexpr int kGlobalFeatures = 8;

// Row-major. Edges are CSR both ways over groups: `predecessors` of group g at [predecessor_offsets[g] ..), each with a
// feature (mean transfer seconds / scale, squashed), and the same for successors.
struct GraphFeatures {
  int num_groups = 0;
  int num_devices = 0;
  std::vector<float> nodes;    // groups x kNodeFeatures
  std::vector<float> devices;  // devices x kDeviceFeatures
  std::array<float, kGlobalFeatures> global{};
  std::vector<std::int32_t> predecessor_offsets, predecessors;
  std::vector<float> predecessor_features;
  std::vector<std::int32_t> successor_offsets, successors;
  std::vector<float> successor_features;
};

GraphFeatures MakeGraphFeatures(const Environment& environment);

}  // namespace millrace

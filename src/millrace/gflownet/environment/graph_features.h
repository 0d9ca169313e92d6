// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "millrace/gflownet/environment/environment.h"
#include "millrace/network/feature_row.h"

// What an encoder is shown of a problem before any step: numbers per group, per edge, per device and for the whole.
// Times are in units of Environment::scale and squashed (network/squash.h); what has no bound is squashed, too. A mean
// transfer is that of Environment::mean_transfer; the critical path is the largest upward rank.
namespace millrace {

inline constexpr int kNodeFeatures = 16;
inline constexpr int kDeviceFeatures = 8;
inline constexpr int kGlobalFeatures = 8;

// A group. Mean, fastest and slowest seconds are over the devices that can run it.
enum class NodeFeature : std::size_t {
  kMeanSeconds,     // mean seconds
  kFastest,         // fastest / mean seconds
  kSlowest,         // slowest / mean seconds, - 1
  kUpwardRank,      // upward rank / critical path
  kDownwardRank,    // downward rank / critical path
  kSlack,           // the share of the critical path that neither rank takes
  kRankSeconds,     // upward rank as a time, squashed, / 4
  kInputs,          // mean transfers of all its inputs together
  kOutputs,         // mean transfers of all its outputs together
  kLargestInput,    // the longest mean transfer of an input
  kLargestOutput,   // the longest mean transfer of an output
  kNumInputs,       // number of predecessors
  kNumOutputs,      // number of successors
  kDeviceShare,     // share of the devices that can run it
  kTransfersAhead,  // path behind it less its optimistic cost in the mean, / critical path: what placement can save
  kDepth,           // edges of the longest path to it / the most of any group
  kCount
};

// A device. Transfers are of the graph's mean edge, in the mean over the other devices.
enum class DeviceFeature : std::size_t {
  kSeconds,       // seconds / mean seconds of the groups it can run, in the mean, - 1
  kRunnable,      // share of the groups that it can run
  kFastest,       // share of the groups that no device runs faster
  kUnits,         // share of the machine's units that it has
  kTransferOut,   // a transfer to another device
  kTransferIn,    // a transfer from another device
  kLatency,       // a transfer of no bytes to another device
  kFreeTransfer,  // share of the other devices it reaches for free; 1 without any
  kCount
};

// Graph and machine as a whole.
enum class GlobalFeature : std::size_t {
  kGroups,       // log(number of groups) / 5
  kDevices,      // log(number of devices) / 2
  kTransfer,     // the mean transfer of an edge, in the mean
  kParallelism,  // log(1 + sum of mean seconds / critical path) / 3
  kCrowding,     // sum of mean seconds per device / critical path
  kFastest,      // fastest / mean seconds of a group, in the mean: 1 where devices are alike
  kEdges,        // edges per group
  kUnits,        // units per device
  kCount
};

static_assert(kCountOf<NodeFeature> == kNodeFeatures);
static_assert(kCountOf<DeviceFeature> == kDeviceFeatures);
static_assert(kCountOf<GlobalFeature> == kGlobalFeatures);

// Tables as in network/feature_row.h. Edges are CSR both ways over groups: `predecessors` of group g are at
// [predecessor_offsets[g], predecessor_offsets[g + 1]), each with one feature, its mean transfer; successors likewise.
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "millrace/go/problem.h"
#include "millrace/network/feature_row.h"

// What GO's encoder is shown of a problem before any decision: numbers per op, edge and device and for the whole. Times
// are in units of GoProblem::scale(). What has no bound is squashed (network/squash.h). A mean transfer is that of
// GoProblem::mean_transfer().
namespace millrace {

inline constexpr int kGoOpFeatures = 24;
inline constexpr int kGoDeviceFeatures = 12;
inline constexpr int kGoGlobalFeatures = 8;

// An op. Mean and slowest seconds are over the devices that can run it.
enum class GoOpFeature : std::size_t {
  kMeanSeconds,     // mean seconds
  kLogMeanSeconds,  // log(mean seconds / scale + 1e-4)
  kFastest,         // seconds on its fastest device, colocation aside, / mean seconds
  kSlowest,         // slowest / mean seconds, - 1
  kUpwardRank,      // upward rank / critical path
  kDownwardRank,    // downward rank / critical path
  kSlack,           // the share of the critical path that neither rank takes
  kWorkBefore,      // GoProblem::work_before()
  kProgress,        // GoProblem::progress()
  kHasLayer,        // 1 where the graph states its layer
  kDepth,           // edges of the longest path to it / the most of any op
  kInputs,          // mean transfers of all its inputs together
  kOutputs,         // mean transfers of all its outputs together
  kLargestInput,    // the longest mean transfer of an input
  kLargestOutput,   // the longest mean transfer of an output
  kNumInputs,       // number of predecessors
  kNumOutputs,      // number of successors
  kIsAnchor,        // 1 where it is an anchor (plan/fusion_table.h)
  kIsElementwise,   // 1 where it is elementwise (plan/fusion_table.h)
  kIsFusible,       // 1 where it may be merged with a producer: GoProblem::fusible()
  kIsColocated,     // 1 where it must share a device with other ops
  kColocated,       // log(number of ops of its colocation)
  kWeightBytes,     // bytes of its weights / the least memory
  kOutputBytes,     // bytes of its outputs / the least memory
  kCount
};

// A device. Transfers are of the graph's mean edge, in the mean over the other devices.
enum class GoDeviceFeature : std::size_t {
  kFraction,      // DeviceFraction: the only thing, with the next two, that tells equal devices apart
  kSine,          // sine of a turn by that fraction
  kCosine,        // cosine of a turn by that fraction
  kSeconds,       // seconds / mean seconds of the ops it can run, in the mean, - 1
  kRunnable,      // share of the ops that it can run
  kFastest,       // share of the ops that no device runs faster
  kUnits,         // share of the machine's units that it has
  kTransferOut,   // a transfer to another device
  kTransferIn,    // a transfer from another device
  kLatency,       // a transfer of no bytes to another device
  kFreeTransfer,  // share of the other devices it reaches for free; 1 without any
  kAllWeights,    // bytes of all weights / its memory
  kCount
};

// Graph and machine as a whole.
enum class GoGlobalFeature : std::size_t {
  kOps,          // log(number of ops) / 5
  kDevices,      // log(number of devices) / 2
  kTransfer,     // the mean transfer of an edge, in the mean
  kParallelism,  // log(1 + sum of mean seconds / critical path) / 3
  kCrowding,     // sum of mean seconds per device / critical path
  kFastest,      // fastest / mean seconds of an op, in the mean: 1 where devices are alike
  kEdges,        // edges per op
  kAllWeights,   // bytes of all weights / all memories together
  kCount
};

static_assert(kCountOf<GoOpFeature> == kGoOpFeatures);
static_assert(kCountOf<GoDeviceFeature> == kGoDeviceFeatures);
static_assert(kCountOf<GoGlobalFeature> == kGoGlobalFeatures);

// Tables as in network/feature_row.h, rows as GoProblem counts them.
struct GoFeatures {
  int num_rows = 0;
  int num_devices = 0;
  std::vector<float> ops;      // rows x kGoOpFeatures
  std::vector<float> devices;  // devices x kGoDeviceFeatures
  std::array<float, kGoGlobalFeatures> global{};

  // Edges are CSR both ways over rows, each with one feature: its mean transfer.
  std::vector<std::int32_t> predecessor_offsets, predecessors;
  std::vector<float> predecessor_features;
  std::vector<std::int32_t> successor_offsets, successors;
  std::vector<float> successor_features;
};

GoFeatures MakeGoFeatures(const GoProblem& problem);

// Where a device stands among all, in 0..1.
inline double DeviceFraction(int device, int devices) { return (device + 0.5) / devices; }

}  // namespace millrace

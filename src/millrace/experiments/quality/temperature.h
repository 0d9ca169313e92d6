// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "millrace/experiments/table.h"
#include "millrace/gflownet/policy/policy.h"

// What the reward temperature and the softmax temperature do to a sampler's plans: how good the best and the usual one
// are, and how different they are from each other. The figure of "Robust Scheduling with GFlowNets" (Zhang et al.,
// 2023).
namespace millrace {

struct TemperatureOptions {
  std::vector<double> reward = {0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1, 2};
  std::vector<double> softmax = {0.5, 1, 2};
  int samples = 100;  // per graph and pair of temperatures
  int graphs = 10;    // of each setting
  std::uint64_t seed = 0;
  int threads = 1;  // graphs at once
};

// Three settings of layered graphs: 50 ops, 4 devices, free transfers, as in the paper; 60 ops, 4 devices, CCR 1; the
// same at CCR 5. For each a table: by reward and softmax temperature HEFT's makespan / that of the best sample, / mean
// makespan of the samples; share of the graphs where the best beats HEFT; GED; share of different plans; best and mean
// of the untrained policy's samples. Means over graphs. Seeds from kQualitySeed + 30'000.
std::vector<Table> TemperatureTables(const Policy& policy, const Policy& untrained, const TemperatureOptions& options,
                                     const std::function<void(int, int)>& progress);

}  // namespace millrace

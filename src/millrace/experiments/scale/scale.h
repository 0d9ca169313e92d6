// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "millrace/experiments/scale/stage_cost.h"
#include "millrace/experiments/table.h"
#include "millrace/planning/registry.h"

// Seconds and memory of each stage of planning as graphs grow: reading a file, pricing, planners, simulation, and the
// whole of optimize. Random graphs (er) on eight equal devices with links of 1e-6 s and 1e9 bytes/s, CCR 1.
namespace millrace {

struct ScaleOptions {
  std::vector<int> sizes = {1'000, 10'000, 80'000};
  std::vector<double> degrees = {2, 40};  // edges per op
  std::vector<std::string> stages = {};   // empty: all of ScaleStageNames
  double optimize_seconds = 50;           // its time limit
  double most_seconds = 300;              // a stage that takes longer is left out, on larger graphs, too
  std::uint64_t seed = 0;
};

// generate, read, price, heft, list, simulate, verify, gflownet, optimize.
std::vector<std::string> ScaleStageNames();

struct ScalePoint {
  std::string stage;
  double degree = 0;
  int ops = 0;
  std::optional<StageCost> cost;  // nothing where it did not end in time
};

// Stages run one after the other, each in a process of its own. The graphs' files come and go in `folder`. `progress`
// is told (done, total). Throws InvalidInput for an unknown stage, and for sizes and degrees that no graph has.
std::vector<ScalePoint> RunScale(const ScaleOptions& options, const PlannerRegistry& planners,
                                 const std::string& folder, const std::function<void(int, int)>& progress);

// "seconds", "processor" and "memory": a row per stage and degree, a column per size, then the exponent of growth.
std::vector<Table> ScaleTables(const std::vector<ScalePoint>& points);

}  // namespace millrace

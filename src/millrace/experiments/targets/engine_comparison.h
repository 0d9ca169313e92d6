// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/experiments/table.h"
#include "millrace/formats/load.h"
#include "millrace/machine/machine.h"
#include "millrace/planning/registry.h"
#include "millrace/target/measurement.h"

// What engines that run here take for a model: by themselves, in every mode they have, and under plans. Plans are made
// for each engine; then all that was made runs in turn, engine beside engine, so that what slows the host down slows
// all of them. Seconds.
namespace millrace {

struct EngineComparisonOptions {
  std::vector<std::string> engines = {"ort", "cpu"};  // target/target.h, those that run models here
  std::optional<double> planning_seconds;             // each; empty: as optimize --quick
  double seconds = 20;                                // of running everything in turn
  int most_rounds = 200;
  std::uint64_t seed = 0;
  std::string profile_cache;  // file; empty: none
};

// One way of running the model.
struct EngineRun {
  std::string engine;
  std::string way;     // "sequential", "all-cores", "heft", "best", or a mode of the engine: "ort-parallel"
  std::string method;  // that made the best plan; empty for others
  Measurement measured;
};

struct EngineComparison {
  std::string model;
  std::vector<EngineRun> runs;  // engine by engine
  bool disturbed = false;
  std::size_t processors = 1;
};

// `progress` is told what is being done. Throws InvalidInput where an engine cannot run the model, or is not there.
EngineComparison CompareEngines(const std::string& name, const LoadedGraph& loaded, const Machine& machine,
                                const PlannerRegistry& planners, const EngineComparisonOptions& options,
                                const std::function<void(std::string_view)>& progress);

// "engines": milliseconds of every way, and for each engine the first engine's best way without a plan over its best
// plan, and over an even split: what the engine takes on one core, by the number of processors, which no plan that
// gives each op to one core gets below. "means": the geometric means of both over models.
std::vector<Table> EngineTables(const std::vector<EngineComparison>& comparisons);

}  // namespace millrace

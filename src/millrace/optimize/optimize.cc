// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/optimize.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "millrace/errors/errors.h"
#include "millrace/optimize/pipeline.h"

namespace millrace {
namespace {

struct StageEntry {
  const char* name;  // empty: never left out
  const char* meaning;
  void (Pipeline::*run)();
};

constexpr std::array kStages = {
    StageEntry{"profile", "time every distinct op and fused group of the model", &Pipeline::Profile},
    StageEntry{"finetune", "fit the learned planners to the graph", &Pipeline::Adapt},
    StageEntry{"", "ask every planner for plans", &Pipeline::Propose},
    StageEntry{"shared-links", "search placements with shared links in mind", &Pipeline::ProposeForSharedLinks},
    StageEntry{"search-on", "where the proxy is the target, search on from the fastest plan", &Pipeline::SearchOn},
    StageEntry{"", "choose plans that are good and different", &Pipeline::Choose},
    StageEntry{"dearer-transfers", "plan for dearer transfers than the machine states",
               &Pipeline::ProposeForDearerTransfers},
    StageEntry{"", "measure them, poor ones less often", &Pipeline::Race},
    StageEntry{"calibrate", "correct the proxy by the first times, and plan again", &Pipeline::Calibrate},
    StageEntry{"obvious", "where a run costs nothing, measure the best plan of every method and placements by hand",
               &Pipeline::MeasureObvious},
    StageEntry{"", "trade latency for what the objective is about", &Pipeline::Trade},
    StageEntry{"", "choose the best", &Pipeline::ChooseBest},
    StageEntry{"compare", "measure the best plan and the baselines again, interleaved", &Pipeline::Compare},
};

}  // namespace

std::vector<OptimizeStage> OptimizeStages() {
  std::vector<OptimizeStage> stages;
  stages.reserve(kStages.size());
  for (const StageEntry& stage : kStages) stages.push_back({stage.name, stage.meaning});
  return stages;
}

OptimizeResult Optimize(const LoadedGraph& loaded, const Machine& machine, const PlannerRegistry& planners,
                        const OptimizeOptions& options, const OptimizeProgress& progress) {
  for (const std::string& name : options.without) {
    const auto named = [&name](const StageEntry& stage) { return *stage.name != 0 && stage.name == name; };
    if (std::any_of(kStages.begin(), kStages.end(), named)) continue;
    std::string names;
    for (const StageEntry& stage : kStages) {
      if (*stage.name == 0) continue;
      if (!names.empty()) names += ", ";
      names += stage.name;
    }
    throw InvalidInput(fmt::format("there is no stage '{}' to leave out; there are: {}", name, names));
  }
  Pipeline pipeline(loaded, machine, planners, options, progress);
  for (const StageEntry& stage : kStages) {
    if (std::find(options.without.begin(), options.without.end(), stage.name) == options.without.end())
      (pipeline.*stage.run)();
  }
  return pipeline.Finish();
}

}  // namespace millrace

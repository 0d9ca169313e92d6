// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/target_methods.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/heuristics/chained_source.h"
#include "millrace/optimize/polished_source.h"
#include "millrace/optimize/sources.h"
#include "millrace/search/anneal.h"

namespace millrace {
namespace {

// Of the plans that go to a target, those of the pipeline are at least this far apart while there are enough.
constexpr double kLeastDistance = 0.05;

using Source = std::shared_ptr<const CandidateSource>;

Source MakePipeline(const SamplerSettings& settings, const TargetMethodOptions& options) {
  SamplerSettings diverse = settings;
  diverse.temperatures = settings.pipeline_temperatures;
  PolishedSourceOptions polished;
  polished.samples = options.samples;
  polished.starts = static_cast<int>(options.top_k / 4);
  polished.polish.first_temperature = settings.polish_temperature;
  polished.most_rounds = 0;  // many good plans are wanted here, not one
  return MakeChainedSource("pipeline",
                           {MakeAllHeuristics(), MakePolishedSource(MakeGFlowNetSource(diverse), polished)});
}

Source MakeManyChains(const TargetMethodOptions& options) {
  AnnealOptions anneal;
  anneal.chains = static_cast<int>(options.top_k);
  return MakeAnnealing(anneal);
}

TargetMethod MakeMethod(const std::string& name, const SamplerSettings& settings, const TargetMethodOptions& options) {
  TargetMethod made;
  Method& method = made.method;
  method.name = name;
  method.keep = options.top_k;
  method.budget.samples = options.samples;
  if (name == "heft" || name == "heft-informed") {
    method.source = MakeHeftReference();
  } else if (name == "etf-informed") {
    method.source = MakeSource("etf");
  } else if (name == "randomised-list-100" || name == "randomised-list-doubt") {
    method.source = MakeSource("randomised-list");
  } else if (name == "anneal") {
    method.source = MakeManyChains(options);
    method.budget.iterations = options.search_iterations;
  } else if (name == "ppo") {
    method.source = MakePpoSource(settings);
  } else if (name == "gflownet") {
    method.source = MakeGFlowNetSource(settings);
  } else if (name == "pipeline" || name == "pipeline-doubt") {
    method.source = MakePipeline(settings, options);
    method.budget.iterations = options.search_iterations;
    method.least_distance = kLeastDistance;
    made.contender = true;
  } else if (name == "optimize") {
    made.knowledge = Knowledge::kMeasurements;
    made.optimize.samples = options.samples;
    made.optimize.iterations = options.search_iterations;
    made.optimize.sources.weights = settings.weights;
    made.optimize.sources.temperatures = settings.temperatures;
    made.contender = true;
  } else {
    method.source = MakeSource(name);
  }
  if (name == "randomised-list-100" || name == "brkga")
    method.budget.samples = static_cast<std::int64_t>(options.top_k);
  if (name.ends_with("-informed")) made.knowledge = Knowledge::kTargetModel;
  if (name.ends_with("-doubt")) made.knowledge = Knowledge::kDoubt;
  return made;
}

}  // namespace

std::vector<std::string> TargetMethodNames() {
  return {"list",    "heft",   "etf", "heft-informed", "etf-informed", "randomised-list-100",   "randomised-list",
          "brkga",   "anneal", "ppo", "gflownet",      "pipeline",     "randomised-list-doubt", "pipeline-doubt",
          "optimize"};
}

std::vector<TargetMethod> MakeTargetMethods(const std::vector<std::string>& names, const SamplerSettings& settings,
                                            const TargetMethodOptions& options) {
  const std::vector<std::string> known = TargetMethodNames();
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InvalidInput(
          fmt::format("there is no method '{}' in this experiment; there are: {}", name, fmt::join(known, ", ")));
    if (name == "ppo" && settings.ppo_weights.empty())
      throw InvalidInput("method ppo needs weights trained by PPO; name them with --ppo-weights");
  }
  std::vector<TargetMethod> methods;
  for (const std::string& name : known) {
    const bool named = std::find(names.begin(), names.end(), name) != names.end();
    const bool usable = name != "ppo" || !settings.ppo_weights.empty();
    if (named || (names.empty() && usable)) methods.push_back(MakeMethod(name, settings, options));
  }
  return methods;
}

}  // namespace millrace

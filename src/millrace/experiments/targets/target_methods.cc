// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/targets/target_methods.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/heuristics/heuristics.h"

namespace millrace {
namespace {

// What a planner may spend in these experiments.
enum class Spends { kNothing, kSamples, kKept, kSeconds };

struct TargetEntry {
  const char* name;
  const char* planner;
  Spends spends;
  Knowledge knowledge = Knowledge::kProxy;
};

constexpr TargetEntry kEntries[] = {
    {"list", "list", Spends::kNothing},
    {"heft", "heft", Spends::kNothing},
    {"etf", "etf", Spends::kNothing},
    {"heft-informed", "heft", Spends::kNothing, Knowledge::kTargetModel},
    {"etf-informed", "etf", Spends::kNothing, Knowledge::kTargetModel},
    {"randomised-list-100", "randomised-list", Spends::kKept},
    {"randomised-list", "randomised-list", Spends::kSamples},
    {"brkga", "brkga", Spends::kSeconds},
    {"anneal", "anneal", Spends::kSeconds},
    {"anneal-100-chains", "anneal", Spends::kSeconds},
    {"ppo", "gflownet", Spends::kSamples},
    {"gflownet", "gflownet", Spends::kSamples},
    {"gflownet-untrained", "gflownet-untrained", Spends::kSamples},
    {"gflownet+search", "gflownet+search", Spends::kSeconds},
    {"gflownet-untrained+search", "gflownet-untrained+search", Spends::kSeconds},
    {"optimize", "", Spends::kSeconds, Knowledge::kMeasurements},
    {"optimize-untrained", "", Spends::kSeconds, Knowledge::kMeasurements},
    {"optimize-by-proxy", "", Spends::kSeconds, Knowledge::kMeasurements},
};

std::shared_ptr<const Planner> PlannerFor(const TargetEntry& entry, const TargetPlanners& planners,
                                          const TargetMethodOptions& options) {
  const std::string name = entry.name;
  if (name == "heft" || name == "heft-informed") return MakeHeftReference();
  if (name == "ppo") return planners.ppo->Make(entry.planner);
  PlannerSettings settings;
  if (name == "anneal-100-chains") settings.Set("chains", {static_cast<double>(options.top_k)});
  return planners.usual->Make(entry.planner, settings);
}

TargetMethod MakeOptimizer(const std::string& name, const TargetPlanners& planners,
                           const TargetMethodOptions& options) {
  TargetMethod made;
  made.planners = planners.usual;
  made.optimize.time_limit = made.method.budget.seconds = options.search_seconds;
  made.contender = true;
  if (name == "optimize-untrained") made.optimize.methods = UntrainedPoolNames(*planners.usual);
  if (name == "optimize-by-proxy") made.optimize.without = {"shared-links", "dearer-transfers", "calibrate"};
  return made;
}

TargetMethod MakeTargetMethod(const TargetEntry& entry, const TargetPlanners& planners,
                              const TargetMethodOptions& options) {
  TargetMethod made;
  if (entry.knowledge == Knowledge::kMeasurements) {
    made = MakeOptimizer(entry.name, planners, options);
  } else {
    made.method.planner = PlannerFor(entry, planners, options);
    Budget& budget = made.method.budget;
    if (entry.spends == Spends::kSamples) budget.samples = options.samples;
    if (entry.spends == Spends::kKept) budget.samples = static_cast<std::int64_t>(options.top_k);
    if (entry.spends == Spends::kSeconds) budget.seconds = options.search_seconds;
  }
  made.method.name = entry.name;
  made.method.keep = options.top_k;
  made.knowledge = entry.knowledge;
  return made;
}

}  // namespace

std::vector<std::string> TargetMethodNames() {
  std::vector<std::string> names;
  for (const TargetEntry& entry : kEntries) names.emplace_back(entry.name);
  return names;
}

std::vector<TargetMethod> MakeTargetMethods(const std::vector<std::string>& names, const TargetPlanners& planners,
                                            const TargetMethodOptions& options) {
  const std::vector<std::string> known = TargetMethodNames();
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InvalidInput(
          fmt::format("there is no method '{}' in this experiment; there are: {}", name, fmt::join(known, ", ")));
    if (name == "ppo" && planners.ppo == nullptr)
      throw InvalidInput("method ppo needs weights trained by PPO; name them with --ppo-weights");
  }
  std::vector<TargetMethod> methods;
  for (const TargetEntry& entry : kEntries) {
    const bool named = std::find(names.begin(), names.end(), entry.name) != names.end();
    const bool usable = std::string(entry.name) != "ppo" || planners.ppo != nullptr;
    if (named || (names.empty() && usable)) methods.push_back(MakeTargetMethod(entry, planners, options));
  }
  return methods;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/quality_methods.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/heuristics/heuristics.h"

namespace millrace {
namespace {

constexpr std::int64_t kDraws = 64;

struct Entry {
  std::string name;
  std::string planner;
  Budget budget = {};
  std::vector<std::string> rivals = {};
  QualityScope scope = QualityScope::kAll;
};

Budget Plans(std::int64_t samples) { return {.samples = samples, .iterations = std::nullopt, .seconds = std::nullopt}; }

// As many as there is time for.
Budget PlansWithin(double seconds) {
  constexpr std::int64_t kMany = 1'000'000;
  return {.samples = kMany, .iterations = std::nullopt, .seconds = seconds};
}

Budget Seconds(double seconds) { return {.samples = 1, .iterations = std::nullopt, .seconds = seconds}; }

// The sampler and what begins at its samples, with these weights.
void AddSampler(const std::string& name, const std::string& other_weights, std::vector<Entry>& entries) {
  const auto rivals = [&other_weights](const std::string& suffix, const std::string& plain) {
    std::vector<std::string> names = {plain};
    if (!other_weights.empty()) names.push_back(other_weights + suffix);
    return names;
  };
  entries.push_back({name, name, Plans(kDraws), rivals("", "randomised-list")});
  entries.push_back({name + "+beam", name + "+beam", Plans(kDraws), rivals("+beam", name)});
  entries.push_back({name + "+resampling", name + "+resampling", Plans(kDraws), rivals("+resampling", name)});
  const auto within = [&](const std::string& suffix, double seconds) {
    entries.push_back({name + "+resampling" + suffix, name + "+resampling", PlansWithin(seconds),
                       rivals("+resampling" + suffix, "anneal" + suffix)});
  };
  within("-0.01s", 0.01);
  within("-0.1s", 0.1);
  const auto search = [&](const std::string& suffix, double seconds, QualityScope scope) {
    entries.push_back({name + "+search" + suffix, name + "+search", Seconds(seconds),
                       rivals("+search" + suffix, "anneal" + suffix), scope});
  };
  search("-0.1s", 0.1, QualityScope::kAll);
  search("-1s", 1, QualityScope::kAll);
  search("-10s", 10, QualityScope::kFirstOfCell);
}

std::vector<Entry> Entries() {
  std::vector<Entry> entries = {
      {"heft", ""},
      {"forward-backward", "forward-backward"},
      {"heuristics", ""},
      {"randomised-list", "randomised-list", Plans(kDraws)},
      {"brkga-1s", "brkga", Seconds(1), {"anneal-1s"}},
      {"anneal-0.01s", "anneal", Seconds(0.01)},
      {"anneal-0.1s", "anneal", Seconds(0.1)},
      {"anneal-1s", "anneal", Seconds(1)},
      {"anneal-10s", "anneal", Seconds(10)},
  };
  AddSampler("gflownet", "gflownet-untrained", entries);
  AddSampler("gflownet-untrained", "", entries);
  return entries;
}

std::shared_ptr<const Planner> PlannerOf(const Entry& entry, const PlannerRegistry& planners) {
  if (entry.name == "heft") return MakeHeftReference();
  if (entry.name == "heuristics") return MakeAllHeuristics();
  return planners.Make(entry.planner);
}

}  // namespace

std::vector<std::string> QualityMethodNames() {
  std::vector<std::string> names;
  for (const Entry& entry : Entries()) names.push_back(entry.name);
  return names;
}

std::vector<QualityMethod> MakeQualityMethods(const std::vector<std::string>& names, const PlannerRegistry& planners) {
  const std::vector<std::string> known = QualityMethodNames();
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InvalidInput(
          fmt::format("there is no method '{}' in this experiment; there are: {}", name, fmt::join(known, ", ")));
  }
  std::vector<QualityMethod> methods;
  for (const Entry& entry : Entries()) {
    const bool named = names.empty() || std::find(names.begin(), names.end(), entry.name) != names.end();
    if (!named && entry.name != known.front()) continue;
    QualityMethod& method = methods.emplace_back();
    method.method = {entry.name, PlannerOf(entry, planners), entry.budget};
    method.rivals = entry.rivals;
    method.scope = entry.scope;
  }
  return methods;
}

std::vector<QualityMethod> MakeFinetunedMethods(
    const PlannerRegistry& planners, std::function<std::shared_ptr<const Planner>(const QualityInstance&)> adapt) {
  const std::string name = "gflownet-finetuned";
  std::vector<QualityMethod> methods(1);
  methods[0].method = {name, nullptr, Plans(kDraws)};
  methods[0].rivals = {"gflownet"};
  methods[0].scope = QualityScope::kQuickGrid;
  methods[0].adapt = std::move(adapt);
  for (const char* search : {"anneal", "gflownet+search"}) {
    QualityMethod& method = methods.emplace_back();
    method.method = {search + std::string("-as-finetuned"), planners.Make(search), {}};
    method.scope = QualityScope::kQuickGrid;
    method.as_long_as = name;
    methods[0].rivals.push_back(method.method.name);
  }
  return methods;
}

}  // namespace millrace

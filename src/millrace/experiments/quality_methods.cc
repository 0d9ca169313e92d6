// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality_methods.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "millrace/errors/errors.h"
#include "millrace/heuristics/chained_source.h"
#include "millrace/optimize/sources.h"

namespace millrace {
namespace {

constexpr std::int64_t kDraws = 64;

using MakeOne = std::function<std::shared_ptr<const CandidateSource>(const SamplerSettings&)>;

struct Entry {
  std::string name;
  MakeOne make;
  std::int64_t samples = 1;
  std::optional<double> seconds = std::nullopt;
  std::string rival = {};
  QualityScope scope = QualityScope::kAll;
};

MakeOne Named(const char* name) {
  return [name](const SamplerSettings&) { return MakeSource(name); };
}

MakeOne Polished(int starts) {
  return [starts](const SamplerSettings& settings) { return MakeGFlowNetSearch(settings, starts); };
}

std::vector<Entry> Entries() {
  return {
      {"heft", [](const SamplerSettings&) { return MakeHeftReference(); }},
      {"heuristics", [](const SamplerSettings&) { return MakeAllHeuristics(); }},
      {"randomised-list", Named("randomised-list"), kDraws},
      {"brkga-1s", Named("brkga"), 1, 1.0, "anneal-1s"},
      {"anneal-0.1s", Named("anneal"), 1, 0.1},
      {"anneal-1s", Named("anneal"), 1, 1.0},
      {"anneal-10s", Named("anneal"), 1, 10.0},
      {"gflownet", MakeGFlowNetSource, kDraws, std::nullopt, "randomised-list"},
      {"gflownet+redraw", MakeRedrawnGFlowNetSource, kDraws, std::nullopt, "gflownet"},
      {"gflownet+search-0.1s", Polished(1), 1, 0.1, "anneal-0.1s"},
      {"gflownet+search-1s", Polished(4), 1, 1.0, "anneal-1s"},
      {"gflownet+search-10s", Polished(4), 1, 10.0, "anneal-10s", QualityScope::kFirstOfCell},
  };
}

}  // namespace

std::vector<std::string> QualityMethodNames() {
  std::vector<std::string> names;
  for (const Entry& entry : Entries()) names.push_back(entry.name);
  return names;
}

std::vector<QualityMethod> MakeQualityMethods(const std::vector<std::string>& names, const SamplerSettings& settings) {
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
    QualityMethod method;
    method.method.name = entry.name;
    method.method.source = entry.make(settings);
    method.method.budget.samples = entry.samples;
    method.method.budget.seconds = entry.seconds;
    method.rival = entry.rival;
    method.scope = entry.scope;
    methods.push_back(std::move(method));
  }
  return methods;
}

}  // namespace millrace

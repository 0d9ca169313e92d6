// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/sources.h"

#include "millrace/errors/errors.h"
#include "millrace/policy/message_passing.h"
#include "millrace/policy/model_file.h"
#include "millrace/rollout/sampled_source.h"
#include "millrace/search/searches.h"

namespace millrace {
namespace {

std::unique_ptr<CandidateSource> MakeGFlowNet(const SourceSettings& settings) {
  SampledSourceOptions options;
  options.name = "gflownet";
  options.threads = settings.threads;
  if (!settings.temperatures.empty()) options.temperatures = settings.temperatures;
  const std::string weights = settings.weights.empty() ? FindModelFile("gflownet.safetensors") : settings.weights;
  return MakeSampledSource(std::shared_ptr<const Policy>(MakeMessagePassingPolicy(ReadWeights(weights))), options);
}

}  // namespace

std::vector<std::string> SourceNames() {
  std::vector<std::string> names = HeuristicNames();
  for (const std::string& search : SearchNames()) names.push_back(search);
  names.emplace_back("gflownet");
  return names;
}

std::vector<std::string> AnySizeSourceNames() {
  std::vector<std::string> names = SourceNames();
  std::erase(names, "exact");
  return names;
}

std::unique_ptr<CandidateSource> MakeSource(std::string_view name, const SourceSettings& settings) {
  if (name == "gflownet") return MakeGFlowNet(settings);
  if (std::unique_ptr<CandidateSource> search = MakeSearch(name)) return search;
  if (std::unique_ptr<CandidateSource> heuristic = MakeHeuristic(name)) return heuristic;
  std::string known;
  for (const std::string& other : SourceNames()) known += (known.empty() ? "" : ", ") + other;
  throw InvalidInput("there is no method '" + std::string(name) + "'; there are: " + known);
}

}  // namespace millrace

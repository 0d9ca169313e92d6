// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/sources.h"

#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/heuristics/chained_source.h"
#include "millrace/optimize/redrawn_source.h"
#include "millrace/policy/learned_policy.h"
#include "millrace/policy/model_file.h"
#include "millrace/rollout/sampled_source.h"
#include "millrace/search/searches.h"

namespace millrace {
namespace {

constexpr char kGFlowNet[] = "gflownet";
constexpr char kPolishedGFlowNet[] = "gflownet+search";
constexpr char kRedrawnGFlowNet[] = "gflownet+redraw";

constexpr char kGFlowNetWeights[] = "gflownet.safetensors";
constexpr char kOneShotWeights[] = "go.safetensors";

std::shared_ptr<const Policy> ReadPolicy(const SourceSettings& settings) {
  return ReadLearnedPolicy(WeightsOf(settings));
}

std::unique_ptr<CandidateSource> MakeGFlowNet(std::shared_ptr<const Policy> policy, const SourceSettings& settings) {
  SampledSourceOptions options;
  options.name = kGFlowNet;
  options.threads = settings.threads;
  if (!settings.temperatures.empty()) options.temperatures = settings.temperatures;
  return MakeSampledSource(std::move(policy), options);
}

std::unique_ptr<CandidateSource> MakeRedrawnGFlowNet(const SourceSettings& settings) {
  RedrawnSourceOptions options;
  options.name = kRedrawnGFlowNet;
  options.threads = settings.threads;
  if (!settings.temperatures.empty()) options.temperatures = settings.temperatures;
  std::shared_ptr<const Policy> policy = ReadPolicy(settings);
  return MakeRedrawnSource(MakeGFlowNet(policy, settings), policy, options);
}

}  // namespace

std::vector<std::string> SourceNames() {
  std::vector<std::string> names = HeuristicNames();
  for (const std::string& search : SearchNames()) names.push_back(search);
  for (const char* name : {kGFlowNet, kPolishedGFlowNet, kRedrawnGFlowNet}) names.emplace_back(name);
  return names;
}

bool HasWeights(const SourceSettings& settings) {
  return !settings.weights.empty() || LookForModelFile(kGFlowNetWeights).has_value();
}

std::string WeightsOf(const SourceSettings& settings) {
  return settings.weights.empty() ? FindModelFile(kGFlowNetWeights) : settings.weights;
}

std::vector<std::string> UsualSourceNames(const SourceSettings& settings) {
  std::vector<std::string> names = SourceNames();
  std::erase(names, "exact");
  std::erase(names, kRedrawnGFlowNet);
  if (!HasWeights(settings)) std::erase_if(names, [](const std::string& name) { return name.starts_with(kGFlowNet); });
  return names;
}

std::unique_ptr<CandidateSource> MakeSource(std::string_view name, const SourceSettings& settings) {
  if (name == kGFlowNet) return MakeGFlowNet(ReadPolicy(settings), settings);
  if (name == kPolishedGFlowNet) return MakeGFlowNetSearch(settings, {});
  if (name == kRedrawnGFlowNet) return MakeRedrawnGFlowNet(settings);
  if (std::unique_ptr<CandidateSource> search = MakeSearch(name)) return search;
  if (std::unique_ptr<CandidateSource> heuristic = MakeHeuristic(name)) return heuristic;
  std::string known;
  for (const std::string& other : SourceNames()) known += (known.empty() ? "" : ", ") + other;
  throw InvalidInput("there is no method '" + std::string(name) + "'; there are: " + known + ", " + kOneShotName);
}

std::unique_ptr<CandidateSource> MakeGFlowNetSearch(const SourceSettings& settings, PolishedSourceOptions options) {
  options.name = kPolishedGFlowNet;
  return MakePolishedSource(MakeChainedSource("starts", {MakeHeftReference(), MakeRedrawnGFlowNet(settings)}), options);
}

bool HasOneShotWeights(const SourceSettings& settings) {
  return !settings.one_shot_weights.empty() || LookForModelFile(kOneShotWeights).has_value();
}

OneShotSource MakeOneShotSource(const SourceSettings& settings) {
  const std::string file =
      settings.one_shot_weights.empty() ? FindModelFile(kOneShotWeights) : settings.one_shot_weights;
  OneShotSourceOptions options;
  options.threads = settings.threads;
  return {std::make_shared<const OneShotPolicy>(ReadOneShotPolicy(file)), options};
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/sampler_settings.h"

#include "millrace/optimize/sources.h"

namespace millrace {

std::shared_ptr<const CandidateSource> MakeGFlowNetSource(const SamplerSettings& settings) {
  return MakeSource("gflownet", {settings.weights, settings.temperatures, 1});
}

std::shared_ptr<const CandidateSource> MakeRedrawnGFlowNetSource(const SamplerSettings& settings) {
  return MakeSource("gflownet+redraw", {settings.weights, settings.temperatures, 1});
}

std::shared_ptr<const CandidateSource> MakePpoSource(const SamplerSettings& settings) {
  return MakeSource("gflownet", {settings.ppo_weights, settings.temperatures, 1});
}

std::shared_ptr<const CandidateSource> MakeGFlowNetSearch(const SamplerSettings& settings, int starts) {
  PolishedSourceOptions options;
  options.sample_share = settings.sample_share;
  options.starts = starts;
  options.polish.first_temperature = settings.polish_temperature;
  return MakeGFlowNetSearch(SourceSettings{settings.weights, settings.temperatures, 1}, options);
}

}  // namespace millrace

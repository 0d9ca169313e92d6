// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "millrace/heuristics/candidate_source.h"
#include "millrace/optimize/polished_source.h"

// The learned samplers as experiments use them: which weights, drawn at which temperatures, polished how.
namespace millrace {

struct SamplerSettings {
  std::string weights;               // empty: the ones that came with Millrace
  std::vector<double> temperatures;  // reward temperatures; empty: the source's own choice
  std::vector<double> pipeline_temperatures = {0.02, 0.05, 0.15};  // where diversity is wanted too
  std::string ppo_weights;                                         // empty: no ppo among the methods
  double sample_share = 0.2;        // of the time of `gflownet+search`, what sampling takes
  double polish_temperature = 0.3;  // PolishOptions::first_temperature
};

// One core each. Throw InvalidInput for weights that cannot be used.
std::shared_ptr<const CandidateSource> MakeGFlowNetSource(const SamplerSettings& settings);
std::shared_ptr<const CandidateSource> MakeRedrawnGFlowNetSource(const SamplerSettings& settings);
std::shared_ptr<const CandidateSource> MakePpoSource(const SamplerSettings& settings);

// Samples polished from so many starts.
std::shared_ptr<const CandidateSource> MakeGFlowNetSearch(const SamplerSettings& settings, int starts);

}  // namespace millrace

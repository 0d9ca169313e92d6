// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/heuristics/candidate_source.h"
#include "millrace/optimize/polished_source.h"
#include "millrace/rollout/one_shot_source.h"

// Every candidate source there is, by name: the heuristics, the searches, the learned samplers.
namespace millrace {

// What the learned ones need to know; the others do not look at it.
struct SourceSettings {
  std::string weights;               // file of weights; empty: the ones that came with Millrace (policy/model_file.h)
  std::vector<double> temperatures;  // reward temperatures to draw at; empty: the source's own choice
  int threads = 1;
  std::string one_shot_weights = {};  // as weights, of `go`
};

std::vector<std::string> SourceNames();

// Are there weights for the learned ones, named or shipped?
bool HasWeights(const SourceSettings& settings);

// Their file. Throws InvalidInput where there is none.
std::string WeightsOf(const SourceSettings& settings);

// Those that a pool is made of unless methods are named: all but `exact`, which takes small graphs only, and
// `gflownet+redraw`, whose plans are too much alike for a pool and which `gflownet+search` offers too; without the
// learned ones where there are no weights for them.
std::vector<std::string> UsualSourceNames(const SourceSettings& settings);

// Throws InvalidInput, listing the names, where there is none of this one, and for weights that cannot be used.
std::unique_ptr<CandidateSource> MakeSource(std::string_view name, const SourceSettings& settings = {});

// `gflownet+search`: a local search from plans of `gflownet+redraw` and of HEFT, so that it is nowhere behind HEFT.
std::unique_ptr<CandidateSource> MakeGFlowNetSearch(const SourceSettings& settings, PolishedSourceOptions options);

// `go` chooses the fusion groups of its plans itself, so that it is none of the above.
inline constexpr char kOneShotName[] = "go";

// Are there weights for it, named or shipped?
bool HasOneShotWeights(const SourceSettings& settings);

// Throws InvalidInput where there are no weights, or they cannot be used.
OneShotSource MakeOneShotSource(const SourceSettings& settings);

}  // namespace millrace

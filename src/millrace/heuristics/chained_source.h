// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "millrace/heuristics/candidate_source.h"

// Several sources as one.
namespace millrace {

// Offers what each of the sources offers, in turn, each with a generator of its own. Samples, iterations and seconds of
// a budget are for each of them.
std::unique_ptr<CandidateSource> MakeChainedSource(std::string name,
                                                   std::vector<std::shared_ptr<const CandidateSource>> sources);

// `heft`: with and without insertion; the better one is what others are held against.
std::unique_ptr<CandidateSource> MakeHeftReference();

// `heuristics`: each that draws nothing.
std::unique_ptr<CandidateSource> MakeAllHeuristics();

}  // namespace millrace

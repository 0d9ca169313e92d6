// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "millrace/heuristics/candidate_source.h"
#include "millrace/search/polish.h"

// Another source's plans as starts of a local search: a sampler says where to look, the search goes to the bottom.
namespace millrace {

struct PolishedSourceOptions {
  std::string name = "gflownet+search";
  double sample_share = 0.2;     // of the seconds, where these are limited: what the source may take
  std::int64_t samples = 256;    // that the source is asked for, at most
  int starts = 4;                // the best of them that differ, each polished
  double least_distance = 0.02;  // SelectDifferent
  PolishOptions polish;          // its limits come from the budget
};

// Offers the source's `samples` best plans that fit in memory, then the polished ones. Budget: `iterations` changes
// tried, or `seconds` of everything together, are shared evenly by the starts; `samples` below the option's are
// heeded. A source that does not stop in time takes from the search's share.
std::unique_ptr<CandidateSource> MakePolishedSource(std::shared_ptr<const CandidateSource> source,
                                                    const PolishedSourceOptions& options);

}  // namespace millrace

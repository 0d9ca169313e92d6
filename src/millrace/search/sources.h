// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/heuristics/candidate_source.h"

// Every candidate source there is, by name: the heuristics, then the searches.
namespace millrace {

std::vector<std::string> SourceNames();

// Those that take graphs of any size: all but `exact`.
std::vector<std::string> AnySizeSourceNames();

// Throws InvalidInput, listing the names, where there is none of this one.
std::unique_ptr<CandidateSource> MakeSource(std::string_view name);

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/heuristics/candidate_source.h"

// The searches, by name: candidate sources that improve on plans for as long as they may.
namespace millrace {

std::vector<std::string> SearchNames();

// Null where no search has that name.
std::unique_ptr<CandidateSource> MakeSearch(std::string_view name);

}  // namespace millrace

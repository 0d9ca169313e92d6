// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/searches.h"

#include "millrace/search/anneal.h"
#include "millrace/search/brkga.h"
#include "millrace/search/exact.h"

namespace millrace {

std::vector<std::string> SearchNames() { return {"brkga", "anneal", "exact"}; }

std::unique_ptr<CandidateSource> MakeSearch(std::string_view name) {
  if (name == "brkga") return MakeBrkga();
  if (name == "anneal") return MakeAnnealing();
  if (name == "exact") return MakeExact();
  return nullptr;
}

}  // namespace millrace

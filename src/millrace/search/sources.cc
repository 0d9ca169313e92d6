// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/sources.h"

#include "millrace/errors/errors.h"
#include "millrace/search/anneal.h"
#include "millrace/search/brkga.h"
#include "millrace/search/exact.h"

namespace millrace {

std::vector<std::string> SourceNames() {
  std::vector<std::string> names = HeuristicNames();
  names.insert(names.end(), {"brkga", "anneal", "exact"});
  return names;
}

std::vector<std::string> AnySizeSourceNames() {
  std::vector<std::string> names = SourceNames();
  std::erase(names, "exact");
  return names;
}

std::unique_ptr<CandidateSource> MakeSource(std::string_view name) {
  if (name == "brkga") return MakeBrkga();
  if (name == "anneal") return MakeAnnealing();
  if (name == "exact") return MakeExact();
  if (std::unique_ptr<CandidateSource> heuristic = MakeHeuristic(name)) return heuristic;
  std::string known;
  for (const std::string& other : SourceNames()) known += (known.empty() ? "" : ", ") + other;
  throw InvalidInput("there is no method '" + std::string(name) + "'; there are: " + known);
}

}  // namespace millrace

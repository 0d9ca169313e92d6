// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/optimize/candidate.h"
#include "millrace/optimize/sources.h"

// The candidate pool: every source's plans for every way of fusing, priced by the proxy.
namespace millrace {

// One way of forming groups, by name.
struct FusionChoice {
  std::string name;  // none, greedy, measured; go
  FusionGroups groups;
  bool of_one_plan = false;  // chosen by `go` for a plan of its own: other sources make none for it
};

struct PoolOptions {
  // heuristics/candidate_source.h, or `go`; empty: UsualSourceNames, and `go` where there are weights for it
  std::vector<std::string> methods;
  std::int64_t samples = 1000;             // plans of sources that sample, over all fusion choices
  std::optional<std::int64_t> iterations;  // steps of each search; by default its own choice
  std::optional<double> seconds;           // that each sampling or searching source may take
  std::size_t keep_per_source = 64;        // best plans of one source and fusion choice that stay
  std::uint64_t seed = 0;
  SourceSettings sources;  // of the learned sources
};

// One plan of the pool, as an assignment of the groups of its fusion choice.
struct PoolEntry {
  int fusion = 0;  // index into Pool::fusions
  std::string method;
  Assignment assignment;
  double proxy_seconds = 0;
};

struct Pool {
  std::vector<FusionChoice> fusions;
  std::vector<CostedGraph> costed;  // of each fusion choice
  std::vector<PoolEntry> entries;   // each valid and within memory; in order of fusion choice, source, makespan
  std::int64_t proposed = 0;        // plans that sources offered
  std::int64_t infeasible = 0;      // of those, plans that did not fit in memory
};

// None, greedy (heuristics/fusion.h), and where the model knows times of fused groups also `measured`: the greedy
// groups that are no slower fused than apart on the device where fusing helps most, the others taken apart. Equal
// choices are listed once.
std::vector<FusionChoice> FusionChoices(const CostModel& model);

// Choices that are of one plan are passed over, and new ones added for the best plans of `go`; the best of these also
// begins a local search, `go+polish`, where the methods are not named. `progress` is told (done, total) after each
// source. Throws Interrupted.
Pool MakePool(const CostModel& model, std::vector<FusionChoice> fusions, const PoolOptions& options,
              const std::function<void(int, int)>& progress);

// Groups and edges: what one simulation, or one step of a sampler over all groups, looks at.
std::int64_t Visits(const CostedGraph& costed);

// The entry as a plan to be measured.
Candidate MakeCandidate(const Pool& pool, const PoolEntry& entry);

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"
#include "millrace/random/random.h"

// Where candidate plans come from: every method that makes assignments for a costed graph, from the one-line baseline
// to a search or a learned sampler, answers to this interface.
namespace millrace {

// How much a source may do. A deterministic limit (samples, iterations) gives the same answer every time; a time limit
// does not.
struct SourceBudget {
  std::int64_t samples = 1;                // assignments asked for
  std::optional<std::int64_t> iterations;  // steps of a search
  std::optional<double> seconds;           // wall time
};

class CandidateSource {
 public:
  virtual ~CandidateSource() = default;

  // The method's name as flags and files say it, "heft".
  virtual std::string name() const = 0;

  // True where it offers one assignment whatever the budget, at about the cost of a few simulations.
  virtual bool one_answer() const { return false; }

  // Hands each assignment it makes to `offer`, valid for `costed` (memory aside: the caller asks FitsInMemory). The
  // same costed graph, budget and generator state offer
  // the same assignments in the same order, unless a time limit is set.
  virtual void Propose(const CostedGraph& costed, const SourceBudget& budget, Random& random,
                       const std::function<void(Assignment)>& offer) const = 0;
};

// The heuristics, in the order reports list them: sequential, random, list, heft, heft-append, cpop, peft, etf, dls,
// minmin, maxmin, randomised-list, metis, expert. `sequential` is the trivial stand-in.
std::vector<std::string> HeuristicNames();

// Null where no heuristic has that name.
std::unique_ptr<CandidateSource> MakeHeuristic(std::string_view name);

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "millrace/experiments/table.h"
#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"
#include "millrace/machine/proxy.h"
#include "millrace/optimize/one_method.h"
#include "millrace/planning/registry.h"

// Optimize beside each method of its pool alone, at equal wall time: is it ever beaten by one of its own? Methods that
// are run together form a portfolio (Huberman et al., "An economics approach to hard computational problems", 1997);
// the best of them on each problem, known only afterwards, is what it can hope for. Plans are judged by the proxy,
// which is the target as well. With several seeds a method that is better on a problem can be told from one that was
// lucky there. Seconds.
namespace millrace {

struct PortfolioProblem {
  std::string name;    // "montage, 200 ops, 2+2, CCR 5"
  std::string family;  // as UseOfFamily knows it, or a training graph's
  ComputationGraph graph;
  Machine machine;
  Proxy proxy = Proxy::kLinear;
  GivenFusion fusion = GivenFusion::kNone;  // of methods that do not choose it
};

// What problems are for: to choose by how optimize goes about its work, or to judge what was chosen.
enum class PortfolioUse { kTune, kJudge };

enum class PortfolioKinds { kAll, kTaskGraphs, kTrainingGraphs };

// 62: task graphs of the families of this use (families.h), 60, 200 and 1000 ops x 4 equal and 2 + 2 unlike devices x
// CCR 1 and 5, a graph each; and 14 training graphs, contended, whose groups are merged (fusion/merged_fusion.h): to
// judge, the short forms of GO's workloads on their hosts; to tune, cases that GO's policy is validated on
// (workloads/go_corpus.h). Seeds from kQualitySeed + 900'000. Where it is to be quick, 60 ops and three of the training
// graphs.
std::vector<PortfolioProblem> PortfolioProblems(PortfolioUse use, bool quick,
                                                PortfolioKinds kinds = PortfolioKinds::kAll);

inline constexpr int kMostPortfolioSeeds = 10;

// With fewer, no difference of two methods is beyond chance, and optimize plans with one seed more in its place.
inline constexpr int kPortfolioSeedsForChance = 5;

struct PortfolioOptions {
  std::vector<std::string> methods;  // alone, each with its usual settings
  double seconds = 5;                // of each planning; methods of one answer take what they take
  int threads = 1;                   // of optimize
  int at_once = 1;                   // problems
  std::uint64_t seed = 0;            // the first
  int seeds = 1;                     // of each planning; one after the other
};

struct PortfolioOutcome {
  double makespan = 0;
  double seconds = 0;  // wall time
};

struct PortfolioResult {
  PortfolioOptions options;
  std::vector<std::string> problems;                              // their names
  std::vector<std::vector<PortfolioOutcome>> whole;               // optimize, by problem, then by seed
  std::vector<PortfolioOutcome> reseed;                           // of one seed more, by problem; empty with many seeds
  std::vector<std::vector<std::vector<PortfolioOutcome>>> alone;  // by problem, then by method, then by seed
};

// Plans of one problem are made one after the other. The registry makes planners of one thread. `progress` is told
// (done, total) problems. Throws InvalidInput for a method that the registry has not, WorkFailed where one finds no
// plan, Interrupted.
PortfolioResult RunPortfolio(const std::vector<PortfolioProblem>& problems, const PlannerRegistry& planners,
                             const PortfolioOptions& options, const std::function<void(int, int)>& progress);

// "overall": for every method, the best of all of them, and optimize with another seed: its makespan over optimize's,
// as geometric mean with the interval of 95 %, how often optimize is faster, equal (within a billionth) and slower, and
// the worst for it; each problem by the geometric mean of its seeds, and with five seeds or more how often it is so
// beyond chance, which would differ as much in at most one of a hundred cases. "behind": where the best method alone is
// faster than optimize by more than a thousandth, and every other that is so beyond chance. "problems": every makespan,
// for programs.
std::vector<Table> PortfolioTables(const PortfolioResult& result);

}  // namespace millrace

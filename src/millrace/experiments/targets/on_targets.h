// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "millrace/experiments/diversity.h"
#include "millrace/experiments/method.h"
#include "millrace/graph/computation_graph.h"
#include "millrace/optimize/optimize.h"

// The experiment of "Robust Scheduling with GFlowNets" (Zhang et al., 2023): every method hands its best few plans, by
// a proxy that is wrong, to targets that the proxy does not know, and is as good as the best of them there.
namespace millrace {

struct GraphUnderTest {
  std::string name;
  std::string family;
  ComputationGraph graph;
};

// What a method is told of the target.
enum class Knowledge {
  kProxy,         // nothing: the proxy's times and transfers
  kMeasurements,  // what its first plans took on the target: it is optimize/optimize.h, all of it
  kTargetModel    // all but contention: each target's own linear model
};

struct TargetMethod {
  Method method;
  Knowledge knowledge = Knowledge::kProxy;
  std::shared_ptr<const PlannerRegistry> planners = nullptr;  // those of optimize/optimize.h
  OptimizeOptions optimize = {};  // for kMeasurements, where the method has no planner; target and seed are filled in
  bool contender = false;         // what others are to be held against in the table "verdicts"
};

// A column of the tables: `words` as after "sim:"; empty: the proxy itself.
struct SimulatedCase {
  std::string name;
  std::string words;
};

// proxy, noise, bandwidth, latency and contention. Where the machine's transfers are free there is nothing to contend
// for, so contention is then that of the bandwidth target's transfers.
std::vector<SimulatedCase> UsualTargets(bool links);

struct OnTargetsOptions {
  int devices = 4;      // equal ones
  double link_ccr = 0;  // above 0: links on which the mean transfer takes that many mean ops' seconds; 0: free
  int seeds = 5;        // of the methods, and of the target's noise
  std::uint64_t seed = 0;
  int threads = 1;  // (graph, seed) pairs at once
};

// One method on one graph with one seed. Speedups: the time of everything on one device, by the same judge, over the
// plan's time.
struct Judgement {
  std::vector<double> speedup;  // by target, of the best plan there
  double proxy_mean = 0;        // mean proxy speedup of all plans handed on
  double plans = 0;             // handed on, mean over targets
  double seconds = 0;           // wall time to make them, mean over targets
  Diversity diversity;          // of all plans handed on
};

struct OnTargetsResult {
  std::vector<std::string> graphs, families;  // by graph
  std::vector<TargetMethod> methods;
  std::vector<SimulatedCase> targets;
  int seeds = 0;
  std::vector<Judgement> judgements;  // by (graph * seeds + seed) * methods + method

  const Judgement& At(std::size_t graph, int seed, std::size_t method) const {
    return judgements[(graph * static_cast<std::size_t>(seeds) + static_cast<std::size_t>(seed)) * methods.size() +
                      method];
  }
};

// No method hands on more than its `keep` plans to any target. Throws WorkFailed where a method finds no plan,
// Interrupted.
OnTargetsResult RunOnTargets(const std::vector<GraphUnderTest>& graphs, const std::vector<TargetMethod>& methods,
                             const std::vector<SimulatedCase>& targets, const OnTargetsOptions& options,
                             const std::function<void(int, int)>& progress);

}  // namespace millrace

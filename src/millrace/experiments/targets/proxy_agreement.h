// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/experiments/table.h"
#include "millrace/machine/machine.h"
#include "millrace/target/target.h"

// How models of a network agree on the same plans: linear (transfers do not meet), contended (a channel serves one at a
// time), fair (those on a channel share it, simulate/fair_share.h) and SimGrid's (they share it, too), which none of us
// wrote; and how they agree with a network that plans are run on. Seconds.
namespace millrace {

// A network that is there.
struct MeasuredNetwork {
  std::string name;
  Machine machine;  // equal devices; links and channels as they were measured
  // What runs plans of a graph on it; both arguments outlive what is returned.
  std::function<std::unique_ptr<Target>(const ComputationGraph&, const CostModel&)> target;
};

struct ProxyAgreementOptions {
  int plans = 200;  // for each problem: half drawn at random, half by randomised-list
  std::int64_t ops = 100;
  std::vector<std::string> families = {"layered", "er"};  // workloads/random_graph.h
  std::vector<double> ccr = {0.1, 1, 5};
  std::uint64_t seed = 0;
  // In place of the networks that are made up. Ops take kMeasuredSeconds in the mean there, and bytes are scaled so
  // that the CCR holds for its fastest link.
  const MeasuredNetwork* network = nullptr;
};

inline constexpr double kMeasuredSeconds = 2e-3;

// The plans of one problem: random graph and machine.
struct ProxyAgreement {
  std::string machine;  // pairs: four devices, a channel for every ordered pair; bus: one channel for all; tree: two
                        // pairs of devices with a channel each way in every pair and one between them;
                        // hosts: a channel for what each sends, an entry channel for what it receives
  std::string family;
  double ccr = 0;
  std::vector<std::array<double, 5>> seconds;  // by plan: linear, contended, fair, SimGrid, measured (0: it was not)
};

// `progress` is told (done, total) problems. Throws InvalidInput where there is no SimGrid, or of a family that there
// is not; WorkFailed where a plan cannot be run.
std::vector<ProxyAgreement> CompareProxies(const ProxyAgreementOptions& options,
                                           const std::function<void(int, int)>& progress);

// By machine and CCR, means over families. "agreement": rank correlation of plans by linear and contended, of each
// model with the truth, which is what was measured or else SimGrid, and the median of |model / truth - 1|. "choice":
// what the plan that a model ranks first truly takes, over the best of all.
std::vector<Table> ProxyAgreementTables(const std::vector<ProxyAgreement>& agreements);

}  // namespace millrace

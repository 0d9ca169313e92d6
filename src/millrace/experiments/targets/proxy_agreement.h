// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "millrace/experiments/table.h"

// How three models of a network agree on the same plans: linear (transfers do not meet), contended (a channel serves one
// at a time) and SimGrid's (those on a channel share it), which none of us wrote. Seconds.
namespace millrace {

struct ProxyAgreementOptions {
  int plans = 200;  // for each problem: half drawn at random, half by randomised-list
  std::int64_t ops = 100;
  std::vector<std::string> families = {"layered", "er"};  // workloads/random_graph.h
  std::vector<double> ccr = {0.1, 1, 5};
  std::uint64_t seed = 0;
};

// The plans of one problem: random graph and machine.
struct ProxyAgreement {
  std::string machine;  // pairs: four devices, a channel for every ordered pair; bus: one channel for all; tree: two
                        // pairs of devices with a channel each way in every pair and one between them
  std::string family;
  double ccr = 0;
  std::vector<std::array<double, 3>> seconds;  // by plan: linear, contended, SimGrid
};

// `progress` is told (done, total) problems. Throws InvalidInput where there is no SimGrid, or of a family that there is
// not.
std::vector<ProxyAgreement> CompareProxies(const ProxyAgreementOptions& options,
                                           const std::function<void(int, int)>& progress);

// "agreement": by machine and CCR, means over families of each pair of models: rank correlation, and the median of
// |one / SimGrid - 1|. "choice": what the plan that a model ranks first takes by SimGrid, over the best of all there.
std::vector<Table> ProxyAgreementTables(const std::vector<ProxyAgreement>& agreements);

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/go/decisions.h"
#include "millrace/go/problem.h"
#include "tests/reference/random_problem.h"

// Problems to try GO's policy on, and decisions about them.
namespace millrace::testing {

// A graph on a machine with everything a GoProblem needs, kept alive together.
struct GoCase {
  GoCase(ComputationGraph of, const Machine& on)
      : graph(std::move(of)), machine(on), model(MakeAnalyticCostModel(graph, machine)), problem(*model) {}
  GoCase(const GoCase&) = delete;
  GoCase& operator=(const GoCase&) = delete;

  const ComputationGraph graph;
  const Machine machine;
  const std::unique_ptr<CostModel> model;
  const GoProblem problem;
};

// Odd and varied: gangs, colocation, kinds, ties; half of them with memory limits.
inline std::unique_ptr<GoCase> OddCase(Random& random, int most_ops = RandomProblemOptions().most_ops) {
  RandomProblemOptions options;
  options.most_ops = most_ops;
  options.memory = random.Below(2) == 0;
  ComputationGraph graph = RandomGraph(random, options);
  return std::make_unique<GoCase>(std::move(graph), RandomMachine(random, options));
}

// Some of the tasks, or all, decided by chance.
inline Decisions RandomDecisions(const GoProblem& problem, Random& random, bool all) {
  Decisions decisions;
  if (all || random.Below(3) > 0) {
    for (std::int32_t colocation = 0; colocation < problem.num_colocations(); ++colocation) {
      std::vector<int> open;
      for (int d = 0; d < problem.num_devices(); ++d) {
        if (std::isfinite(problem.Seconds(problem.RowsOf(colocation).front(), d))) open.push_back(d);
      }
      decisions.device.push_back(open.at(random.Below(open.size())));
    }
  }
  const auto levels = [&] {
    std::vector<std::uint8_t> chosen;
    for (int row = 0; row < problem.num_rows(); ++row)
      chosen.push_back(static_cast<std::uint8_t>(random.Below(kLevels)));
    return chosen;
  };
  if (all || random.Below(3) > 0) decisions.priority = levels();
  if (all || random.Below(3) > 0) decisions.fusion = levels();
  return decisions;
}

}  // namespace millrace::testing

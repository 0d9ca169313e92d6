// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/transfer_guess.h"

#include <gtest/gtest.h>

#include "millrace/cost/analytic_cost.h"
#include "millrace/simulate/timeline.h"
#include "millrace/workloads/random_graph.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

Machine FourDevices() {
  Machine machine;
  for (int d = 0; d < 4; ++d) machine.devices.push_back({"d" + std::to_string(d), "cpu", {d}, 1e9, 1e9, {}, 0});
  return machine;
}

// Plans whose measured times are those of `truth`, three times as slow.
std::vector<Candidate> MeasuredBy(const CostModel& truth, const CostModel& proxy, const ComputationGraph& graph,
                                  const Machine& machine, int count) {
  const CostedGraph true_costs = MakeCostedGraph(truth, SingleOpGroups(graph));
  const CostedGraph proxy_costs = MakeCostedGraph(proxy, SingleOpGroups(graph));
  std::vector<Candidate> candidates;
  Random random(4);
  for (int i = 0; i < count; ++i) {
    Candidate candidate;
    candidate.plan = testing::RandomPlan(random, graph, machine, SingleOpGroups(graph));
    const Assignment assignment{candidate.plan.placement, candidate.plan.sequence};
    candidate.proxy_seconds = MakeTimeline(proxy_costs, assignment).makespan;
    candidate.target_seconds = 3 * MakeTimeline(true_costs, assignment).makespan;
    candidates.push_back(candidate);
  }
  return candidates;
}

class TransferGuesses : public ::testing::Test {
 protected:
  ComputationGraph graph_ = MakeRandomGraph("layered", {});
  Machine machine_ = FourDevices();
  std::unique_ptr<CostModel> proxy_ = MakeAnalyticCostModel(graph_, machine_);
};

TEST_F(TransferGuesses, AddToWhatEveryTransferCosts) {
  const auto guessed = GuessedModel(*proxy_, machine_, {0.5, 2e-9});
  const Topology& topology = guessed->topology();
  EXPECT_EQ(topology.latency[topology.Pair(0, 1)], 0.5);
  EXPECT_EQ(topology.seconds_per_byte[topology.Pair(2, 3)], 2e-9);
  EXPECT_EQ(topology.latency[topology.Pair(1, 1)], 0);
  machine_.default_link = DefaultLink{0.25, 1e9};
  const auto linked = MakeAnalyticCostModel(graph_, machine_);
  const auto dearer = GuessedModel(*linked, machine_, {0.5, 2e-9});
  EXPECT_EQ(dearer->topology().latency[topology.Pair(0, 1)], 0.75);
}

TEST_F(TransferGuesses, FirstOnesStartWithNone) {
  const std::vector<TransferGuess> guesses = FirstGuesses(*proxy_, machine_);
  ASSERT_EQ(guesses.size(), 4u);
  EXPECT_EQ(guesses.front(), TransferGuess{});
  for (std::size_t i = 1; i < guesses.size(); ++i) EXPECT_GT(guesses[i].seconds, guesses[i - 1].seconds);
}

TEST_F(TransferGuesses, AreNotMadeWhereNothingCanBeTransferred) {
  machine_.devices.resize(1);
  EXPECT_EQ(FirstGuesses(*MakeAnalyticCostModel(graph_, machine_), machine_).size(), 1u);
  machine_.devices.push_back(machine_.devices.front());
  machine_.devices.back().name = "the same unit";
  EXPECT_EQ(FirstGuesses(*MakeAnalyticCostModel(graph_, machine_), machine_).size(), 1u);
}

TEST_F(TransferGuesses, TheFitFindsATruthOfTheGrid) {
  for (const TransferGuess& truth : FirstGuesses(*proxy_, machine_)) {
    const auto model = GuessedModel(*proxy_, machine_, truth);
    const TransferFit fit = FitTransfers(*proxy_, machine_, MeasuredBy(*model, *proxy_, graph_, machine_, 12));
    if (truth == TransferGuess{}) {
      EXPECT_EQ(fit.guess, TransferGuess{});
      EXPECT_NEAR(fit.error, 0, 1e-9);
      continue;
    }
    EXPECT_LT(fit.error, 0.5 * fit.error_before);
    const double scale = truth.seconds + truth.seconds_per_byte * 5e8;
    const double found = fit.guess.seconds + fit.guess.seconds_per_byte * 5e8;
    EXPECT_GT(found, scale / 3);
    EXPECT_LT(found, scale * 3);
  }
}

TEST_F(TransferGuesses, TooFewMeasurementsFitNothing) {
  const auto truth = GuessedModel(*proxy_, machine_, {2, 0});
  EXPECT_EQ(FitTransfers(*proxy_, machine_, MeasuredBy(*truth, *proxy_, graph_, machine_, 3)).guess, TransferGuess{});
}

}  // namespace
}  // namespace millrace

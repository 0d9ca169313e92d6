// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/context_fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/perturbed_cost.h"
#include "millrace/simulate/timeline.h"
#include "millrace/target/statistics.h"
#include "millrace/workloads/random_graph.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

// A machine whose ops take other times than the proxy says, and whose devices take a while to hand a tensor over.
class ContextFits : public ::testing::Test {
 protected:
  ContextFits() {
    for (int d = 0; d < 4; ++d)
      machine_.devices.push_back({"d" + std::to_string(d), d < 2 ? "a" : "b", {d}, 1e9, 1e9, {}, 0});
    proxy_ = MakeAnalyticCostModel(graph_, machine_);
    Perturbation noise;
    noise.noise_sigma = 0.3;
    noise.seed = 9;
    noisy_ = MakePerturbedCostModel(*proxy_, machine_, noise);
    truth_ = GuessedModel(*noisy_, machine_, {kHandOver, 0});
  }

  Timeline TimelineUnder(const CostModel& model, const Plan& plan) const {
    return MakeTimeline(MakeCostedGraph(model, plan.groups), {plan.placement, plan.sequence});
  }

  std::vector<Candidate> Measured(int count, std::uint64_t seed) const {
    std::vector<Candidate> candidates;
    Random random(seed);
    for (int i = 0; i < count; ++i) {
      Candidate candidate;
      candidate.plan = testing::RandomPlan(random, graph_, machine_, SingleOpGroups(graph_));
      candidate.proxy_seconds = TimelineUnder(*proxy_, candidate.plan).makespan;
      Timeline run = TimelineUnder(*truth_, candidate.plan);
      candidate.target_seconds = run.makespan;
      for (std::size_t group = 0; group < run.start.size(); ++group)
        candidate.group_seconds.push_back(run.finish[group] - run.start[group]);
      candidate.measured = std::move(run);
      candidates.push_back(std::move(candidate));
    }
    return candidates;
  }

  static constexpr double kHandOver = 0.25;  // half a mean op

  ComputationGraph graph_ = MakeRandomGraph("layered", {.ops = 40});
  Machine machine_;
  std::unique_ptr<CostModel> proxy_, noisy_, truth_;
};

TEST_F(ContextFits, PredictPlansThatWereNotMeasured) {
  const std::optional<ContextFit> fit = FitContext(*proxy_, machine_, Measured(12, 1));
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->hand_over.seconds, kHandOver, 0.02 * kHandOver);
  EXPECT_LT(fit->durations.error, 0.3 * fit->durations.error_before);
  const auto in_context = ModelInContext(*proxy_, machine_, *fit);
  std::vector<double> by_proxy, by_fit;
  for (const Candidate& other : Measured(30, 2)) {
    by_proxy.push_back(std::abs(other.proxy_seconds / *other.target_seconds - 1));
    by_fit.push_back(std::abs(TimelineUnder(*in_context, other.plan).makespan / *other.target_seconds - 1));
  }
  EXPECT_GT(Median(by_proxy), 0.1);
  EXPECT_LT(Median(by_fit), 0.03);
}

TEST_F(ContextFits, AreJudgedByPlansThatTheyHaveNotSeen) {
  const std::vector<Candidate> candidates = Measured(12, 3);
  const std::optional<ProxyJudgement> judgement = JudgeContext(*proxy_, machine_, candidates);
  ASSERT_TRUE(judgement);
  EXPECT_GT(judgement->rank_correlation.value_or(0), 0.9);
  EXPECT_LT(judgement->median_error.value_or(1), 0.04);
  EXPECT_GE(judgement->first_over_best.value_or(0), 1);
  // The time of one plan changes nothing in its own prediction, so it is all of its error.
  std::vector<Candidate> one_slow = candidates;
  *one_slow[0].target_seconds *= 100;
  EXPECT_LT(JudgeContext(*proxy_, machine_, one_slow)->median_error.value_or(1), 0.04);
}

TEST_F(ContextFits, NeedFourTimelines) {
  std::vector<Candidate> candidates = Measured(4, 4);
  EXPECT_TRUE(FitContext(*proxy_, machine_, candidates));
  EXPECT_FALSE(JudgeContext(*proxy_, machine_, candidates)) << "three are left when one is judged";
  candidates[2].measured.reset();
  EXPECT_FALSE(FitContext(*proxy_, machine_, candidates));
  EXPECT_FALSE(FitContext(*proxy_, machine_, {}));
}

// An op seen on one kind alone has on the other the factor of that kind.
TEST_F(ContextFits, KnowAKindByTheOpsThatWereSeenThere) {
  std::vector<Candidate> candidates = Measured(4, 5);
  for (Candidate& candidate : candidates) {
    for (std::size_t group = 0; group < candidate.plan.groups.size(); ++group) {
      // Op 0 is on the first kind; the second takes twice as long as the proxy says, the first half as long.
      int& place = candidate.plan.placement[group];
      if (candidate.plan.groups[group].front() == 0) place = 0;
      const double factor = place < 2 ? 0.5 : 2;
      candidate.group_seconds[group] = factor * proxy_->GroupSeconds(candidate.plan.groups[group], place);
    }
  }
  const std::optional<ContextFit> fit = FitContext(*proxy_, machine_, candidates);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->durations.factors[0], 0.5, 1e-9);
  EXPECT_NEAR(fit->durations.factors[1], 2, 1e-9);
}

}  // namespace
}  // namespace millrace

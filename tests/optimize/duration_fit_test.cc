// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/duration_fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/perturbed_cost.h"
#include "millrace/simulate/timeline.h"
#include "millrace/workloads/random_graph.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

class DurationFits : public ::testing::Test {
 protected:
  DurationFits() {
    for (int d = 0; d < 4; ++d)
      machine_.devices.push_back({"d" + std::to_string(d), d < 2 ? "a" : "b", {d}, 1e9, 1e9, {}, 0});
    machine_.default_link = DefaultLink{0, 1e9};
    proxy_ = MakeAnalyticCostModel(graph_, machine_);
    Perturbation noise;
    noise.noise_sigma = 0.3;
    noise.seed = 9;
    truth_ = MakePerturbedCostModel(*proxy_, machine_, noise);
  }

  double Seconds(const CostModel& model, const Plan& plan) const {
    return MakeTimeline(MakeCostedGraph(model, plan.groups), {plan.placement, plan.sequence}).makespan;
  }

  std::vector<Candidate> Measured(const CostModel& target, int count, std::uint64_t seed) const {
    std::vector<Candidate> candidates;
    Random random(seed);
    for (int i = 0; i < count; ++i) {
      Candidate candidate;
      candidate.plan = testing::RandomPlan(random, graph_, machine_, SingleOpGroups(graph_));
      candidate.proxy_seconds = Seconds(*proxy_, candidate.plan);
      candidate.target_seconds = 2 * Seconds(target, candidate.plan);
      candidates.push_back(candidate);
    }
    return candidates;
  }

  ComputationGraph graph_ = MakeRandomGraph("layered", {.ops = 40});
  Machine machine_;
  std::unique_ptr<CostModel> proxy_, truth_;
};

TEST_F(DurationFits, ExplainTheirMeasurementsAndPredictOtherPlansBetterThanTheProxy) {
  const DurationFit fit = FitDurations(*proxy_, machine_, Measured(*truth_, 60, 1));
  ASSERT_FALSE(fit.factors.empty());
  EXPECT_LT(fit.error, 0.3 * fit.error_before);
  const auto corrected = CorrectedModel(*proxy_, machine_, fit);
  std::vector<double> by_proxy, by_fit, measured;
  double proxy_error = 0, fit_error = 0, proxy_mean = 0, fit_mean = 0;
  const std::vector<Candidate> others = Measured(*truth_, 40, 2);
  for (const Candidate& other : others) {
    by_proxy.push_back(std::log(*other.target_seconds / other.proxy_seconds));
    by_fit.push_back(std::log(*other.target_seconds / Seconds(*corrected, other.plan)));
    proxy_mean += by_proxy.back() / 40;
    fit_mean += by_fit.back() / 40;
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    proxy_error += (by_proxy[i] - proxy_mean) * (by_proxy[i] - proxy_mean);
    fit_error += (by_fit[i] - fit_mean) * (by_fit[i] - fit_mean);
  }
  EXPECT_LT(fit_error, 0.7 * proxy_error);
}

TEST_F(DurationFits, LeaveAProxyAloneThatIsRight) {
  EXPECT_TRUE(FitDurations(*proxy_, machine_, Measured(*proxy_, 30, 3)).factors.empty());
}

TEST_F(DurationFits, NeedAFewMeasurements) {
  EXPECT_TRUE(FitDurations(*proxy_, machine_, Measured(*truth_, 7, 3)).factors.empty());
}

TEST_F(DurationFits, WithoutFactorsTheModelIsTheBase) {
  const auto model = CorrectedModel(*proxy_, machine_, {});
  for (OpId op = 0; op < graph_.num_ops(); ++op) {
    for (int device = 0; device < 4; ++device)
      EXPECT_EQ(model->GroupSeconds(std::span(&op, 1), device), proxy_->GroupSeconds(std::span(&op, 1), device));
  }
}

TEST_F(DurationFits, MultiplyAFusedGroupByTheWeightedMeanOfItsOps) {
  DurationFit fit;
  fit.factors.assign(static_cast<std::size_t>(graph_.num_ops()) * 2, 1.0);
  fit.factors[0] = 3;  // op 0 on kind a
  const auto model = CorrectedModel(*proxy_, machine_, fit);
  const std::vector<OpId> ops{0, 1};
  const double first = proxy_->GroupSeconds(std::span(ops).subspan(0, 1), 0);
  const double second = proxy_->GroupSeconds(std::span(ops).subspan(1, 1), 0);
  EXPECT_NEAR(model->GroupSeconds(ops, 0), proxy_->GroupSeconds(ops, 0) * (3 * first + second) / (first + second),
              1e-12);
  EXPECT_EQ(model->GroupSeconds(ops, 2), proxy_->GroupSeconds(ops, 2));
}

}  // namespace
}  // namespace millrace

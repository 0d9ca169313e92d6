// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/exactness.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/interrupt.h"
#include "millrace/experiments/quality/feature_fit.h"
#include "millrace/experiments/quality/quality_grid.h"
#include "millrace/experiments/summary.h"
#include "millrace/gflownet/sampling/exact_distribution.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

constexpr double kGangFactor = 0.6;

struct TinyProblem {
  std::string name;
  std::unique_ptr<CostedGraph> costed;
};

TinyProblem MakeTinyProblem(const std::string& family, int ops, bool gang, std::uint64_t seed) {
  RandomGraphOptions options;
  options.ops = ops;
  options.seed = seed;
  options.degree = 2;
  options.kinds = {{"core", 1}, {"both", kGangFactor}};
  options.heterogeneity = 0;
  const ComputationGraph graph = MakeRandomGraph(family, options);
  Machine machine;
  machine.name = gang ? "two and a gang" : "two";
  machine.devices.push_back({"a", "core", {0}, 1e12, 1e11, {}, 0});
  machine.devices.push_back({"b", "core", {1}, 1e12, 1e11, {}, 0});
  if (gang) machine.devices.push_back({"ab", "both", {0, 1}, 1e12, 1e11, {}, 0});
  machine.default_link = DefaultLink{0, 1e9};
  return {
      fmt::format("{}, {} ops, {}", family, ops, machine.name),
      std::make_unique<CostedGraph>(MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph)))};
}

std::vector<TinyProblem> TinyProblems(const ExactnessOptions& options) {
  std::vector<TinyProblem> problems;
  std::uint64_t seed = kQualitySeed + 10'000 + options.seed * 1000;
  for (int ops = options.fewest_ops; ops <= options.most_ops; ++ops) {
    for (int i = 0; i < options.graphs; ++i, ++seed) {
      const char* const family = i % 2 == 0 ? "layered" : "er";
      problems.push_back(MakeTinyProblem(family, ops, false, seed));
      if (ops < options.most_ops || ops == options.fewest_ops)
        problems.push_back(MakeTinyProblem(family, ops, true, seed));
    }
  }
  return problems;
}

// How far from the reward, over problems, at one temperature.
struct Distances {
  std::vector<double> variation, divergence;
  void Add(const RewardFit& fit) {
    variation.push_back(fit.total_variation);
    divergence.push_back(fit.divergence);
  }
};

}  // namespace

std::vector<Table> Exactness(const Policy& policy, const Policy& untrained, const ExactnessOptions& options,
                             const std::function<void(int, int)>& progress) {
  const std::vector<TinyProblem> problems = TinyProblems(options);
  const std::unique_ptr<Policy> uniform = MakeUniformPolicy();
  Table one_by_one{"problems",
                   "",
                   {"problem", "plans", "states", "temperature", "total variation", "KL(P || R/Z)", "log Z",
                    "untrained: total variation", "features allow: total variation", "uniform: total variation"},
                   {},
                   true};
  const std::size_t temperatures = options.temperatures.size();
  std::vector<Distances> of_policy(temperatures), of_untrained(temperatures), of_uniform(temperatures);
  std::vector<std::vector<double>> of_features(temperatures);
  for (std::size_t p = 0; p < problems.size(); ++p) {
    StopIfInterrupted();
    const Environment environment(*problems[p].costed);
    const ExactDistribution plain = MakeExactDistribution(environment, *uniform->Prepare(environment, 1));
    for (std::size_t t = 0; t < options.temperatures.size(); ++t) {
      const double temperature = options.temperatures[t];
      const auto distribution_of = [&](const Policy& some) {
        return MakeExactDistribution(environment, *some.Prepare(environment, temperature));
      };
      const ExactDistribution distribution = distribution_of(policy);
      const RewardFit fit = FitToReward(environment, distribution, temperature);
      const RewardFit untrained_fit = FitToReward(environment, distribution_of(untrained), temperature);
      const RewardFit plain_fit = FitToReward(environment, plain, temperature);
      of_policy[t].Add(fit);
      of_untrained[t].Add(untrained_fit);
      of_uniform[t].Add(plain_fit);
      of_features[t].push_back(FitFeatures(environment, temperature).total_variation);
      one_by_one.rows.push_back({Words(problems[p].name), Count(distribution.plans.size()),
                                 Count(static_cast<std::size_t>(distribution.states)), Number(temperature, 3),
                                 Number(fit.total_variation, 4), Number(fit.divergence, 4),
                                 Number(fit.log_partition, 4), Number(untrained_fit.total_variation, 4),
                                 Number(of_features[t].back(), 4), Number(plain_fit.total_variation, 4)});
    }
    progress(static_cast<int>(p + 1), static_cast<int>(problems.size()));
  }
  Table by_temperature{
      "by temperature",
      fmt::format("Exact plan probabilities against R / Z on {} graphs of {} to {} ops.", problems.size(),
                  options.fewest_ops, options.most_ops),
      {"temperature", "total variation, mean", "worst", "KL(P || R/Z), mean", "untrained: total variation, mean",
       "untrained: KL, mean", "features allow: total variation, mean", "features allow: worst",
       "uniform: total variation, mean", "uniform: KL, mean"},
      {}};
  for (std::size_t t = 0; t < options.temperatures.size(); ++t) {
    by_temperature.rows.push_back(
        {Number(options.temperatures[t], 3), Number(Mean(of_policy[t].variation), 3),
         Number(*std::max_element(of_policy[t].variation.begin(), of_policy[t].variation.end()), 3),
         Number(Mean(of_policy[t].divergence), 3), Number(Mean(of_untrained[t].variation), 3),
         Number(Mean(of_untrained[t].divergence), 3), Number(Mean(of_features[t]), 3),
         Number(*std::max_element(of_features[t].begin(), of_features[t].end()), 3),
         Number(Mean(of_uniform[t].variation), 3), Number(Mean(of_uniform[t].divergence), 3)});
  }
  return {by_temperature, one_by_one};
}

}  // namespace millrace

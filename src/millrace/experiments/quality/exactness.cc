// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/exactness.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/interrupt.h"
#include "millrace/experiments/quality/feature_fit.h"
#include "millrace/experiments/quality/quality_grid.h"
#include "millrace/experiments/summary.h"
#include "millrace/gflownet/sampling/exact_distribution.h"
#include "millrace/gflownet/sampling/exact_flow.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

constexpr double kGangFactor = 0.6;
constexpr double kNear = 0.15;

struct TinyProblem {
  std::string name;
  std::unique_ptr<CostedGraph> costed;
};

enum class TinyMachine { kEqual, kUnlike, kGang };

constexpr TinyMachine kTinyMachines[] = {TinyMachine::kEqual, TinyMachine::kEqual, TinyMachine::kUnlike,
                                         TinyMachine::kGang};
constexpr double kTinyCcr[] = {1, 0.2, 5};

TinyProblem MakeTinyProblem(const std::string& family, int ops, double ccr, TinyMachine kind, std::uint64_t seed) {
  RandomGraphOptions options;
  options.ops = ops;
  options.ccr = ccr;
  options.seed = seed;
  options.degree = 2;
  options.kinds = {{"core", 1}, {"both", kGangFactor}, {"slow", 2}};
  options.heterogeneity = kind == TinyMachine::kUnlike ? 0.5 : 0;
  const ComputationGraph graph = MakeRandomGraph(family, options);
  const bool gang = kind == TinyMachine::kGang;
  const bool unlike = kind == TinyMachine::kUnlike;
  Machine machine;
  machine.name = gang ? "two and a gang" : unlike ? "two unlike" : "two";
  machine.devices.push_back({"a", "core", {0}, 1e12, 1e11, {}, 0});
  machine.devices.push_back({"b", unlike ? "slow" : "core", {1}, 1e12, 1e11, {}, 0});
  if (gang) machine.devices.push_back({"ab", "both", {0, 1}, 1e12, 1e11, {}, 0});
  machine.default_link = DefaultLink{0, 1e9};
  return {
      fmt::format("{}, {} ops, CCR {}, {}", family, ops, ccr, machine.name),
      std::make_unique<CostedGraph>(MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph)))};
}

bool HasRightSize(const CostedGraph& costed, const ExactnessOptions& options) {
  constexpr std::int64_t kStatesPerPlan = 8;
  const std::optional<StateGraph> states = MakeStateGraph(Environment(costed), kStatesPerPlan * options.most_plans);
  if (!states) return false;
  const auto plans = static_cast<int>(states->makespans.size());
  return plans >= options.fewest_plans && plans <= options.most_plans;
}

std::vector<TinyProblem> TinyProblems(const ExactnessOptions& options) {
  const std::vector<std::string>& families = RandomFamilyNames();
  std::vector<TinyProblem> problems;
  std::uint64_t seed = kQualitySeed + 10'000 + options.seed * 10'000;
  for (int i = 0; i < options.graphs; ++i) {
    const auto turn = static_cast<std::size_t>(i);
    for (;; ++seed) {
      StopIfInterrupted();
      // Another number of ops with every try, so that there is a graph of the right size soon.
      const int ops = options.fewest_ops +
                      static_cast<int>(seed % static_cast<std::uint64_t>(options.most_ops - options.fewest_ops + 1));
      TinyProblem made = MakeTinyProblem(families[turn % families.size()], ops, kTinyCcr[turn % std::size(kTinyCcr)],
                                         kTinyMachines[turn % std::size(kTinyMachines)], seed);
      if (!HasRightSize(*made.costed, options)) continue;
      problems.push_back(std::move(made));
      ++seed;
      break;
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
      of_features[t].push_back(options.features ? FitFeatures(environment, temperature).total_variation
                                                : std::numeric_limits<double>::quiet_NaN());
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
      fmt::format("Exact plan probabilities against R / Z on {} graphs of {} to {} ops with {} to {} plans.",
                  problems.size(), options.fewest_ops, options.most_ops, options.fewest_plans, options.most_plans),
      {"temperature", "total variation, mean", "worst", "within 0.15 %", "KL(P || R/Z), mean",
       "untrained: total variation, mean", "features allow: total variation, mean", "features allow: worst",
       "uniform: total variation, mean"},
      {}};
  for (std::size_t t = 0; t < options.temperatures.size(); ++t) {
    const std::vector<double>& own = of_policy[t].variation;
    const Estimate mean = Bootstrap(own, Mean);
    const auto near = std::count_if(own.begin(), own.end(), [](double variation) { return variation <= kNear; });
    by_temperature.rows.push_back({Number(options.temperatures[t], 3), Range(mean.value, mean.low, mean.high, 3),
                                   Number(*std::max_element(own.begin(), own.end()), 3),
                                   Number(100 * static_cast<double>(near) / static_cast<double>(own.size()), 0),
                                   Number(Mean(of_policy[t].divergence), 3), Number(Mean(of_untrained[t].variation), 3),
                                   Number(Mean(of_features[t]), 3),
                                   Number(*std::max_element(of_features[t].begin(), of_features[t].end()), 3),
                                   Number(Mean(of_uniform[t].variation), 3)});
  }
  return {by_temperature, one_by_one};
}

}  // namespace millrace

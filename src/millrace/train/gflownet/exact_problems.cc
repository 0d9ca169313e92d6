// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/exact_problems.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/gflownet/sampling/exact_distribution.h"
#include "millrace/planning/parallel.h"

namespace millrace {
namespace {

constexpr std::uint64_t kExactValidationSeed = 0x6578616374206f6e;
constexpr int kMostTries = 1000;
constexpr std::int64_t kStatesPerPlan = 8;  // of what is drawn here there are two or three

}  // namespace

SettingsTable TableOf(ExactProblemSettings& s) {
  return {{"fewest_plans", &s.fewest_plans, Between(2, 1e6), "fewest plans of a problem with an exact flow"},
          {"most_plans", &s.most_plans, From("fewest_plans", s.fewest_plans, 1e6), "most plans of it"},
          {"temperatures_per_problem", &s.temperatures, Between(1, 1024),
           "reward temperatures at which its flow is worked out, one of each part of the range"}};
}

ExactProblem DrawExactProblem(const ProblemSource& source, const ExactProblemSettings& settings, Random& random) {
  for (int i = 0; i < kMostTries; ++i) {
    StopIfInterrupted();
    std::unique_ptr<Problem> problem = source.Draw(random);
    std::optional<StateGraph> states = MakeStateGraph(problem->environment(), kStatesPerPlan * settings.most_plans);
    if (!states) continue;
    const auto plans = static_cast<int>(states->makespans.size());
    if (plans >= settings.fewest_plans && plans <= settings.most_plans) return {std::move(problem), *std::move(states)};
  }
  throw InvalidInput("fewest_plans, most_plans: none of a thousand problems had as many plans; ask for other ops");
}

std::vector<ExactProblem> MakeExactValidation(const ProblemSource& source, const ExactProblemSettings& settings,
                                              int problems) {
  std::vector<ExactProblem> made;
  Random random(kExactValidationSeed);
  for (int i = 0; i < problems; ++i) made.push_back(DrawExactProblem(source, settings, random));
  return made;
}

std::vector<ExactnessScore> ScoreExactness(const Policy& policy, const std::vector<ExactProblem>& problems,
                                           const std::vector<double>& temperatures, RewardForm reward, int threads) {
  std::vector<RewardFit> fits(problems.size() * temperatures.size());
  RunInParallel(static_cast<int>(fits.size()), threads, [&](int task) {
    StopIfInterrupted();
    const auto at = static_cast<std::size_t>(task);
    const Environment& environment = problems[at % problems.size()].problem->environment();
    const double temperature = temperatures[at / problems.size()];
    fits[at] = FitToReward(environment, MakeExactDistribution(environment, *policy.Prepare(environment, temperature)),
                           temperature, reward);
  });
  std::vector<ExactnessScore> scores;
  for (std::size_t t = 0; t < temperatures.size(); ++t) {
    ExactnessScore& score = scores.emplace_back();
    score.temperature = temperatures[t];
    for (std::size_t p = 0; p < problems.size(); ++p) {
      const RewardFit& fit = fits[t * problems.size() + p];
      score.mean += fit.total_variation / static_cast<double>(problems.size());
      score.worst = std::max(score.worst, fit.total_variation);
      score.divergence += fit.divergence / static_cast<double>(problems.size());
    }
  }
  return scores;
}

}  // namespace millrace

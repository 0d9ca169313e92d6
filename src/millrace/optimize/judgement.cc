// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/judgement.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "millrace/optimize/candidate_list.h"
#include "millrace/target/statistics.h"

namespace millrace {
namespace {

// Runs of both that it takes to be sure of which is faster.
constexpr std::size_t kFewestTelling = 5;

// Of times of one / times of the best; both 0 where either has fewer than it takes.
std::pair<double, double> RatioInterval(const std::vector<double>& slower, const Candidate& best, Times times) {
  const std::size_t fewest = times == Times::kVary ? 2 : 1;
  if (std::min(slower.size(), best.times.size()) < fewest) return {0, 0};
  RatioOptions options;
  options.paired = slower.size() == best.times.size();
  const Interval interval = RatioOfMedians(slower, best.times, options);
  return {interval.low, interval.high};
}

void BecomeBest(const BaselineResult& baseline, OptimizeResult& result) {
  result.best = baseline.candidate;
  result.best.method = baseline.name;
}

}  // namespace

void YieldToFasterBaseline(OptimizeResult& result, const std::string& usual, Times times) {
  const Candidate chosen = result.best;
  const bool by_time = result.objective.aim == Objective::Aim::kLatency;
  for (const BaselineResult& baseline : result.baselines) {
    if (!by_time || !baseline.keeps || !baseline.candidate.target_seconds || !result.best.target_seconds) continue;
    if (JudgedSeconds(baseline.candidate, result.robust) < JudgedSeconds(result.best, result.robust))
      BecomeBest(baseline, result);
  }
  for (const BaselineResult& baseline : result.baselines) {
    if (!by_time || !baseline.keeps || !baseline.candidate.target_seconds || baseline.name != usual) continue;
    const bool told = std::min(baseline.candidate.times.size(), result.best.times.size()) >= kFewestTelling;
    if (!told || RatioInterval(baseline.candidate.times, result.best, times).first <= 1) BecomeBest(baseline, result);
  }
  for (BaselineResult& baseline : result.baselines)
    baseline.ratio = RatioInterval(baseline.candidate.times, result.best, times);
  for (OwnModeResult& mode : result.own_modes) {
    mode.ratio = RatioInterval(mode.measurement.times, result.best, times);
    if (mode.ratio.second > 0 && mode.ratio.second < 1)
      result.warnings.push_back(mode.name + " is faster than the best plan: " + mode.meaning);
  }
  if (chosen.plan != result.best.plan)
    result.challenger = Challenger{chosen, RatioInterval(chosen.times, result.best, times)};
}

void KeepFinalTimes(OptimizeResult& result) {
  std::vector<const Candidate*> compared{&result.best};
  if (result.challenger) compared.push_back(&result.challenger->candidate);
  for (const BaselineResult& baseline : result.baselines) compared.push_back(&baseline.candidate);
  for (Candidate& candidate : result.candidates) {
    const auto final = std::find_if(compared.begin(), compared.end(), [&candidate](const Candidate* other) {
      return other->target_seconds && other->plan == candidate.plan;
    });
    if (final == compared.end()) continue;
    candidate.times = (*final)->times;
    candidate.target_seconds = (*final)->target_seconds;
    candidate.disturbed = (*final)->disturbed;
  }
}

void JudgeProxy(OptimizeResult& result) {
  std::vector<double> predicted;
  std::vector<const Candidate*> measured;
  for (const Candidate& candidate : result.candidates) {
    if (!candidate.target_seconds) continue;
    predicted.push_back(candidate.proxy_seconds);
    measured.push_back(&candidate);
  }
  result.target_indifferent =
      AllTakeTheSame(result.candidates) &&
      std::all_of(result.baselines.begin(), result.baselines.end(), [&result](const BaselineResult& baseline) {
        return !baseline.candidate.target_seconds || baseline.candidate.target_seconds == result.best.target_seconds;
      });
  result.proxy_judgement = JudgePredictions(predicted, measured);
}

void JudgePayback(OptimizeResult& result) {
  if (result.objective.aim != Objective::Aim::kLatency) return;
  double fastest = std::numeric_limits<double>::infinity();
  for (const BaselineResult& baseline : result.baselines) {
    if (baseline.keeps && baseline.candidate.target_seconds)
      fastest = std::min(fastest, *baseline.candidate.target_seconds);
  }
  const double saved = fastest - result.best.target_seconds.value_or(fastest);
  if (std::isfinite(saved) && saved > 0) result.pays_back_after_runs = std::ceil(result.planning_seconds / saved);
}

}  // namespace millrace

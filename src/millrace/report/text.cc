// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "millrace/errors/shown.h"
#include "millrace/report/readable.h"
#include "millrace/simulate/bounds.h"

namespace millrace {
namespace {

std::string Line(const std::string& name, const Candidate& candidate, const std::string& ratio) {
  const std::string median = candidate.target_seconds    ? ReadableSeconds(*candidate.target_seconds)
                             : candidate.failure.empty() ? "not run"
                                                         : "failed";
  const std::string least = candidate.times.empty()
                                ? "-"
                                : ReadableSeconds(*std::min_element(candidate.times.begin(), candidate.times.end()));
  return fmt::format("  {:<34} {:>11} {:>11} {:>11}  {}\n", Escaped(name), median, least,
                     ReadableSeconds(candidate.proxy_seconds), ratio);
}

std::string Table(const OptimizeResult& result) {
  std::string text = fmt::format("  {:<34} {:>11} {:>11} {:>11}  {}\n", "plan", "median", "fastest", "proxy",
                                 result.target_indifferent ? "" : "best is faster by (95 %)");
  text += Line(fmt::format("best ({}, fusion {})", result.best.method, result.best.fusion), result.best, "");
  const auto interval = [&result](const std::pair<double, double>& ratio) {
    if (ratio.second <= 0 || result.target_indifferent) return std::string();
    return ReadableNumber(ratio.first, 2) + "x .. " + ReadableNumber(ratio.second, 2) + "x";
  };
  for (const BaselineResult& baseline : result.baselines)
    text += Line(baseline.name + (baseline.keeps ? "" : " (breaks the pins)"), baseline.candidate,
                 interval(baseline.ratio));
  for (const OwnModeResult& mode : result.own_modes) {
    const Measurement& measured = mode.measurement;
    text += fmt::format("  {:<34} {:>11} {:>11} {:>11}  {}\n", Escaped(mode.name),
                        measured.failed ? "failed" : ReadableSeconds(measured.median),
                        measured.failed ? "-" : ReadableSeconds(measured.min), "-", interval(mode.ratio));
  }
  if (result.challenger)
    text += Line("challenger (" + result.challenger->candidate.method + ")", result.challenger->candidate,
                 interval(result.challenger->ratio));
  return text;
}

// What the plan gains beside what it takes longer, and the plans that trade one for the other.
std::string Traded(const OptimizeResult& result) {
  const Objective& objective = result.objective;
  if (objective.aim == Objective::Aim::kLatency || !result.best.value || !result.fastest.value) return "";
  const bool memory = objective.aim == Objective::Aim::kMemory;
  const auto readable = [memory](const Candidate& candidate) {
    return memory ? ReadableBytes(*candidate.value) : ReadableSeconds(*candidate.value);
  };
  const char* const what = memory ? "peak memory" : "from run to run";
  const double fastest = result.fastest.target_seconds.value_or(0);
  std::string text = fmt::format("\n  objective {}: {} {}, where the fastest plan, of {}, has {}; it may take {}\n",
                                 NameOf(objective.aim), readable(result.best), what, ReadableSeconds(fastest),
                                 readable(result.fastest), ReadableSeconds(objective.Limit(fastest)));
  text += fmt::format("\n  {:<34} {:>11} {:>16}\n", "plans that trade one for the other", "median", what);
  for (const Candidate& candidate : result.front) {
    const bool best = candidate.method == result.best.method && *candidate.value == *result.best.value;
    text += fmt::format("  {:<34} {:>11} {:>16}{}\n", Escaped(candidate.method + ", fusion " + candidate.fusion),
                        ReadableSeconds(*candidate.target_seconds), readable(candidate), best ? "  best" : "");
  }
  return text;
}

std::string Facts(const ProxyJudgement& judgement) {
  std::vector<std::string> facts;
  if (judgement.rank_correlation) facts.push_back(fmt::format("rank correlation {:.2f}", *judgement.rank_correlation));
  if (judgement.told_apart)
    facts.push_back(fmt::format("{:.2f} of pairs that the measurements tell apart", *judgement.told_apart));
  if (judgement.median_error)
    facts.push_back(fmt::format("median error {} %", ReadableNumber(100 * *judgement.median_error, 0)));
  return fmt::format("{}", fmt::join(facts, ", "));
}

// How well the proxy does; empty where nothing can be said.
std::string ProxyAgainstTarget(const OptimizeResult& result) {
  const std::string facts = Facts(result.proxy_judgement);
  std::string text = facts.empty() ? facts : "\n  proxy against target: " + facts;
  if (result.in_context) text += "\n  with op times taken from other measured plans: " + Facts(*result.in_context);
  return text;
}

}  // namespace

std::string ResultText(const OptimizeResult& result) {
  std::string text = fmt::format("{}: {} ops on {}, target {}\n\n", Escaped(result.graph.name()),
                                 result.graph.num_ops(), Escaped(result.machine.name), Escaped(result.target));
  text += Table(result);
  text += Traded(result);
  auto out = std::back_inserter(text);
  for (const BaselineResult& baseline : result.baselines) {
    if (baseline.candidate.plan == result.best.plan)
      fmt::format_to(out, "\n  no plan beats {} ({})", Escaped(baseline.name), baseline.meaning);
  }
  fmt::format_to(out, "\n  {} plans proposed, {} measured", result.proposed, result.candidates.size());
  if (result.recalled > 0) fmt::format_to(out, " ({} of them by an earlier run)", result.recalled);
  fmt::format_to(out, "; planning took {}", ReadableSeconds(result.planning_seconds));
  if (result.pays_back_after_runs) {
    fmt::format_to(out, " and pays back after {} runs", ReadableNumber(*result.pays_back_after_runs, 0));
  }
  if (result.target_indifferent)
    text += "\n  every plan that was measured takes the same time: the target makes no difference between them";
  fmt::format_to(out, "\n  no plan of its groups takes less than {} by the proxy: the best is at most {} % above that",
                 ReadableSeconds(result.proven_bound_seconds),
                 ReadableNumber(100 * Gap(result.best.proxy_seconds, result.proven_bound_seconds), 1));
  if (result.best.fragility)
    fmt::format_to(out, "\n  where devices run whatever is ready first the plan takes {} times as long",
                   ReadableNumber(*result.best.fragility, 3));
  text += ProxyAgainstTarget(result);
  if (result.transfer_fit && result.transfer_fit->guess != TransferGuess{}) {
    constexpr double kMegabyte = 1e6;
    fmt::format_to(out, "\n  transfers seem to take {} and {} a megabyte more than the machine file says",
                   ReadableSeconds(result.transfer_fit->guess.seconds),
                   ReadableSeconds(kMegabyte * result.transfer_fit->guess.seconds_per_byte));
  }
  if (result.disturbed) text += "\n  other processes used these processors meanwhile: take the times with care";
  text += "\n";
  for (const std::string& warning : result.warnings) text += "  warning: " + Escaped(warning) + "\n";
  return text;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "millrace/report/account.h"
#include "millrace/simulate/bounds.h"

namespace millrace {
namespace {

std::string Line(const std::string& name, const Candidate& candidate, const std::string& ratio) {
  const std::string median = candidate.target_seconds ? ReadableSeconds(*candidate.target_seconds) : "failed";
  const std::string least = candidate.times.empty()
                                ? "-"
                                : ReadableSeconds(*std::min_element(candidate.times.begin(), candidate.times.end()));
  return fmt::format("  {:<34} {:>11} {:>11} {:>11}  {}\n", name, median, least,
                     ReadableSeconds(candidate.proxy_seconds), ratio);
}

}  // namespace

std::string ResultText(const OptimizeResult& result) {
  std::string text = fmt::format("{}: {} ops on {}, target {}\n\n  {:<34} {:>11} {:>11} {:>11}  {}\n",
                                 result.graph.name(), result.graph.num_ops(), result.machine.name, result.target,
                                 "plan", "median", "fastest", "proxy", "best is faster by (95 %)");
  text += Line(fmt::format("best ({}, fusion {})", result.best.method, result.best.fusion), result.best, "");
  for (const BaselineResult& baseline : result.baselines) {
    std::string ratio;
    if (baseline.ratio.second > 0)
      ratio = fmt::format("{:.2f}x .. {:.2f}x", baseline.ratio.first, baseline.ratio.second);
    text += Line(baseline.name, baseline.candidate, ratio);
  }
  auto out = std::back_inserter(text);
  fmt::format_to(out, "\n  {} plans proposed, {} measured", result.proposed, result.candidates.size());
  if (result.recalled > 0) fmt::format_to(out, " ({} of them by an earlier run)", result.recalled);
  fmt::format_to(out, "; planning took {}", ReadableSeconds(result.planning_seconds));
  if (result.pays_back_after_runs) {
    fmt::format_to(out, " and pays back after {:.0f} runs", *result.pays_back_after_runs);
  }
  fmt::format_to(
      out, "\n  no plan of its groups takes less than {} by the proxy: the best is at most {:.1f} % above that",
      ReadableSeconds(result.proven_bound_seconds), 100 * Gap(result.best.proxy_seconds, result.proven_bound_seconds));
  if (result.best.fragility)
    fmt::format_to(out, "\n  where devices run whatever is ready first the plan takes {:.3f} times as long",
                   *result.best.fragility);
  if (result.proxy_rank_correlation)
    fmt::format_to(out, "\n  proxy against target: rank correlation {:.2f}", *result.proxy_rank_correlation);
  if (result.proxy_median_error) fmt::format_to(out, ", median error {:.0f} %", 100 * *result.proxy_median_error);
  if (result.transfer_fit && result.transfer_fit->guess != TransferGuess{}) {
    fmt::format_to(out, "\n  transfers seem to take {:.3g} s and {:.3g} s a byte more than the machine file says",
                   result.transfer_fit->guess.seconds, result.transfer_fit->guess.seconds_per_byte);
  }
  if (result.disturbed) text += "\n  other processes used these processors meanwhile: take the times with care";
  text += "\n";
  for (const std::string& warning : result.warnings) text += "  warning: " + warning + "\n";
  return text;
}

}  // namespace millrace

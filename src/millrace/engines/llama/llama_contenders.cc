// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/llama/llama_contenders.h"

#include <fmt/format.h>

#include <algorithm>

#include "millrace/engines/llama/split_planner.h"

namespace millrace {
namespace {

LlamaContender Contender(const SplitProblem& problem, const std::vector<LlamaDevice>& devices, std::string method,
                         LayerSplit split) {
  LlamaContender contender;
  contender.method = std::move(method);
  contender.words = WordsFor(split, devices);
  contender.predicted = TimesOf(problem, split);
  contender.split = std::move(split);
  return contender;
}

std::optional<LayerSplit> FastestAlone(const SplitProblem& problem) {
  std::optional<LayerSplit> fastest;
  for (std::size_t host = 0; host < problem.hosts.size(); ++host) {
    LayerSplit alone = {{static_cast<int>(host), 0, static_cast<int>(problem.parts.size())}};
    if (!Fits(problem, alone)) continue;
    if (!fastest || TimesOf(problem, alone).request < TimesOf(problem, *fastest).request) fastest = std::move(alone);
  }
  return fastest;
}

}  // namespace

std::vector<double> SpeedsOf(const SplitProblem& problem) {
  SplitProblem whole = problem;
  whole.pipelined = false;
  std::vector<double> speeds;
  for (std::size_t host = 0; host < problem.hosts.size(); ++host) {
    const LayerSplit alone = {{static_cast<int>(host), 0, static_cast<int>(problem.parts.size())}};
    const double seconds = TimesOf(whole, alone).request;
    speeds.push_back(seconds > 0 ? 1 / seconds : 1);
  }
  return speeds;
}

std::vector<LlamaContender> MakeContenders(const SplitProblem& problem, const std::vector<LlamaDevice>& devices,
                                           int top_k) {
  std::vector<LlamaContender> contenders;
  const auto known = [&contenders](const LayerSplit& split) {
    return std::any_of(contenders.begin(), contenders.end(),
                       [&split](const LlamaContender& other) { return other.split == split; });
  };
  LlamaContender own;
  own.method = "default";
  own.words = DefaultWords(devices);
  own.baseline = true;
  contenders.push_back(std::move(own));
  const auto add_baseline = [&](const char* method, const LayerSplit& split) {
    if (!Fits(problem, split) || known(split)) return;
    contenders.push_back(Contender(problem, devices, method, split));
    contenders.back().baseline = true;
  };
  if (const std::optional<LayerSplit> alone = FastestAlone(problem)) add_baseline("fastest alone", *alone);
  add_baseline("by speed", ProportionalSplit(problem, SpeedsOf(problem)));

  std::vector<PlannedSplit> planned = BestSplits(problem);
  if (planned.empty()) return contenders;
  const std::size_t best = std::min(planned.size(), static_cast<std::size_t>(top_k));
  for (std::size_t i = 0; i < best; ++i) {
    for (LayerSplit& neighbour : NeighboursOf(problem, planned[i].split)) {
      PlannedSplit near;
      near.times = TimesOf(problem, neighbour);
      near.split = std::move(neighbour);
      planned.push_back(std::move(near));
    }
  }
  std::stable_sort(planned.begin(), planned.end(),
                   [](const PlannedSplit& a, const PlannedSplit& b) { return a.times.request < b.times.request; });
  int taken = 0;
  for (PlannedSplit& plan : planned) {
    if (taken == top_k) break;
    if (known(plan.split)) continue;
    ++taken;
    contenders.push_back(
        Contender(problem, devices, taken == 1 ? "plan" : fmt::format("plan {}", taken), std::move(plan.split)));
  }
  return contenders;
}

std::vector<double> RequestTimes(const LlamaContender& contender, double generated_tokens) {
  const std::vector<double>&tokens = contender.token_seconds, &prompts = contender.prompt_seconds;
  std::size_t rounds = std::max(tokens.size(), prompts.size());
  if (!tokens.empty() && !prompts.empty()) rounds = std::min(tokens.size(), prompts.size());
  std::vector<double> times(rounds, 0);
  for (std::size_t i = 0; i < rounds; ++i) {
    if (i < tokens.size()) times[i] += generated_tokens * tokens[i];
    if (i < prompts.size()) times[i] += prompts[i];
  }
  return times;
}

}  // namespace millrace

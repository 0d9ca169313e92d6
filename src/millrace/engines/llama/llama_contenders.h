// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "millrace/engines/llama/layer_split.h"
#include "millrace/engines/llama/llama_device.h"

// Who runs in the race: what anybody would have tried, and the best few plans. Seconds.
namespace millrace {

struct LlamaContender {
  std::string method;  // "plan", "plan 2", ...; of the baselines "default", "by speed", "fastest alone"
  bool baseline = false;
  LlamaDevices words;  // for llama-bench
  LayerSplit split;    // empty for the default until its log has been read
  SplitTimes predicted;
  std::vector<double> token_seconds, prompt_seconds;  // one of each a round
  std::optional<double> target_seconds;               // median of the request; nothing where it failed
  std::string failure;
  bool over_memory = false;  // it ran, but takes more than it may; it cannot win
};

// The baselines, as far as they fit: llama.cpp's own split, one by the hosts' speeds in the order they were given, the
// fastest host alone. Then up to `top_k` plans by what they are predicted to take: the best of every set of hosts, and
// the neighbours of the first of these. No split twice; the default, whose split is llama.cpp's affair, stands for
// itself.
std::vector<LlamaContender> MakeContenders(const SplitProblem& problem, const std::vector<LlamaDevice>& devices,
                                           int top_k);

// A host's speed for the whole model, from which "by speed" is made: parts of the request's work per second.
std::vector<double> SpeedsOf(const SplitProblem& problem);

// The request's seconds, round by round.
std::vector<double> RequestTimes(const LlamaContender& contender, double generated_tokens);

}  // namespace millrace

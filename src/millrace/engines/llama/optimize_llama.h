// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "millrace/engines/llama/layer_split.h"
#include "millrace/engines/llama/llama_bench.h"
#include "millrace/engines/llama/llama_contenders.h"
#include "millrace/engines/llama/llama_device.h"
#include "millrace/engines/llama/rpc_probe.h"

// The whole way from a GGUF model and some hosts to a measured split: ask the hosts, measure how fast they are, plan,
// race the best few splits against what anybody would have tried. Seconds, bytes.
namespace millrace {

struct LlamaOptions {
  std::string program;               // llama-bench; FindLlamaBench
  std::vector<RpcEndpoint> hosts;    // at least one, none twice
  std::vector<double> memory_bytes;  // of each device instead of what it says is free; or none
  SplitUse use;
  int top_k = 3;                         // splits raced beside the baselines
  int rounds = 5;                        // of the race
  std::optional<double> time_limit;      // seconds for the whole run; the race then ends early
  double timeout_seconds = 600;          // for one run of llama-bench
  std::vector<std::string> bench_words;  // more for llama-bench
  RpcProbeLimits probe;
  std::string records;  // file that keeps what was measured; a second run goes on with it
};

struct LlamaResult {
  LanguageModel model;
  std::string model_path;
  std::string graph_hash;
  std::string build;                 // of llama.cpp
  std::vector<LlamaDevice> devices;  // hosts of the problem, in its order
  int recalled = 0;                  // plans whose times an earlier run had kept
  SplitProblem problem;
  LlamaBenchSetting setting;
  std::vector<LlamaContender> contenders;  // baselines first
  std::size_t best = 0;
  bool one_machine_is_faster = false;  // the best uses one device although several were given
  double lower_bound_seconds = 0;      // no split is predicted faster even where memory has no limit
  std::optional<double> proxy_rank_correlation;
  std::vector<std::string> warnings;
};

// Says what it does now.
using LlamaProgress = std::function<void(const std::string& stage, int done, int total)>;

// Throws WorkFailed: a host does not answer, the model does not fit (with the missing bytes), every run failed;
// InvalidInput for options nothing can be done with; Interrupted.
LlamaResult OptimizeLlama(const std::string& model_path, const LlamaOptions& options, const LlamaProgress& progress);

// The best split as a file, format "millrace.llama-plan" version 1 (docs/formats.md).
std::string LlamaPlanJson(const LlamaResult& result, const SplitUse& use);

}  // namespace millrace

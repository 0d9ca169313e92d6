// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "millrace/engines/llama/optimize_llama.h"
#include "millrace/verb.h"

// `optimize --target llama`: a GGUF model split over hosts with llama.cpp's RPC server.
namespace millrace::cli {

struct LlamaFlags {
  std::string hosts;
  std::string llama_bench;
  std::string words;  // more for llama-bench
  std::optional<double> context;
  LlamaOptions options;
};

// The flags of this target, in a group of their own.
void AddLlamaFlags(CLI::App& verb, LlamaFlags& flags);

// What the verb does for this target.
int RunOptimizeLlama(const CommandLine& line, const std::string& model, const std::string& output, LlamaFlags flags);

}  // namespace millrace::cli

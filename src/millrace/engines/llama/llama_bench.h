// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

// Running llama.cpp's llama-bench and reading what it prints. Seconds.
namespace millrace {

// The program: `given`, else $MILLRACE_LLAMA_BENCH, else llama-bench in PATH. Throws InvalidInput: none can be run.
std::string FindLlamaBench(const std::string& given);

// What stays the same in every run.
struct LlamaBenchSetting {
  std::string program;
  std::string model;
  int prompt_tokens = 0;       // 0: no prompt is measured
  int generated_tokens = 128;  // 0: nothing is generated
  int micro_batch = 512;
  std::vector<std::string> words;  // more, as the user wants them
  double timeout_seconds = 600;    // for loading the model and all repetitions
};

// Which devices, and how much of the model each gets.
struct LlamaDevices {
  std::vector<std::string> hosts;    // --rpc, in the order that names devices RPC0, RPC1, ...
  std::vector<std::string> devices;  // "RPC1", "RPC0", in the order of their layers; none: llama.cpp's own choice
  std::string tensor_split;          // "11.5/5.5"; empty: llama.cpp's own choice
  bool operator==(const LlamaDevices&) const = default;
};

struct LlamaBenchAnswer {
  std::vector<double> prompt_seconds;  // one for each repetition; none where no prompt was asked for
  std::vector<double> token_seconds;   // of one token, a mean over those generated
  std::string build;                   // "5a4cd6741 (6123)"
  // Where the log was asked for and has it:
  std::map<int, std::string> device_of_part;  // layers, and the output after them
  bool pipelined = false;                     // prompts are worked on by several devices at once
};

std::vector<std::string> LlamaBenchWords(const LlamaBenchSetting& setting, const LlamaDevices& devices, int repetitions,
                                         bool log);

// The same devices for llama-server, which separates them by commas.
std::string LlamaServerLine(const LlamaBenchSetting& setting, const LlamaDevices& devices, double context);

// Runs it. Throws MeasurementFailed, one line with what it said last: it cannot be started, ends otherwise than it
// should, takes too long, prints no times. Throws Interrupted.
LlamaBenchAnswer RunLlamaBench(const LlamaBenchSetting& setting, const LlamaDevices& devices, int repetitions,
                               bool log);

// Its parts, for tests. `output` is a JSON object a line, and `log` what it says on stderr with -v.
LlamaBenchAnswer ParseLlamaBench(const std::string& output, const std::string& log, const LlamaBenchSetting& setting);

}  // namespace millrace

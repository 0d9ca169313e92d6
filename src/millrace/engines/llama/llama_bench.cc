// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/llama/llama_bench.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/formats/json_lines.h"
#include "millrace/formats/text_lines.h"
#include "millrace/target/child_process.h"
#include "millrace/target/target.h"

namespace millrace {
namespace {

constexpr std::size_t kLogBytes = 8U << 20;

bool CanRun(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

// What went wrong, in the program's own words: the last line that sounds like it, or the last.
std::string LastWords(const std::string& text) {
  constexpr std::array<std::string_view, 7> kSigns = {"error",   "rror:",    "failed", "Failed",
                                                      "crashed", "mismatch", "unable"};
  std::string_view line, last, telling;
  for (TextLines lines(text); lines.Next(line);) {
    if (Trimmed(line).empty()) continue;
    last = line;
    for (const std::string_view sign : kSigns) {
      if (line.find(sign) != std::string_view::npos) telling = line;
    }
  }
  const std::string_view words = telling.empty() ? last : telling;
  constexpr std::size_t kMost = 200;
  return words.empty() ? "" : fmt::format("; it says '{}'", Shown(Trimmed(words), kMost));
}

std::string NameOf(const LlamaDevices& devices) {
  return fmt::format("llama-bench on {}", fmt::join(devices.hosts, ","));
}

// A word as a shell takes it.
std::string ShellWord(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// "load_tensors: layer  12 assigned to device RPC1, is_swa = 0"
void ReadLogLine(std::string_view line, LlamaBenchAnswer& answer) {
  constexpr std::string_view kLayer = "layer ", kAssigned = "assigned to device ";
  if (line.find("pipeline parallelism enabled") != std::string_view::npos) answer.pipelined = true;
  const std::size_t assigned = line.find(kAssigned);
  const std::size_t layer = line.find(kLayer);
  if (assigned == std::string_view::npos || layer == std::string_view::npos || layer > assigned) return;
  const std::size_t number = layer + kLayer.size();
  const std::optional<int> part = IdIn(Trimmed(line.substr(number, assigned - number)));
  std::string_view device = line.substr(assigned + kAssigned.size());
  device = Trimmed(device.substr(0, device.find(',')));
  if (part) answer.device_of_part[*part] = std::string(device);
}

std::vector<double> SecondsIn(const JsonPlace& test) {
  const JsonPlace samples = test.Member("samples_ns");
  std::vector<double> seconds;
  for (std::size_t i = 0; i < samples.Size(); ++i) {
    const double each = samples.Element(i).Number() * 1e-9;
    if (!(each >= kLeastTime) || each > kMostTime) samples.Element(i).Refuse("is no time that a run takes");
    seconds.push_back(each);
  }
  if (seconds.empty()) samples.Refuse("is empty");
  return seconds;
}

}  // namespace

std::string FindLlamaBench(const std::string& given) {
  const char* const named = std::getenv("MILLRACE_LLAMA_BENCH");
  const std::string wanted = !given.empty() ? given : named != nullptr ? named : "";
  if (!wanted.empty()) {
    if (!CanRun(wanted)) {
      throw InvalidInput(fmt::format("{}: '{}' is no program that can be run",
                                     given.empty() ? "$MILLRACE_LLAMA_BENCH" : "--llama-bench", Shown(wanted, 200)));
    }
    return wanted;
  }
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::filesystem::path file = std::filesystem::path(rest.substr(0, colon)) / "llama-bench";
    if (CanRun(file)) return file.string();
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  }
  throw InvalidInput(
      "llama-bench is not in PATH; build llama.cpp with -DGGML_RPC=ON and name it: --llama-bench FILE, or "
      "$MILLRACE_LLAMA_BENCH");
}

std::vector<std::string> LlamaBenchWords(const LlamaBenchSetting& setting, const LlamaDevices& devices, int repetitions,
                                         bool log) {
  std::vector<std::string> words = {
      setting.program, "-m", setting.model, "--rpc", fmt::format("{}", fmt::join(devices.hosts, ",")), "-ngl", "999"};
  if (!devices.devices.empty()) {
    words.insert(words.end(), {"-dev", fmt::format("{}", fmt::join(devices.devices, "/"))});
  }
  if (!devices.tensor_split.empty()) words.insert(words.end(), {"-ts", devices.tensor_split});
  words.insert(words.end(),
               {"-p", std::to_string(setting.prompt_tokens), "-n", std::to_string(setting.generated_tokens), "-ub",
                std::to_string(setting.micro_batch), "-r", std::to_string(repetitions), "-o", "jsonl"});
  if (log) words.emplace_back("-v");
  words.insert(words.end(), setting.words.begin(), setting.words.end());
  return words;
}

std::string LlamaServerLine(const LlamaBenchSetting& setting, const LlamaDevices& devices, double context) {
  std::string line =
      fmt::format("llama-server -m {} --rpc {} -ngl 999", ShellWord(setting.model), fmt::join(devices.hosts, ","));
  if (!devices.devices.empty()) line += fmt::format(" --device {}", fmt::join(devices.devices, ","));
  if (!devices.tensor_split.empty()) line += " --tensor-split " + devices.tensor_split;
  line += fmt::format(" --ubatch-size {} --ctx-size {:.0f}", setting.micro_batch, context);
  for (const std::string& word : setting.words) line += " " + ShellWord(word);
  return line;
}

LlamaBenchAnswer ParseLlamaBench(const std::string& output, const std::string& log, const LlamaBenchSetting& setting) {
  LlamaBenchAnswer answer;
  ReadJsonLines(output, "what llama-bench printed", [&answer](const JsonPlace& test) {
    const double prompt = test.Member("n_prompt").Cost(), generated = test.Member("n_gen").Cost();
    answer.build = fmt::format("{} ({})", test.Member("build_commit").Text(), test.Member("build_number").Cost());
    std::vector<double> seconds = SecondsIn(test);
    if (prompt > 0 && generated == 0) answer.prompt_seconds = seconds;
    if (generated > 0 && prompt == 0) {
      for (double& each : seconds) each /= generated;
      answer.token_seconds = seconds;
    }
  });
  if (answer.prompt_seconds.empty() && setting.prompt_tokens > 0)
    throw InvalidInput("llama-bench printed no time for the prompt");
  if (answer.token_seconds.empty() && setting.generated_tokens > 0)
    throw InvalidInput("llama-bench printed no time for generated tokens");
  std::string_view line;
  for (TextLines lines(log); lines.Next(line);) ReadLogLine(line, answer);
  return answer;
}

LlamaBenchAnswer RunLlamaBench(const LlamaBenchSetting& setting, const LlamaDevices& devices, int repetitions,
                               bool log) {
  ChildLimits limits;
  limits.seconds = setting.timeout_seconds;
  limits.kept_bytes = kLogBytes;
  const ChildResult result = RunChild(LlamaBenchWords(setting, devices, repetitions, log), limits);
  std::string problem;
  switch (result.ending) {
    case ChildEnding::kNotStarted:
      problem = fmt::format("cannot be started: {}", std::strerror(result.code));
      break;
    case ChildEnding::kTimedOut:
      problem = fmt::format("did not end within {:g} seconds and was killed (--llama-timeout)", limits.seconds);
      break;
    case ChildEnding::kTooMuchOutput:
      problem = fmt::format("wrote more than {} bytes and was killed", limits.output_bytes);
      break;
    case ChildEnding::kKilled:
      problem = fmt::format("was killed by signal {} ({})", result.code, strsignal(result.code));
      break;
    case ChildEnding::kExited:
      if (result.code != 0) problem = fmt::format("ended with exit status {}", result.code);
      break;
  }
  if (!problem.empty())
    throw MeasurementFailed(fmt::format("{} {}{}", NameOf(devices), problem, LastWords(result.errors)));
  try {
    return ParseLlamaBench(result.output, result.errors, setting);
  } catch (const InvalidInput& wrong) {
    throw MeasurementFailed(fmt::format("{}: {}{}", NameOf(devices), wrong.what(), LastWords(result.errors)));
  }
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize_llama.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "command_line/limits.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/planning/deadline.h"
#include "millrace/report/progress_bar.h"
#include "millrace/report/readable.h"
#include "millrace/report/write.h"
#include "millrace/target/command_target.h"
#include "millrace/target/statistics.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMostTokens = 1 << 24;

std::vector<RpcEndpoint> EndpointsIn(const std::string& hosts) {
  if (hosts.empty()) throw InvalidInput("--target llama needs --hosts HOST:PORT,HOST:PORT, where RPC servers listen");
  std::vector<RpcEndpoint> endpoints;
  std::set<std::string> seen;
  std::size_t begin = 0;
  while (begin <= hosts.size()) {
    const std::size_t comma = std::min(hosts.find(',', begin), hosts.size());
    endpoints.push_back(ParseRpcEndpoint(hosts.substr(begin, comma - begin)));
    if (!seen.insert(endpoints.back().text).second)
      throw InvalidInput("--hosts: '" + endpoints.back().text + "' is there twice");
    begin = comma + 1;
  }
  return endpoints;
}

double TokensPerSecond(const std::vector<double>& seconds) { return seconds.empty() ? 0 : 1 / Median(seconds); }

double PromptRate(const LlamaContender& contender, const SplitUse& use) {
  return contender.prompt_seconds.empty() ? 0 : use.prompt_tokens / Median(contender.prompt_seconds);
}

Json ContenderJson(const LlamaResult& result, const LlamaContender& contender, const SplitUse& use) {
  Json stages = Json::array();
  for (const SplitStage& stage : contender.split) {
    stages.push_back({{"host", NameOf(result.devices[static_cast<std::size_t>(stage.host)])},
                      {"begin", stage.begin},
                      {"end", stage.end}});
  }
  const bool predicted = !contender.split.empty();
  Json json{{"method", contender.method},
            {"proxy_seconds", predicted ? Json(contender.predicted.request) : Json()},
            {"target_seconds", contender.target_seconds ? Json(*contender.target_seconds) : Json()},
            {"times", RequestTimes(contender, use.generated_tokens)},
            {"tokens_per_second", TokensPerSecond(contender.token_seconds)},
            {"prompt_tokens_per_second", PromptRate(contender, use)},
            {"stages", stages},
            {"devices", contender.words.devices},
            {"tensor_split", contender.words.tensor_split}};
  if (contender.over_memory) json["over_memory"] = true;
  if (!contender.failure.empty()) json["failure"] = contender.failure;
  return json;
}

// After so many requests the time that planning took is made up for, against llama.cpp's default.
Json PaysBackAfter(const LlamaResult& result, double planning_seconds) {
  const std::optional<double> own = result.contenders.front().target_seconds;
  const double best = *result.contenders[result.best].target_seconds;
  return own && *own > best ? Json(planning_seconds / (*own - best)) : Json();
}

Json ResultOf(const LlamaResult& result, const SplitUse& use, double planning_seconds) {
  const LlamaContender& best = result.contenders[result.best];
  Json hosts = Json::array(), baselines = Json::object(), candidates = Json::array();
  for (std::size_t i = 0; i < result.devices.size(); ++i) {
    const SplitHost& host = result.problem.hosts[i];
    hosts.push_back({{"name", NameOf(result.devices[i])},
                     {"memory_bytes", host.memory_bytes},
                     {"seconds_per_byte", host.seconds_per_byte},
                     {"seconds_per_flop", host.seconds_per_flop},
                     {"round_trip_seconds", host.round_trip_seconds},
                     {"bandwidth", result.devices[i].bandwidth}});
  }
  for (const LlamaContender& contender : result.contenders) {
    if (contender.baseline)
      baselines[contender.method] = contender.target_seconds ? Json(*contender.target_seconds) : Json();
    candidates.push_back(ContenderJson(result, contender, use));
  }
  return {{"graph", result.model.name.empty() ? result.model.architecture : result.model.name},
          {"graph_hash", result.graph_hash},
          {"target", "llama"},
          {"build", result.build},
          {"layers", result.model.layers()},
          {"prompt_tokens", use.prompt_tokens},
          {"generated_tokens", use.generated_tokens},
          {"context_tokens", use.context_tokens},
          {"pipelined", result.problem.pipelined},
          {"hosts", hosts},
          {"best", ContenderJson(result, best, use)},
          {"baselines", baselines},
          {"candidates", candidates},
          {"lower_bound_seconds", result.lower_bound_seconds},
          {"proxy_rank_correlation", result.proxy_rank_correlation ? Json(*result.proxy_rank_correlation) : Json()},
          {"pays_back_after_runs", PaysBackAfter(result, planning_seconds)},
          {"planning_seconds", planning_seconds},
          {"one_machine_is_faster", result.one_machine_is_faster},
          {"command", LlamaServerLine(result.setting, best.words, use.context_tokens)},
          {"plans_recalled", result.recalled},
          {"warnings", result.warnings}};
}

void PrintHosts(const LlamaResult& result) {
  Print("\n  {:<24}{:>12}{:>14}{:>14}{:>13}{:>14}\n", "host", "memory", "decode", "prefill", "round trip", "bandwidth");
  for (std::size_t i = 0; i < result.devices.size(); ++i) {
    const SplitHost& host = result.problem.hosts[i];
    Print("  {:<24}{:>9.2f} GB{:>9.2f} GB/s{:>7.1f} Gflop/s{:>13}{:>9.1f} MB/s\n", NameOf(result.devices[i]),
          host.memory_bytes * 1e-9, host.seconds_per_byte > 0 ? 1e-9 / host.seconds_per_byte : 0.0,
          host.seconds_per_flop > 0 ? 1e-9 / host.seconds_per_flop : 0.0, ReadableSeconds(host.round_trip_seconds),
          result.devices[i].bandwidth * 1e-6);
  }
}

void PrintContenders(const LlamaResult& result, const SplitUse& use) {
  Print("\n  {:<16}{:>12}{:>12}{:>11}{:>11}  {}\n", "split", "predicted", "measured", "decode/s", "prompt/s",
        "layers and output");
  for (const LlamaContender& contender : result.contenders) {
    const bool failed = !contender.failure.empty();
    Print("  {:<16}{:>12}{:>12}{:>11.2f}{:>11.2f}  {}\n", contender.method,
          contender.split.empty() ? "?" : ReadableSeconds(contender.predicted.request),
          contender.over_memory      ? "over memory"
          : contender.target_seconds ? ReadableSeconds(*contender.target_seconds)
                                     : "failed",
          TokensPerSecond(contender.token_seconds), PromptRate(contender, use),
          failed                    ? contender.failure
          : contender.split.empty() ? "as llama.cpp likes"
                                    : NameOf(contender.split, result.devices));
  }
}

void PrintResult(const LlamaResult& result, const SplitUse& use) {
  Print(
      "{}: {} layers and an output, {:.3f} GB; {:.0f} tokens of prompt, {:.0f} generated; llama.cpp {}\n",
      result.model.name.empty() ? result.model.architecture : result.model.name, result.model.layers(),
      [&result] {
        double bytes = 0;
        for (const ModelPart& part : result.model.parts) bytes += part.weight_bytes;
        return bytes * 1e-9;
      }(),
      use.prompt_tokens, use.generated_tokens, result.build);
  PrintHosts(result);
  PrintContenders(result, use);
  const LlamaContender& best = result.contenders[result.best];
  Print("\n  best: {}, {}", best.method, ReadableSeconds(*best.target_seconds));
  const LlamaContender& own = result.contenders.front();
  if (result.best != 0 && own.target_seconds && !own.over_memory)
    Print(", {:.2f} x llama.cpp's default", *own.target_seconds / *best.target_seconds);
  Print("\n");
  if (result.one_machine_is_faster) {
    Print("  One machine is faster: {} alone beats every split over several.\n",
          NameOf(result.devices[static_cast<std::size_t>(best.split.front().host)]));
  }
  Print("\n  {}\n", LlamaServerLine(result.setting, best.words, use.context_tokens));
}

}  // namespace

void AddLlamaFlags(CLI::App& verb, LlamaFlags& flags) {
  LlamaOptions& options = flags.options;
  verb.option_defaults()->group("Target llama");
  verb.add_option("--hosts", flags.hosts,
                  "HOST:PORT,HOST:PORT of llama.cpp RPC servers. They have no authentication: loopback or a private "
                  "network only");
  verb.add_option("--llama-bench", flags.llama_bench, "llama.cpp's llama-bench ($MILLRACE_LLAMA_BENCH, or in PATH)");
  verb.add_option("--prompt", options.use.prompt_tokens, "Tokens of the prompt of a request")
      ->check(NumberFrom(0, kMostTokens))
      ->capture_default_str();
  verb.add_option("--generate", options.use.generated_tokens, "Tokens generated in a request")
      ->check(NumberFrom(0, kMostTokens))
      ->capture_default_str();
  verb.add_option("--context", flags.context, "Tokens that memory is kept for (prompt and generated)")
      ->check(NumberFrom(1, kMostTokens));
  verb.add_option("--micro-batch", options.use.micro_batch, "Tokens of a prompt worked on at once")
      ->check(NumberFrom(1, kMostTokens))
      ->capture_default_str();
  verb.add_option("--host-memory", options.memory_bytes,
                  "Bytes to use of each device, with commas between, instead of what it says is free")
      ->delimiter(',')
      ->check(AboveZero());
  verb.add_option("--splits", options.top_k, "Planned splits raced against the obvious ones")
      ->check(WholeFrom(1, 1000))
      ->capture_default_str();
  verb.add_option("--rounds", options.rounds, "Rounds of the race")->check(WholeFrom(1, 10000))->capture_default_str();
  verb.add_option("--llama-timeout", options.timeout_seconds, "Seconds for one run of llama-bench, loading included")
      ->check(AboveZero())
      ->capture_default_str();
  verb.add_option("--llama-args", flags.words, "More words for llama-bench and the command printed: '-t 8 -fa on'");
  verb.option_defaults()->group("Options");
}

int RunOptimizeLlama(const CommandLine& line, const std::string& model, const std::string& output, LlamaFlags flags) {
  const Deadline clock;
  LlamaOptions& options = flags.options;
  options.hosts = EndpointsIn(flags.hosts);
  if (!model.ends_with(".gguf")) throw InvalidInput(model + ": --target llama plans GGUF models");
  SplitUse& use = options.use;
  if (use.prompt_tokens + use.generated_tokens <= 0)
    throw InvalidInput("--prompt and --generate: a request without tokens takes no time; give one of them");
  for (double* const tokens : {&use.prompt_tokens, &use.generated_tokens, &use.micro_batch})
    *tokens = std::floor(*tokens);
  use.context_tokens = flags.context.value_or(use.prompt_tokens + use.generated_tokens);
  if (use.context_tokens < use.prompt_tokens + use.generated_tokens)
    throw InvalidInput("--context: is shorter than --prompt and --generate together");
  if (!flags.words.empty()) options.bench_words = SplitCommand(flags.words).words;
  options.program = FindLlamaBench(flags.llama_bench);
  PrepareOutputFolder(output);
  const std::filesystem::path folder = output;
  options.records = (folder / "records.jsonl").string();
  ProgressBar bar(line.common.quiet);
  const LlamaResult result = OptimizeLlama(
      model, options, [&bar](const std::string& stage, int done, int total) { bar.Show(stage, done, total); });
  bar.Clear();
  if (!line.common.quiet) {
    for (const std::string& warning : result.warnings) Warn(warning);
  }
  WriteFileAtomically((folder / "plan.json").string(), LlamaPlanJson(result, use));
  const Json json = ResultOf(result, use, clock.Elapsed());
  WriteFileAtomically((folder / "result.json").string(),
                      json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  if (line.common.json) {
    PrintJson(json);
    return 0;
  }
  PrintResult(result, use);
  Print("\n  plan    {}/plan.json\n", output);
  return 0;
}

}  // namespace millrace::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <numeric>

#include "millrace/engines/llama/optimize_llama.h"
#include "millrace/formats/json_write.h"

namespace millrace {
namespace {

void AppendDevice(std::string& out, const LlamaResult& result, std::size_t index) {
  const LlamaDevice& device = result.devices[index];
  const SplitHost& host = result.problem.hosts[index];
  out += '{';
  AppendJsonMember(out, "endpoint", device.endpoint);
  AppendJsonMember(out, "device", device.number);
  AppendJsonMember(out, "memory_bytes", host.memory_bytes);
  AppendJsonMember(out, "seconds_per_byte", host.seconds_per_byte);
  AppendJsonMember(out, "seconds_per_flop", host.seconds_per_flop);
  AppendJsonMember(out, "round_trip_seconds", host.round_trip_seconds);
  AppendJsonMember(out, "bandwidth", device.bandwidth);
  out += '}';
}

}  // namespace

std::string LlamaPlanJson(const LlamaResult& result, const SplitUse& use) {
  const LlamaContender& best = result.contenders[result.best];
  std::string out = "{";
  AppendJsonMember(out, "format", "millrace.llama-plan");
  AppendJsonMember(out, "version", 1);
  AppendJsonMember(out, "model", result.model_path);
  AppendJsonMember(out, "graph_hash", result.graph_hash);
  AppendJsonMember(out, "build", result.build);
  AppendJsonMember(out, "prompt_tokens", use.prompt_tokens);
  AppendJsonMember(out, "generated_tokens", use.generated_tokens);
  AppendJsonMember(out, "context_tokens", use.context_tokens);
  AppendJsonMember(out, "micro_batch", use.micro_batch);
  AppendJsonMember(out, "method", best.method);
  AppendJsonName(out, "hosts");
  std::vector<std::size_t> indices(result.devices.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  AppendJsonLines(out, indices, [&result](std::string& line, std::size_t i) { AppendDevice(line, result, i); });
  AppendJsonName(out, "stages");
  AppendJsonLines(out, best.split, [](std::string& line, const SplitStage& stage) {
    line += '{';
    AppendJsonMember(line, "host", stage.host);
    AppendJsonMember(line, "begin", stage.begin);
    AppendJsonMember(line, "end", stage.end);
    line += '}';
  });
  AppendJsonMember(out, "tensor_split", best.words.tensor_split);
  AppendJsonMember(out, "proxy_seconds", best.predicted.request);
  AppendJsonMember(out, "target_seconds", best.target_seconds.value_or(0));
  AppendJsonMember(out, "command", LlamaServerLine(result.setting, best.words, use.context_tokens));
  return out + "}\n";
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/llama/layer_split.h"

#include <algorithm>
#include <cmath>

namespace millrace {
namespace {

constexpr double kValueBytes = 4;  // what passes between parts is f32

double LinkSeconds(const SplitHost& host, double bytes) {
  return host.round_trip_seconds + bytes * host.seconds_per_link_byte;
}

bool IsLast(const SplitProblem& problem, const SplitStage& stage) {
  return stage.end == static_cast<int>(problem.parts.size());
}

const SplitHost& HostOf(const SplitProblem& problem, const SplitStage& stage) {
  return problem.hosts[static_cast<std::size_t>(stage.host)];
}

template <typename Member>
double SumOver(const SplitProblem& problem, const SplitStage& stage, Member member) {
  double sum = 0;
  for (int part = stage.begin; part < stage.end; ++part) sum += problem.parts[static_cast<std::size_t>(part)].*member;
  return sum;
}

}  // namespace

SplitProblem SplitProblemOf(const LanguageModel& model, const SplitUse& use) {
  SplitProblem problem;
  const double micro_batch = std::max(1.0, std::min(use.micro_batch, std::max(use.prompt_tokens, 1.0)));
  problem.generated_tokens = use.generated_tokens;
  problem.micro_batches = std::ceil(use.prompt_tokens / micro_batch);
  problem.token_bytes = model.embedding_length * kValueBytes;
  problem.micro_batch_bytes = micro_batch * problem.token_bytes;
  problem.logit_bytes = model.vocabulary * kValueBytes;
  // What llama.cpp reserves for a micro-batch on its way through a layer.
  problem.working_bytes = use.micro_batch * kValueBytes * (2 * model.feed_forward_length + 8 * model.embedding_length);
  for (const ModelPart& part : model.parts) {
    SplitPart costs;
    const bool output = &part == &model.parts.back();
    costs.memory_bytes = part.weight_bytes + part.cache_bytes * use.context_tokens;
    // And on the output for the logits of a whole micro-batch.
    if (output) costs.memory_bytes += use.micro_batch * problem.logit_bytes;
    const double seen = use.prompt_tokens + use.generated_tokens / 2;
    costs.decode_bytes = part.read_bytes + part.cache_bytes * seen;
    const double tokens = output ? 1 : micro_batch;  // of a prompt only the last token's output is made
    costs.prefill_flops = tokens * (part.flops + part.flops_of_context * use.prompt_tokens / 2);
    problem.parts.push_back(costs);
  }
  return problem;
}

double DecodeSeconds(const SplitProblem& problem, const SplitStage& stage) {
  const SplitHost& host = HostOf(problem, stage);
  const double out = IsLast(problem, stage) ? problem.logit_bytes : problem.token_bytes;
  return host.seconds_per_byte * SumOver(problem, stage, &SplitPart::decode_bytes) +
         LinkSeconds(host, problem.token_bytes + out);
}

double PrefillSeconds(const SplitProblem& problem, const SplitStage& stage) {
  const SplitHost& host = HostOf(problem, stage);
  const double out = IsLast(problem, stage) ? problem.logit_bytes : problem.micro_batch_bytes;
  return host.seconds_per_flop * SumOver(problem, stage, &SplitPart::prefill_flops) +
         LinkSeconds(host, problem.micro_batch_bytes + out);
}

SplitTimes TimesOf(const SplitProblem& problem, const LayerSplit& split) {
  SplitTimes times;
  double sum = 0, slowest = 0;
  for (const SplitStage& stage : split) {
    times.token += DecodeSeconds(problem, stage);
    const double seconds = PrefillSeconds(problem, stage);
    sum += seconds;
    slowest = std::max(slowest, seconds);
  }
  if (problem.micro_batches > 0)
    times.prompt = problem.pipelined ? sum + (problem.micro_batches - 1) * slowest : problem.micro_batches * sum;
  times.request = times.prompt + problem.generated_tokens * times.token;
  return times;
}

double StageBytes(const SplitProblem& problem, const SplitStage& stage) {
  return problem.working_bytes + SumOver(problem, stage, &SplitPart::memory_bytes);
}

bool Fits(const SplitProblem& problem, const LayerSplit& split) {
  return std::all_of(split.begin(), split.end(), [&problem](const SplitStage& stage) {
    return StageBytes(problem, stage) <= HostOf(problem, stage).memory_bytes;
  });
}

double MissingBytes(const SplitProblem& problem) {
  // How far each set of hosts gets, in its best order: further is never worse.
  const std::size_t sets = std::size_t{1} << problem.hosts.size();
  std::vector<std::size_t> reach(sets, 0);
  for (std::size_t set = 0; set < sets; ++set) {
    for (std::size_t host = 0; host < problem.hosts.size(); ++host) {
      if ((set >> host & 1) == 0) continue;
      std::size_t end = reach[set ^ (std::size_t{1} << host)];
      double left = problem.hosts[host].memory_bytes - problem.working_bytes;
      while (end < problem.parts.size() && problem.parts[end].memory_bytes <= left)
        left -= problem.parts[end++].memory_bytes;
      reach[set] = std::max(reach[set], end);
    }
  }
  double missing = 0;
  for (std::size_t part = reach[sets - 1]; part < problem.parts.size(); ++part)
    missing += problem.parts[part].memory_bytes;
  return missing;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/llama/llama_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "millrace/target/target.h"

namespace millrace {
namespace {

// The names that times are kept under: all that they depend on.
std::string TokenTarget(const std::string& purpose, const LlamaBenchSetting& setting) {
  return fmt::format("llama:{} generate={} {}", purpose, setting.generated_tokens, fmt::join(setting.words, " "));
}

std::string PromptTarget(const std::string& purpose, const LlamaBenchSetting& setting) {
  return fmt::format("llama:{} prompt={} micro-batch={} {}", purpose, setting.prompt_tokens, setting.micro_batch,
                     fmt::join(setting.words, " "));
}

std::string KeyOf(const LlamaDevices& devices) {
  return fmt::format("{} {} {}", fmt::join(devices.hosts, ","), fmt::join(devices.devices, "/"), devices.tensor_split);
}

}  // namespace

LlamaRuns::LlamaRuns(std::string records, std::string graph_hash, std::string hosts)
    : records_(std::move(records)), graph_hash_(std::move(graph_hash)), hosts_(std::move(hosts)) {
  for (const Record& record : records_.all()) {
    if (record.graph_hash == graph_hash_ && record.machine_hash == hosts_) ++recalled_;
  }
}

LlamaTimes LlamaRuns::Known(const std::string& purpose, const LlamaBenchSetting& setting,
                            const LlamaDevices& devices) const {
  LlamaTimes times;
  const auto known = [this, &devices](const std::string& target) {
    const Record* const record = records_.Find(graph_hash_, hosts_, KeyOf(devices), target);
    return record == nullptr ? std::vector<double>() : record->measurement.times;
  };
  if (setting.generated_tokens > 0) times.token_seconds = known(TokenTarget(purpose, setting));
  if (setting.prompt_tokens > 0) times.prompt_seconds = known(PromptTarget(purpose, setting));
  return times;
}

LlamaBenchAnswer LlamaRuns::Run(const std::string& purpose, const LlamaBenchSetting& setting,
                                const LlamaDevices& devices, bool log, const std::string& method) {
  LlamaBenchAnswer answer;
  try {
    answer = RunLlamaBench(setting, devices, 1, log);
  } catch (const MeasurementFailed&) {
    answer = RunLlamaBench(setting, devices, 1, log);
  }
  const LlamaTimes known = Known(purpose, setting, devices);
  const auto with = [](std::vector<double> times, const std::vector<double>& more) {
    times.insert(times.end(), more.begin(), more.end());
    return times;
  };
  if (setting.generated_tokens > 0)
    Add(TokenTarget(purpose, setting), KeyOf(devices), with(known.token_seconds, answer.token_seconds), method);
  if (setting.prompt_tokens > 0)
    Add(PromptTarget(purpose, setting), KeyOf(devices), with(known.prompt_seconds, answer.prompt_seconds), method);
  return answer;
}

void LlamaRuns::Add(const std::string& target, const std::string& plan, const std::vector<double>& times,
                    const std::string& method) {
  Record record;
  record.graph_hash = graph_hash_;
  record.machine_hash = hosts_;
  record.plan_hash = plan;
  record.target = target;
  record.method = method;
  record.measurement.times = times;
  Summarise(&record.measurement);
  records_.Append(std::move(record));
}

}  // namespace millrace

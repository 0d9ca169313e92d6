// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/llama/optimize_llama.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "millrace/engines/llama/host_speeds.h"
#include "millrace/engines/llama/llama_runs.h"
#include "millrace/engines/llama/split_planner.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/formats/gguf.h"
#include "millrace/plan/hash.h"
#include "millrace/planning/deadline.h"
#include "millrace/target/statistics.h"
#include "millrace/target/target.h"

namespace millrace {
namespace {

constexpr int kSpeedRuns = 2;

// Times of the race are all taken in it, in turn with the others.
constexpr const char* kSpeedPurpose = "speed";
constexpr const char* kRacePurpose = "race";

// A host that does not answer any more. The others go on without it.
struct HostLost {
  std::string endpoint;
  std::string problem;
};

RpcProbe ProbeTwice(const RpcEndpoint& endpoint, const RpcProbeLimits& limits) {
  try {
    return ProbeRpc(endpoint, limits);
  } catch (const MeasurementFailed&) {
    return ProbeRpc(endpoint, limits);
  }
}

std::string Gigabytes(double bytes) { return fmt::format("{:.3f} GB", bytes * 1e-9); }

class Session {
 public:
  Session(const LlamaOptions& options, const LlamaProgress& progress, LlamaResult& result)
      : options_(options), progress_(progress), result_(result), deadline_(options.time_limit) {}

  void Run() {
    std::vector<RpcEndpoint> hosts = options_.hosts;
    while (true) {
      try {
        AskHosts(hosts);
        CheckMemory();
        MeasureSpeeds();
        Race();
        return;
      } catch (const HostLost& lost) {
        result_.warnings.push_back(lost.problem + "; the others go on without it");
        std::erase_if(hosts, [&lost](const RpcEndpoint& host) { return host.text == lost.endpoint; });
        if (hosts.empty()) throw WorkFailed(lost.problem + "; no host is left");
      }
    }
  }

 private:
  void AskHosts(const std::vector<RpcEndpoint>& hosts) {
    result_.devices.clear();
    int asked = 0;
    for (const RpcEndpoint& host : hosts) {
      progress_("ask", asked++, static_cast<int>(hosts.size()));
      RpcProbe probe;
      try {
        probe = ProbeTwice(host, options_.probe);
      } catch (const MeasurementFailed& failure) {
        throw WorkFailed(failure.what());
      }
      for (std::size_t i = 0; i < probe.devices.size(); ++i) {
        result_.devices.push_back({host.text, static_cast<int>(i), static_cast<int>(probe.devices.size()),
                                   probe.devices[i], probe.round_trip_seconds, probe.bandwidth});
      }
    }
    TakeGivenMemory(hosts.size() == options_.hosts.size());
    SplitProblem& problem = result_.problem;
    problem = SplitProblemOf(result_.model, options_.use);
    for (const LlamaDevice& device : result_.devices) {
      SplitHost host;
      host.memory_bytes = device.memory.free_bytes;
      host.round_trip_seconds = device.round_trip_seconds;
      host.seconds_per_link_byte = 1 / device.bandwidth;
      problem.hosts.push_back(host);
    }
    if (problem.hosts.size() > static_cast<std::size_t>(kMostSplitHosts))
      throw InvalidInput(fmt::format("--hosts: {} devices are more than the {} that are planned for exactly",
                                     problem.hosts.size(), kMostSplitHosts));
  }

  // What the user says a device may hold. The numbers are those of all hosts, so they stay with theirs when one is
  // lost.
  void TakeGivenMemory(bool all_hosts) {
    if (options_.memory_bytes.empty()) return;
    if (all_hosts) {
      if (options_.memory_bytes.size() != result_.devices.size()) {
        throw InvalidInput(fmt::format("--host-memory: {} numbers for {} devices", options_.memory_bytes.size(),
                                       result_.devices.size()));
      }
      for (std::size_t i = 0; i < result_.devices.size(); ++i)
        given_memory_[NameOf(result_.devices[i])] = options_.memory_bytes[i];
    }
    for (LlamaDevice& device : result_.devices) {
      const auto given = given_memory_.find(NameOf(device));
      if (given != given_memory_.end()) device.memory.free_bytes = given->second;
    }
  }

  void CheckMemory() const {
    const double missing = MissingBytes(result_.problem);
    if (missing == 0) return;
    double wanted = 0, offered = 0;
    for (const SplitPart& part : result_.problem.parts) wanted += part.memory_bytes;
    for (const SplitHost& host : result_.problem.hosts) offered += host.memory_bytes;
    throw WorkFailed(fmt::format(
        "{}: does not fit: its {} layers and output take {} with a context of {:.0f} tokens, the hosts have {} free "
        "(and "
        "each needs {} to work in); {} find no place: add a host, free memory, or shorten --context",
        Shown(result_.model_path, 200), result_.model.layers(), Gigabytes(wanted), options_.use.context_tokens,
        Gigabytes(offered), Gigabytes(result_.problem.working_bytes), Gigabytes(missing)));
  }

  // The runs remember by the hosts that are there, so each set of them has its own.
  LlamaRuns& Runs() {
    const std::string hosts = fmt::format("{}", fmt::join(DefaultWords(result_.devices).hosts, ","));
    auto& runs = runs_[hosts];
    if (!runs) {
      runs.emplace(options_.records, result_.graph_hash, hosts);
      result_.recalled += runs->recalled();
      result_.warnings.insert(result_.warnings.end(), runs->warnings().begin(), runs->warnings().end());
    }
    return *runs;
  }

  void MeasureSpeeds() {
    LlamaBenchSetting setting = result_.setting;
    setting.prompt_tokens = std::min(setting.prompt_tokens, setting.micro_batch);
    std::vector<MeasuredSplit> measured;
    const std::vector<LayerSplit> probes = SpeedProbes(result_.problem);
    const int total = static_cast<int>(probes.size()) * kSpeedRuns;
    for (int run = 0; run < kSpeedRuns; ++run) {
      for (std::size_t i = 0; i < probes.size(); ++i) {
        progress_("speeds", run * static_cast<int>(probes.size()) + static_cast<int>(i), total);
        const LlamaDevices words = WordsFor(probes[i], result_.devices);
        if (Count(Runs().Known(kSpeedPurpose, setting, words), setting) > run) continue;
        try {
          result_.build = Runs().Run(kSpeedPurpose, setting, words, false, "speed").build;
        } catch (const MeasurementFailed& failure) {
          LoseSilentHost(words, failure.what());
          throw WorkFailed(failure.what());
        }
      }
    }
    for (const LayerSplit& probe : probes) {
      const LlamaTimes times = Runs().Known(kSpeedPurpose, setting, WordsFor(probe, result_.devices));
      MeasuredSplit each;
      each.split = probe;
      if (!times.token_seconds.empty())
        each.token_seconds = *std::min_element(times.token_seconds.begin(), times.token_seconds.end());
      if (!times.prompt_seconds.empty())
        each.micro_batch_seconds = *std::min_element(times.prompt_seconds.begin(), times.prompt_seconds.end());
      measured.push_back(std::move(each));
    }
    FitSpeeds(measured, result_.problem);
  }

  // After a failed run: throws HostLost where one of its hosts does not answer.
  void LoseSilentHost(const LlamaDevices& words, const std::string& failure) const {
    for (const std::string& host : words.hosts) {
      const RpcEndpoint endpoint = ParseRpcEndpoint(host);
      try {
        ProbeTwice(endpoint, options_.probe);
      } catch (const MeasurementFailed& silent) {
        throw HostLost{host, silent.what()};
      }
    }
    // One that answers again but breaks every run of its own is no better.
    if (words.hosts.size() == 1 && result_.devices.size() > 1) throw HostLost{words.hosts.front(), failure};
  }

  static int Count(const LlamaTimes& times, const LlamaBenchSetting& setting) {
    std::size_t count = std::max(times.token_seconds.size(), times.prompt_seconds.size());
    if (setting.generated_tokens > 0) count = std::min(count, times.token_seconds.size());
    if (setting.prompt_tokens > 0) count = std::min(count, times.prompt_seconds.size());
    return static_cast<int>(count);
  }

  // llama.cpp says by its log how it splits by itself, and whether hosts work on prompts at the same time. Where this
  // was measured before, it is asked anew: one run more is no loss.
  void AskDefault(LlamaContender& own) {
    progress_("default split", 0, 1);
    try {
      const LlamaBenchAnswer answer = Runs().Run(kRacePurpose, result_.setting, own.words, true, own.method);
      result_.build = answer.build;
      result_.problem.pipelined = answer.pipelined;
      const int parts = static_cast<int>(result_.problem.parts.size());
      if (const auto split = SplitIn(answer, own.words, result_.devices, parts)) own.split = *split;
    } catch (const MeasurementFailed& failure) {
      LoseSilentHost(own.words, failure.what());
      own.failure = failure.what();
    }
  }

  void Race() {
    LlamaContender own = MakeContenders(result_.problem, result_.devices, 0).front();
    AskDefault(own);
    std::vector<LlamaContender> contenders = MakeContenders(result_.problem, result_.devices, options_.top_k);
    contenders.front() = own;
    if (!own.split.empty()) {
      contenders.front().predicted = TimesOf(result_.problem, own.split);
      contenders.front().over_memory = !Fits(result_.problem, own.split);
    }
    std::set<std::size_t> seen = {0};
    const int total = static_cast<int>(contenders.size()) * options_.rounds;
    for (int round = 0; round < options_.rounds; ++round) {
      if (round > 0 && deadline_.Passed()) break;
      for (std::size_t k = 0; k < contenders.size(); ++k) {
        const std::size_t i = round % 2 == 0 ? k : contenders.size() - 1 - k;
        progress_("race", round * static_cast<int>(contenders.size()) + static_cast<int>(k), total);
        RaceOnce(contenders[i], round, seen.insert(i).second);
      }
    }
    for (LlamaContender& contender : contenders) Judge(contender);
    Choose(std::move(contenders));
  }

  // The first run is watched: what llama.cpp makes of the words must be the split that was meant.
  void RaceOnce(LlamaContender& contender, int round, bool first) {
    if (!contender.failure.empty()) return;
    if (Count(Runs().Known(kRacePurpose, result_.setting, contender.words), result_.setting) > round) return;
    try {
      const LlamaBenchAnswer answer =
          Runs().Run(kRacePurpose, result_.setting, contender.words, first, contender.method);
      if (!first || answer.device_of_part.empty()) return;
      const int parts = static_cast<int>(result_.problem.parts.size());
      const auto made = SplitIn(answer, contender.words, result_.devices, parts);
      if (made && *made == contender.split) return;
      contender.failure = fmt::format("llama.cpp split otherwise than asked: {} instead of {}",
                                      made ? NameOf(*made, result_.devices) : "on other devices",
                                      NameOf(contender.split, result_.devices));
    } catch (const MeasurementFailed& failure) {
      LoseSilentHost(contender.words, failure.what());
      contender.failure = failure.what();
    }
  }

  void Judge(LlamaContender& contender) {
    if (!contender.failure.empty()) return;
    const LlamaTimes times = Runs().Known(kRacePurpose, result_.setting, contender.words);
    contender.token_seconds = times.token_seconds;
    contender.prompt_seconds = times.prompt_seconds;
    const std::vector<double> requests = RequestTimes(contender, options_.use.generated_tokens);
    if (!requests.empty()) contender.target_seconds = Median(requests);
  }

  void Choose(std::vector<LlamaContender> contenders) {
    std::vector<double> predicted, measured;
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const LlamaContender& contender = contenders[i];
      if (!contender.target_seconds) continue;
      if (!contender.over_memory && (!best || *contender.target_seconds < *contenders[*best].target_seconds)) best = i;
      if (contender.split.empty()) continue;
      predicted.push_back(contender.predicted.request);
      measured.push_back(*contender.target_seconds);
    }
    if (!best) {
      const auto failed = std::find_if(contenders.begin(), contenders.end(),
                                       [](const LlamaContender& contender) { return !contender.failure.empty(); });
      throw WorkFailed("every split that fits failed" +
                       (failed == contenders.end() ? "" : "; the first: " + failed->failure));
    }
    const double correlation = RankCorrelation(predicted, measured);
    if (std::isfinite(correlation)) result_.proxy_rank_correlation = correlation;
    result_.best = *best;
    result_.one_machine_is_faster = result_.devices.size() > 1 && contenders[*best].split.size() == 1;
    result_.contenders = std::move(contenders);
    SplitProblem roomy = result_.problem;
    for (SplitHost& host : roomy.hosts) host.memory_bytes = std::numeric_limits<double>::max();
    const std::vector<PlannedSplit> bound = BestSplits(roomy);
    if (!bound.empty()) result_.lower_bound_seconds = bound.front().times.request;
  }

  const LlamaOptions& options_;
  const LlamaProgress& progress_;
  LlamaResult& result_;
  Deadline deadline_;
  std::map<std::string, double> given_memory_;            // by device
  std::map<std::string, std::optional<LlamaRuns>> runs_;  // by hosts
};

}  // namespace

LlamaResult OptimizeLlama(const std::string& model_path, const LlamaOptions& options, const LlamaProgress& progress) {
  LlamaResult result;
  result.model_path = model_path;
  const GgufFile file = ReadGguf(model_path);
  try {
    result.model = LanguageModelOf(file);
  } catch (const InvalidInput& error) {
    throw error.InFile(model_path);
  }
  result.graph_hash = GraphHash(GraphOfLanguageModel(result.model, {}));
  result.setting.program = options.program;
  result.setting.model = model_path;
  result.setting.prompt_tokens = static_cast<int>(options.use.prompt_tokens);
  result.setting.generated_tokens = static_cast<int>(options.use.generated_tokens);
  result.setting.micro_batch = static_cast<int>(options.use.micro_batch);
  result.setting.words = options.bench_words;
  result.setting.timeout_seconds = options.timeout_seconds;
  Session(options, progress, result).Run();
  return result;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/llama/host_speeds.h"

#include <algorithm>
#include <cmath>

#include "millrace/engines/llama/split_planner.h"

namespace millrace {
namespace {

// One measured time: how much work each host did for it, and how long it took without the hand-overs.
struct Observation {
  std::vector<double> work;
  double seconds = 0;
};

// Speeds >= 0 that explain the observations best in the least-squares sense.
std::vector<double> NonNegativeFit(const std::vector<Observation>& observations, std::size_t hosts) {
  std::vector<double> speed(hosts, 0);
  double work = 0, seconds = 0;
  for (const Observation& each : observations) {
    for (const double of_host : each.work) work += of_host;
    seconds += each.seconds;
  }
  if (!(work > 0) || !(seconds > 0)) return speed;
  std::fill(speed.begin(), speed.end(), seconds / work);
  constexpr int kSteps = 20000;
  constexpr double kSettled = 1e-12;
  for (int step = 0; step < kSteps; ++step) {
    std::vector<double> wanted(hosts, 0), made(hosts, 0);
    for (const Observation& each : observations) {
      double predicted = 0;
      for (std::size_t host = 0; host < hosts; ++host) predicted += each.work[host] * speed[host];
      for (std::size_t host = 0; host < hosts; ++host) {
        wanted[host] += each.work[host] * each.seconds;
        made[host] += each.work[host] * predicted;
      }
    }
    double change = 0;
    for (std::size_t host = 0; host < hosts; ++host) {
      if (!(made[host] > 0)) continue;
      const double factor = wanted[host] / made[host];
      change = std::max(change, std::abs(factor - 1));
      speed[host] *= factor;
    }
    if (change < kSettled) break;
  }
  return speed;
}

Observation Observe(const SplitProblem& problem, const LayerSplit& split, double seconds, bool decode) {
  Observation observation;
  observation.work.assign(problem.hosts.size(), 0);
  SplitProblem idle = problem;  // in which only hand-overs take time
  for (SplitHost& host : idle.hosts) host.seconds_per_byte = host.seconds_per_flop = 0;
  double handed_over = 0;
  for (const SplitStage& stage : split) {
    double work = 0;
    for (int part = stage.begin; part < stage.end; ++part) {
      const SplitPart& costs = problem.parts[static_cast<std::size_t>(part)];
      work += decode ? costs.decode_bytes : costs.prefill_flops;
    }
    observation.work[static_cast<std::size_t>(stage.host)] += work;
    handed_over += decode ? DecodeSeconds(idle, stage) : PrefillSeconds(idle, stage);
  }
  // Hand-overs measured in a bad moment must not leave nothing.
  observation.seconds = std::max(seconds - handed_over, seconds / 2);
  return observation;
}

}  // namespace

std::vector<LayerSplit> SpeedProbes(const SplitProblem& problem) {
  SplitProblem asked = problem;
  asked.generated_tokens = 1;
  asked.micro_batches = 0;
  asked.token_bytes = asked.micro_batch_bytes = asked.logit_bytes = 0;
  std::vector<LayerSplit> probes;
  for (std::size_t host = 0; host < problem.hosts.size(); ++host) {
    // The fastest split where this host takes no time has as much there as fits.
    for (std::size_t other = 0; other < problem.hosts.size(); ++other) {
      asked.hosts[other].seconds_per_byte = other == host ? 0 : 1;
      asked.hosts[other].round_trip_seconds = 0;
    }
    for (const PlannedSplit& planned : BestSplits(asked)) {
      const bool there = std::any_of(planned.split.begin(), planned.split.end(),
                                     [host](const SplitStage& stage) { return stage.host == static_cast<int>(host); });
      if (!there) continue;
      if (std::find(probes.begin(), probes.end(), planned.split) == probes.end()) probes.push_back(planned.split);
      break;
    }
  }
  return probes;
}

void FitSpeeds(const std::vector<MeasuredSplit>& measured, SplitProblem& problem) {
  std::vector<Observation> decode, prefill;
  for (const MeasuredSplit& each : measured) {
    if (each.token_seconds > 0) decode.push_back(Observe(problem, each.split, each.token_seconds, true));
    if (each.micro_batch_seconds > 0) prefill.push_back(Observe(problem, each.split, each.micro_batch_seconds, false));
  }
  const std::vector<double> per_byte = NonNegativeFit(decode, problem.hosts.size());
  const std::vector<double> per_flop = NonNegativeFit(prefill, problem.hosts.size());
  // Without a time for prompts hosts differ by as much there as they do elsewhere.
  for (std::size_t host = 0; host < problem.hosts.size(); ++host) {
    problem.hosts[host].seconds_per_byte = per_byte[host] > 0 ? per_byte[host] : per_flop[host];
    problem.hosts[host].seconds_per_flop = per_flop[host] > 0 ? per_flop[host] : per_byte[host];
  }
}

}  // namespace millrace

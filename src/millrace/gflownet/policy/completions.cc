// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/completions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace millrace {
namespace {

enum Rule : int { kFinish, kOnward, kStart, kOneDevice };  // and one more for each device

// Where the group is best, by a cost of (group, device); of equally good devices that which is free last, so that how
// devices are numbered does not matter. -1 if none may run it.
template <typename Cost>
std::int32_t LeastDevice(const State& state, std::int32_t group, const Cost& cost, double& least) {
  std::int32_t best = -1;
  for (std::int32_t device = 0; device < state.environment().num_devices(); ++device) {
    if (!state.MayRun(group, device)) continue;
    const double here = cost(group, device);
    if (best >= 0 && here > least) continue;
    if (best >= 0 && here == least && state.DeviceFree(device) <= state.DeviceFree(best)) continue;
    best = device;
    least = here;
  }
  return best;
}

Action NextAction(const State& state, int rule) {
  const Environment& environment = state.environment();
  const auto finish = [&state](std::int32_t group, std::int32_t device) { return state.EarliestFinish(group, device); };
  const std::int32_t first = state.ready().front();
  double least = std::numeric_limits<double>::infinity();
  if (rule == kStart) {
    const auto start = [&state](std::int32_t group, std::int32_t device) { return state.EarliestStart(group, device); };
    Action action{first, -1};
    for (const std::int32_t group : state.ready()) {
      double here = least;
      const std::int32_t device = LeastDevice(state, group, start, here);
      if (device < 0 || (action.device >= 0 && here >= least)) continue;
      action = {group, device};
      least = here;
    }
    return action;
  }
  if (rule == kOnward) {
    return {first, LeastDevice(
                       state, first,
                       [&](std::int32_t group, std::int32_t device) {
                         return finish(group, device) + environment.OptimisticCost(group, device);
                       },
                       least)};
  }
  if (rule >= kOneDevice && state.MayRun(first, rule - kOneDevice)) return {first, rule - kOneDevice};
  return {first, LeastDevice(state, first, finish, least)};
}

}  // namespace

void Completions::FinishFrom(const State& begun) {
  const int rules = kOneDevice + begun.environment().num_devices();
  for (int rule = 0; rule < rules; ++rule) {
    finished_ = begun;
    while (!finished_.done()) finished_.Append(NextAction(finished_, rule));
    makespans_.push_back(finished_.makespan());
  }
}

void Completions::Append(const State& state, std::int32_t group, std::span<const std::int32_t> devices,
                         std::vector<float>& out) {
  const Environment& environment = state.environment();
  const double reference = environment.reference_makespan();
  const double scale = environment.num_groups() / temperature_;
  const int left = environment.num_groups() - state.steps() - 1;
  for (const std::int32_t device : devices) {
    begun_ = state;
    begun_.Append({group, device});
    makespans_.clear();
    FinishFrom(begun_);
    if (left > 1 && left <= kFewGroupsLeft) {
      for (const std::int32_t next : begun_.ready()) {
        for (std::int32_t on = 0; on < environment.num_devices(); ++on) {
          if (!begun_.MayRun(next, on)) continue;
          onward_ = begun_;
          onward_.Append({next, on});
          FinishFrom(onward_);
        }
      }
    }
    const double best = *std::min_element(makespans_.begin(), makespans_.end());
    const double mean =
        std::accumulate(makespans_.begin(), makespans_.end(), 0.0) / static_cast<double>(makespans_.size());
    if (!(best > 0)) {  // nothing takes time
      out.insert(out.end(), kCompletions, 0.0f);
      continue;
    }
    const double most = reference / best - 1;
    double rewards = 0;
    for (const double makespan : makespans_) rewards += std::exp(scale * (reference / makespan - 1 - most));
    out.push_back(static_cast<float>(most));
    out.push_back(static_cast<float>(reference / mean - 1));
    out.push_back(static_cast<float>(most + std::log(rewards / static_cast<double>(makespans_.size())) / scale));
  }
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/completions.h"

#include <algorithm>
#include <limits>

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

double Completions::Finish(int rule) {
  finished_ = begun_;
  while (!finished_.done()) finished_.Append(NextAction(finished_, rule));
  return finished_.makespan();
}

void Completions::Append(const State& state, std::int32_t group, std::span<const std::int32_t> devices,
                         std::vector<float>& out) {
  const Environment& environment = state.environment();
  const int rules = kOneDevice + environment.num_devices();
  for (const std::int32_t device : devices) {
    begun_ = state;
    begun_.Append({group, device});
    double best = std::numeric_limits<double>::infinity();
    double sum = 0;
    for (int rule = 0; rule < rules; ++rule) {
      const double makespan = Finish(rule);
      best = std::min(best, makespan);
      sum += makespan;
    }
    const double reference = environment.reference_makespan();
    out.push_back(best > 0 ? static_cast<float>(reference / best - 1) : 0.0f);
    out.push_back(sum > 0 ? static_cast<float>(reference * rules / sum - 1) : 0.0f);
  }
}

}  // namespace millrace

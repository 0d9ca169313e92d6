// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/observation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "millrace/network/squash.h"

namespace millrace {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// What is the same for all choices of a step.
struct Moment {
  explicit Moment(const State& state) {
    const Environment& environment = state.environment();
    per_second = 1.0 / environment.scale();
    devices = environment.num_devices();
    makespan = state.makespan();
    first_free = kNever;
    double idle = 0;
    for (int d = 0; d < devices; ++d) {
      first_free = std::min(first_free, state.DeviceFree(d));
      idle += makespan - state.DeviceFree(d);
    }
    mean_idle = idle / devices;
    placed_share = static_cast<float>(state.steps()) / static_cast<float>(environment.num_groups());
  }

  float Squashed(double seconds) const { return Squash(static_cast<float>(seconds * per_second)); }
  float Scaled(double seconds) const { return static_cast<float>(seconds * per_second); }

  double per_second, makespan, first_free, mean_idle;
  float placed_share;
  int devices;
};

// Where and when a ready group could run: on the device of its least EFT, unless said otherwise.
struct Prospect {
  double finish = kNever, second_finish = kNever, start = kNever, onward = kNever;
  double arrival = 0, idle = 0, criticality = 0;
  int device = 0;
};

Prospect ProspectOf(const State& state, int group) {
  const Environment& environment = state.environment();
  const CostedGraph& costed = environment.costed();
  const bool colocation = costed.colocation[static_cast<std::size_t>(group)] >= 0;
  Prospect prospect;
  double least = kNever, second = kNever;  // finish, with what the choice binds the device to
  for (int d = 0; d < costed.num_devices; ++d) {
    const double seconds = costed.Seconds(group, d);
    if (seconds == kNever || (colocation && !state.MayRun(group, d))) continue;
    const double start = state.EarliestStart(group, d);
    const double finish = start + seconds;
    prospect.onward = std::min(prospect.onward, finish + environment.OptimisticCost(group, d));
    const double bound = colocation ? finish + state.BoundSeconds(group, d) : finish;
    if (bound < least) {
      second = least;
      least = bound;
      prospect.finish = finish;
      prospect.device = d;
      prospect.start = start;
    } else {
      second = std::min(second, bound);
    }
  }
  prospect.second_finish = second == kNever ? prospect.finish : prospect.finish + (second - least);
  prospect.arrival = state.Arrival(group, prospect.device);
  prospect.idle = state.EarliestStart(group, prospect.device) - state.DeviceFree(prospect.device);
  prospect.criticality = prospect.finish + environment.upward_ranks()[static_cast<std::size_t>(group)] -
                         environment.mean_seconds()[static_cast<std::size_t>(group)];
  return prospect;
}

float InputShare(const State& state, int group, int device) {
  const double all = state.environment().input_weights()[static_cast<std::size_t>(group)];
  return all > 0 ? static_cast<float>(state.InputWeightOn(group, device) / all) : 1.0f;
}

int KeyChildrenMadeReady(const State& state, int group) {
  int made = 0;
  for (const GroupEdge& edge : state.environment().KeyChildren(group)) made += state.Waiting(edge.group) == 1 ? 1 : 0;
  return made;
}

// The latest of the group's EFT on `device` and, of its key children, the EFT after that + the path behind them.
double LookAhead(const State& state, int group, int device) {
  const Environment& environment = state.environment();
  const CostedGraph& costed = environment.costed();
  const double finish = state.EarliestFinish(group, device);
  double latest = finish;
  for (const GroupEdge& edge : environment.KeyChildren(group)) {
    double child_finish = kNever;
    for (int d = 0; d < costed.num_devices; ++d) {
      double start = std::max(state.Arrival(edge.group, d), finish + costed.TransferSeconds(edge.bytes, device, d));
      start = std::max(start, d == device ? finish : state.DeviceFree(d));
      child_finish = std::min(child_finish, start + costed.Seconds(edge.group, d));
    }
    latest = std::max(latest, child_finish + environment.upward_ranks()[static_cast<std::size_t>(edge.group)] -
                                  environment.mean_seconds()[static_cast<std::size_t>(edge.group)]);
  }
  return latest;
}

float KeyChildrenInputShare(const State& state, int group, int device) {
  double here = 0;
  double all = 0;
  for (const GroupEdge& edge : state.environment().KeyChildren(group)) {
    here += state.InputWeightOn(edge.group, device);
    all += state.environment().input_weights()[static_cast<std::size_t>(edge.group)];
  }
  return all > 0 ? static_cast<float>(here / all) : 0.0f;
}

float LogRatio(double seconds, double mean) {
  if (!(seconds > 0) || !(mean > 0)) return 0;
  return static_cast<float>(std::clamp(std::log(seconds / mean), -5.0, 5.0));
}

void Resize(Observation& observation, std::size_t choices, int features, int priors) {
  observation.features.resize(choices * static_cast<std::size_t>(features));
  observation.priors.resize(choices * static_cast<std::size_t>(priors));
}

}  // namespace

void ObserveGroups(const State& state, Observation& observation) {
  using Feature = GroupFeature;
  using Prior = GroupPrior;
  const Environment& environment = state.environment();
  const Moment moment(state);
  const std::span<const double> ranks = environment.upward_ranks();
  const std::size_t count = std::min<std::size_t>(state.ready().size(), kReadyWindow);
  observation.choices.assign(state.ready().begin(), state.ready().begin() + static_cast<std::ptrdiff_t>(count));
  Resize(observation, count, kGroupFeatures, kGroupPriors);

  std::array<Prospect, kReadyWindow> prospects;
  double least_finish = kNever, least_start = kNever, most_critical = 0, most_onward = 0;
  for (std::size_t i = 0; i < count; ++i) {
    prospects[i] = ProspectOf(state, observation.choices[i]);
    least_finish = std::min(least_finish, prospects[i].finish);
    least_start = std::min(least_start, prospects[i].start);
    most_critical = std::max(most_critical, prospects[i].criticality);
    most_onward = std::max(most_onward, prospects[i].onward);
  }
  const double top_rank = ranks[static_cast<std::size_t>(observation.choices.front())];
  const float offered = std::log1p(static_cast<float>(count)) / 5;
  const float mean_idle = moment.Squashed(moment.mean_idle);
  for (std::size_t i = 0; i < count; ++i) {
    const int group = observation.choices[i];
    const Prospect& prospect = prospects[i];
    const double rank = ranks[static_cast<std::size_t>(group)];
    const auto f = RowAt<Feature>(observation.features, i);
    f[Feature::kUpwardRank] = moment.Squashed(top_rank - rank);
    f[Feature::kFinish] = moment.Squashed(prospect.finish - least_finish);
    f[Feature::kStart] = moment.Squashed(prospect.start - moment.first_free);
    f[Feature::kArrival] = moment.Squashed(prospect.arrival - moment.first_free);
    f[Feature::kIdleGap] = moment.Squashed(prospect.idle);
    f[Feature::kSecondFinish] = moment.Squashed(prospect.second_finish - prospect.finish);
    f[Feature::kRankShare] = top_rank > 0 ? static_cast<float>(rank / top_rank) : 1.0f;
    f[Feature::kCriticality] = moment.Squashed(most_critical - prospect.criticality);
    f[Feature::kOnward] = moment.Squashed(most_onward - prospect.onward);
    f[Feature::kInputShare] = InputShare(state, group, prospect.device);
    f[Feature::kNumOffered] = offered;
    f[Feature::kPlacedShare] = moment.placed_share;
    f[Feature::kMeanIdle] = mean_idle;
    f[Feature::kChildrenMadeReady] = Squash(static_cast<float>(KeyChildrenMadeReady(state, group)));
    f[Feature::kFinishPast] = moment.Squashed(prospect.finish - moment.makespan);
    f[Feature::kMeanSeconds] = moment.Squashed(environment.mean_seconds()[static_cast<std::size_t>(group)]);
    const auto p = RowAt<Prior>(observation.priors, i);
    p[Prior::kUpwardRank] = moment.Scaled(rank - top_rank);
    p[Prior::kFinish] = moment.Scaled(least_finish - prospect.finish);
    p[Prior::kStart] = moment.Scaled(least_start - prospect.start);
    p[Prior::kIdleGap] = moment.Scaled(-prospect.idle);
  }
}

void ObserveDevices(const State& state, int group, Observation& observation) {
  using Feature = DeviceChoiceFeature;
  using Prior = DeviceChoicePrior;
  const Environment& environment = state.environment();
  const CostedGraph& costed = environment.costed();
  const Moment moment(state);
  observation.choices.clear();
  double least_finish = kNever, least_onward = kNever;
  for (int d = 0; d < moment.devices; ++d) {
    if (!state.MayRun(group, d)) continue;
    observation.choices.push_back(d);
    const double finish = state.EarliestFinish(group, d) + state.BoundSeconds(group, d);
    least_finish = std::min(least_finish, finish);
    least_onward = std::min(least_onward, finish + environment.OptimisticCost(group, d));
  }
  const std::size_t count = observation.choices.size();
  Resize(observation, count, kDeviceChoiceFeatures, kDeviceChoicePriors);

  double least_ahead = kNever;
  for (std::size_t i = 0; i < count; ++i) {
    const int d = observation.choices[i];
    const double start = state.EarliestStart(group, d);
    const double seconds = costed.Seconds(group, d);
    const double finish = start + seconds + state.BoundSeconds(group, d);
    const double onward = finish + environment.OptimisticCost(group, d);
    const double ahead = std::max(LookAhead(state, group, d), finish);
    least_ahead = std::min(least_ahead, ahead);
    const auto f = RowAt<Feature>(observation.features, i);
    f[Feature::kFinish] = moment.Squashed(finish - least_finish);
    f[Feature::kFinishIsBest] = finish <= least_finish ? 1.0f : 0.0f;
    f[Feature::kStart] = moment.Squashed(start - moment.first_free);
    f[Feature::kIdleGap] = moment.Squashed(start - state.DeviceFree(d));
    f[Feature::kDeviceFree] = moment.Squashed(state.DeviceFree(d) - moment.first_free);
    f[Feature::kArrival] = moment.Squashed(state.Arrival(group, d) - moment.first_free);
    f[Feature::kOnward] = moment.Squashed(onward - least_onward);
    f[Feature::kOnwardIsBest] = onward <= least_onward ? 1.0f : 0.0f;
    f[Feature::kInputShare] = InputShare(state, group, d);
    f[Feature::kSecondsAgainstMean] = LogRatio(seconds, environment.mean_seconds()[static_cast<std::size_t>(group)]);
    f[Feature::kUnitShare] =
        static_cast<float>(costed.topology.UnitsOf(d)) / static_cast<float>(costed.topology.num_units);
    f[Feature::kLoad] = state.steps() > 0 ? static_cast<float>(state.PlacedOn(d)) * static_cast<float>(moment.devices) /
                                                    static_cast<float>(state.steps()) -
                                                1.0f
                                          : 0.0f;
    f[Feature::kChildrenInputShare] = KeyChildrenInputShare(state, group, d);
    f[Feature::kFinishPast] = moment.Squashed(finish - moment.makespan);
    f[Feature::kPlacedShare] = moment.placed_share;
    const auto p = RowAt<Prior>(observation.priors, i);
    p[Prior::kFinish] = moment.Scaled(least_finish - finish);
    p[Prior::kOnward] = moment.Scaled(least_onward - onward);
    p[Prior::kLookAhead] = moment.Scaled(-ahead);
    p[Prior::kInputShare] = f[Feature::kInputShare] - 1.0f;
  }
  for (std::size_t i = 0; i < count; ++i) {
    float& prior = RowAt<Prior>(observation.priors, i)[Prior::kLookAhead];
    prior += moment.Scaled(least_ahead);
    RowAt<Feature>(observation.features, i)[Feature::kLookAhead] = Squash(-prior);
  }
}

}  // namespace millrace

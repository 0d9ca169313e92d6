// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/state_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/gflownet/environment/plain_state.h"
#include "tests/gflownet/environment/random_environment.h"
#include "tests/reference/plain_row.h"

// The features of groups and devices in a state, each held against the plainest formula for it.
namespace millrace {
namespace {

using testing::EnvironmentProblem;
using testing::ExpectRow;
using testing::PlainProblem;
using testing::PlainRow;
using testing::PlainState;
using testing::RandomAction;

bool IsReady(const PlainState& state, int group) {
  bool ready = !state.Placed(group);
  for (const GroupEdge& edge : state.costed.Predecessors(group)) ready = ready && state.Placed(edge.group);
  return ready;
}

// Groups that come after it in the sequence, on a device with a unit of its own device or on that very device.
int Behind(const PlainState& state, int group, bool same_device) {
  const int own = state.plan.placement[testing::Index(group)];
  int behind = 0;
  for (auto it = state.plan.sequence.rbegin(); it != state.plan.sequence.rend() && *it != group; ++it) {
    const int device = state.plan.placement[testing::Index(*it)];
    behind += device == own || (!same_device && state.problem.ShareUnit(device, own)) ? 1 : 0;
  }
  return behind;
}

bool IsRemovable(const PlainState& state, int group) {
  bool removable = state.Placed(group) && Behind(state, group, false) == 0;
  for (const GroupEdge& edge : state.costed.Successors(group)) removable = removable && !state.Placed(edge.group);
  return removable;
}

PlainRow<StateGroupFeature> PlainGroupInState(const PlainState& state, int group) {
  using F = StateGroupFeature;
  double path = 0, inputs = 0, placed_inputs = 0;
  for (int other = 0; other < state.costed.num_groups; ++other) path = std::max(path, state.problem.Rank(other));
  for (const GroupEdge& edge : state.costed.Predecessors(group)) inputs += 1, placed_inputs += state.Placed(edge.group);
  const bool placed = state.Placed(group);
  const int device = state.plan.placement[testing::Index(group)];
  const double finish = placed ? state.finish[testing::Index(group)] : 0;
  const double start = placed ? finish - state.costed.Seconds(group, device) : 0;
  return {{F::kPlaced, placed ? 1 : 0},
          {F::kReady, IsReady(state, group) ? 1 : 0},
          {F::kRemovable, IsRemovable(state, group) ? 1 : 0},
          {F::kStart, !placed            ? -1
                      : start + path > 0 ? start / (start + path)
                                         : 0},
          {F::kStartBeforeEnd, placed ? state.Feature(state.makespan - start) : 0},
          {F::kFinishBeforeEnd, placed ? state.Feature(state.makespan - finish) : 0},
          {F::kPlaceFromEnd, placed ? 1.0 / (1 + Behind(state, group, true)) : 0},
          {F::kPredecessorsPlaced, inputs > 0 ? placed_inputs / inputs : 1}};
}

PlainRow<StateDeviceFeature> PlainDeviceInState(const PlainState& state, int device) {
  using F = StateDeviceFeature;
  const double steps = static_cast<double>(state.plan.sequence.size());
  const double here = static_cast<double>(std::count(state.plan.placement.begin(), state.plan.placement.end(), device));
  return {{F::kFreeBeforeEnd, state.Feature(state.makespan - state.Free(device))},
          {F::kFree, state.Feature(state.Free(device) - state.first_free)},
          {F::kLoad, steps > 0 ? here / (steps / state.costed.num_devices) - 1 : 0},
          {F::kPlacedShare, state.PlacedShare()}};
}

TEST(StateFeatures, AreWhatThePlainFormulasSay) {
  for (int seed = 0; seed < 200; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    testing::RandomProblemOptions options;
    options.most_ops = 10;
    options.most_devices = 4;
    const EnvironmentProblem made(random, options);
    const PlainProblem problem(made.costed);
    State state(made.environment);
    for (bool more = true; more;) {
      const PlainState plain(problem, state.assignment());
      StateFeatures features;
      MakeStateFeatures(state, features);
      ASSERT_EQ(features.groups.size(), static_cast<std::size_t>(made.costed.num_groups * kStateGroupFeatures));
      ASSERT_EQ(features.devices.size(), static_cast<std::size_t>(made.costed.num_devices * kStateDeviceFeatures));
      const std::string where = "seed " + std::to_string(seed) + ", step " + std::to_string(state.steps());
      for (int group = 0; group < made.costed.num_groups; ++group)
        ExpectRow(features.groups, testing::Index(group), PlainGroupInState(plain, group), 1e-4,
                  where + ", group " + std::to_string(group));
      for (int device = 0; device < made.costed.num_devices; ++device)
        ExpectRow(features.devices, testing::Index(device), PlainDeviceInState(plain, device), 1e-4,
                  where + ", device " + std::to_string(device));
      more = !state.done();
      if (more) state.Append(RandomAction(state, random));
    }
  }
}

}  // namespace
}  // namespace millrace

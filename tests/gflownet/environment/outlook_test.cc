// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/outlook.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "millrace/gflownet/environment/observer.h"
#include "tests/gflownet/environment/random_environment.h"

namespace millrace {
namespace {

using testing::EnvironmentProblem;
using testing::WalkByChance;

constexpr double kFarAway = std::numeric_limits<double>::infinity();

struct SlowProspect {
  double lost = 0;
  double latest = 0;
};

std::vector<double> Speeds(const Environment& environment) {
  std::vector<double> speeds;
  for (int device = 0; device < environment.num_devices(); ++device) {
    double mean = 0, here = 0;
    for (int group = 0; group < environment.num_groups(); ++group) {
      if (environment.costed().Seconds(group, device) == kFarAway) continue;
      mean += environment.mean_seconds()[static_cast<std::size_t>(group)];
      here += environment.costed().Seconds(group, device);
    }
    speeds.push_back(here > 0 ? mean / here : 0);
  }
  return speeds;
}

// The same by asking the state every time.
SlowProspect SlowLook(const State& begun, Action action) {
  const Environment& environment = begun.environment();
  State state = begun;
  const auto work = [&environment](int group) { return environment.mean_seconds()[static_cast<std::size_t>(group)]; };
  double placed = work(action.group);
  state.Append(action);
  for (int step = 0; step < Outlook::Horizon(environment.num_devices()) && !state.done(); ++step) {
    const std::int32_t group = state.ready().front();
    int best = -1;
    double least = kFarAway;
    for (int device = 0; device < environment.num_devices(); ++device) {
      if (!state.MayRun(group, device)) continue;
      const double cost = state.EarliestFinish(group, device);
      const bool tie = best >= 0 && cost == least && state.DeviceFree(device) > state.DeviceFree(best);
      if (cost >= least && !tie) continue;
      best = device;
      least = cost;
    }
    placed += work(group);
    state.Append({group, best});
  }
  const std::vector<double> speeds = Speeds(environment);
  SlowProspect prospect{-placed, state.makespan()};
  for (std::size_t d = 0; d < speeds.size(); ++d)
    prospect.lost += speeds[d] * (state.done() ? state.makespan() : state.DeviceFree(static_cast<int>(d)));
  return prospect;
}

class Comparison {
 public:
  explicit Comparison(const Environment& environment) : environment_(environment), outlook_(environment) {}

  void Devices(const State& state, std::int32_t group) {
    Observation observation;
    ObserveDevices(state, group, observation);
    outlook_.From(state);
    outlook_.OfDevices(group, observation.choices, observation.outlook);
    std::vector<Action> actions;
    for (const std::int32_t device : observation.choices) actions.push_back({group, device});
    Expect(state, actions, observation.outlook);
  }

  void Groups(const State& state) {
    Observation observation;
    ObserveGroups(state, observation);
    const std::size_t looked = std::min<std::size_t>(observation.size(), Outlook::kMostGroups);
    std::vector<std::size_t> asked(looked);
    std::iota(asked.begin(), asked.end(), std::size_t{0});
    outlook_.From(state);
    outlook_.OfGroups(observation.choices, asked, observation.outlook);
    std::vector<Action> actions;
    for (const std::size_t at : asked) {
      Observation devices;
      const std::int32_t group = observation.choices[at];
      ObserveDevices(state, group, devices);
      const auto cost = [&](std::int32_t d) { return std::pair(state.EarliestFinish(group, d), -state.DeviceFree(d)); };
      actions.push_back({group, *std::min_element(devices.choices.begin(), devices.choices.end(),
                                                  [&](std::int32_t a, std::int32_t b) { return cost(a) < cost(b); })});
    }
    Expect(state, actions, observation.outlook);
  }

 private:
  void Expect(const State& state, const std::vector<Action>& actions, const std::vector<float>& outlook) {
    std::vector<SlowProspect> slow;
    for (const Action& action : actions) slow.push_back(SlowLook(state, action));
    double least = kFarAway, latest = kFarAway;
    for (const SlowProspect& prospect : slow) {
      least = std::min(least, prospect.lost);
      latest = std::min(latest, prospect.latest);
    }
    const double scale = environment_.scale();
    const bool finished = environment_.num_groups() - state.steps() <= Outlook::Horizon(environment_.num_devices()) + 1;
    for (std::size_t i = 0; i < actions.size(); ++i) {
      const auto numbers = RowAt<OutlookNumber>(outlook, i);
      const double lost = (slow[i].lost - least) / scale, late = (slow[i].latest - latest) / scale;
      EXPECT_NEAR(numbers[OutlookNumber::kPrior], -lost, 1e-3 * (1 + lost));
      EXPECT_NEAR(numbers[OutlookNumber::kLost], lost / std::sqrt(1 + lost), 1e-3);
      EXPECT_NEAR(numbers[OutlookNumber::kLatest], late / std::sqrt(1 + late), 1e-3);
      EXPECT_EQ(numbers[OutlookNumber::kAsked], 1);
      EXPECT_EQ(numbers[OutlookNumber::kFinished], finished ? 1 : 0);
    }
  }

  const Environment& environment_;
  Outlook outlook_;
};

// Times are small dyadic fractions, so that float32 holds sums exactly and makes the same choices.
TEST(Outlook, IsWhatTheNextStepsOfListSchedulingMakeOfEveryChoice) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {.colocate = false, .tidy = true}, seed % 2 == 0);
    Comparison comparison(problem.environment);
    WalkByChance(problem.environment, random, [&](const State& state, Action action) {
      comparison.Devices(state, action.group);
      comparison.Groups(state);
    });
  }
}

TEST(Outlook, StopsAtItsHorizonOnLongerGraphs) {
  int beyond = 0;
  for (std::uint64_t seed = 100; seed < 120; ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {.most_ops = 120, .colocate = false, .tidy = true}, false);
    Comparison comparison(problem.environment);
    WalkByChance(problem.environment, random, [&](const State& state, Action action) {
      if (problem.environment.num_groups() - state.steps() <= Outlook::Horizon(problem.environment.num_devices()) + 1)
        return;
      comparison.Devices(state, action.group);
      comparison.Groups(state);
      ++beyond;
    });
  }
  EXPECT_GT(beyond, 100);
}

TEST(Outlook, LooksIntoMoreDevicesThanItDoesAtOnce) {
  int many = 0;
  for (std::uint64_t seed = 200; seed < 220; ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {.most_devices = 20, .colocate = false, .tidy = true}, false);
    if (problem.environment.num_devices() <= 8) continue;
    Comparison comparison(problem.environment);
    WalkByChance(problem.environment, random,
                 [&](const State& state, Action action) { comparison.Devices(state, action.group); });
    ++many;
  }
  EXPECT_GT(many, 3);
}

TEST(Outlook, SaysTheWorstOfThoseItLookedIntoWhereItDidNotLook) {
  Random random(5);
  const EnvironmentProblem problem(random, {.most_ops = 60, .colocate = false}, false);
  const State state(problem.environment);
  Observation observation;
  ObserveGroups(state, observation);
  ASSERT_GE(observation.size(), 2u);
  Outlook outlook(problem.environment);
  const std::vector<std::size_t> asked = {1};
  outlook.From(state);
  outlook.OfGroups(observation.choices, asked, observation.outlook);
  ASSERT_EQ(observation.outlook.size(), observation.size() * kOutlookNumbers);
  for (std::size_t i = 0; i < observation.size(); ++i) {
    const auto numbers = RowAt<OutlookNumber>(observation.outlook, i);
    EXPECT_EQ(numbers[OutlookNumber::kAsked], i == 1 ? 1 : 0);
    EXPECT_EQ(numbers[OutlookNumber::kPrior], 0);
  }
}

TEST(Observer, LooksAheadOnlyIfItIsToldTo) {
  Random random(6);
  const EnvironmentProblem problem(random, {.most_ops = 60, .colocate = false}, false);
  Observer without(problem.environment, false), with(problem.environment, true);
  WalkByChance(problem.environment, random, [&](const State& state, Action action) {
    Observation plain, seen;
    without.See(state);
    with.See(state);
    without.Groups(plain);
    with.Groups(seen);
    EXPECT_TRUE(plain.outlook.empty());
    EXPECT_EQ(seen.outlook.size(), seen.size() * kOutlookNumbers);
    EXPECT_EQ(seen.features, plain.features);
    without.Devices(action.group, plain);
    with.Devices(action.group, seen);
    EXPECT_TRUE(plain.outlook.empty());
    EXPECT_EQ(seen.outlook.size(), seen.size() * kOutlookNumbers);
    EXPECT_EQ(seen.priors, plain.priors);
  });
}

TEST(Observer, DoesNotLookAheadWhereGroupsMustShareADevice) {
  int colocated = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {}, false);
    if (problem.costed.num_colocations == 0) continue;
    ++colocated;
    const State state(problem.environment);
    Observer observer(problem.environment, true);
    Observation seen;
    observer.See(state);
    observer.Groups(seen);
    EXPECT_TRUE(seen.outlook.empty());
  }
  EXPECT_GT(colocated, 3);
}

TEST(Observer, ShowsASingleChoiceWithoutOutlook) {
  Random random(7);
  const EnvironmentProblem problem(random, {.colocate = false}, false);
  Observer observer(problem.environment, true);
  WalkByChance(problem.environment, random, [&](const State& state, Action) {
    Observation seen;
    observer.See(state);
    observer.Groups(seen);
    if (seen.size() > 1) return;
    for (const float number : seen.outlook) EXPECT_EQ(number, 0);
  });
}

}  // namespace
}  // namespace millrace

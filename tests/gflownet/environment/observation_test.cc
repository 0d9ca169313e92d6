// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/observation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "millrace/gflownet/environment/state.h"
#include "tests/gflownet/environment/plain_state.h"
#include "tests/gflownet/environment/random_environment.h"
#include "tests/reference/plain_problem.h"
#include "tests/reference/plain_row.h"

// The features and priors of a step, each held against the plainest formula for it: from the costed graph and the
// placed groups alone, with nothing kept from one step to the next.
namespace millrace {
namespace {

using testing::EnvironmentProblem;
using testing::ExpectRow;
using testing::kNever;
using testing::PlainProblem;
using testing::PlainRow;
using testing::PlainState;
using testing::RandomAction;
using testing::Squashed;

template <typename Feature, typename Prior>
struct PlainChoice {
  PlainRow<Feature> features;
  PlainRow<Prior> priors;
};

PlainChoice<GroupFeature, GroupPrior> PlainGroup(const PlainState& state, const Environment& environment, int group,
                                                 const std::vector<std::int32_t>& offered) {
  using F = GroupFeature;
  using P = GroupPrior;
  const PlainProblem& problem = state.problem;
  double top_rank = 0, least_finish = kNever, least_start = kNever, most_critical = 0, most_onward = 0;
  for (const int other : offered) {
    const int best = state.BestDevice(other);
    top_rank = std::max(top_rank, problem.Rank(other));
    least_finish = std::min(least_finish, state.Finish(other, best));
    least_start = std::min(least_start, state.Start(other, best));
    most_critical = std::max(most_critical, state.Criticality(other));
    most_onward = std::max(most_onward, state.LeastOnward(other));
  }
  const int device = state.BestDevice(group);
  const double rank = problem.Rank(group), start = state.Start(group, device), finish = state.Finish(group, device);
  const double idle = start - state.Free(device);
  double made_ready = 0;
  for (const GroupEdge& edge : problem.KeyChildren(group, environment.rank_positions())) {
    bool waits_for_others = false;
    for (const GroupEdge& before : state.costed.Predecessors(edge.group))
      waits_for_others = waits_for_others || (before.group != group && !state.Placed(before.group));
    made_ready += waits_for_others ? 0 : 1;
  }
  return {{{F::kUpwardRank, state.Feature(top_rank - rank)},
           {F::kFinish, state.Feature(finish - least_finish)},
           {F::kStart, state.Feature(start - state.first_free)},
           {F::kArrival, state.Feature(state.Arrival(group, device) - state.first_free)},
           {F::kIdleGap, state.Feature(idle)},
           {F::kSecondFinish, state.Feature(state.SecondFinish(group) - finish)},
           {F::kRankShare, top_rank > 0 ? rank / top_rank : 1},
           {F::kCriticality, state.Feature(most_critical - state.Criticality(group))},
           {F::kOnward, state.Feature(most_onward - state.LeastOnward(group))},
           {F::kInputShare, state.InputShare(group, device)},
           {F::kNumOffered, std::log(1.0 + static_cast<double>(offered.size())) / 5},
           {F::kPlacedShare, state.PlacedShare()},
           {F::kMeanIdle, state.Feature(state.mean_idle)},
           {F::kChildrenMadeReady, Squashed(made_ready)},
           {F::kFinishPast, state.Feature(finish - state.makespan)},
           {F::kMeanSeconds, state.Feature(problem.Mean(group))}},
          {{P::kUpwardRank, state.Prior(rank - top_rank)},
           {P::kFinish, state.Prior(least_finish - finish)},
           {P::kStart, state.Prior(least_start - start)},
           {P::kIdleGap, state.Prior(-idle)}}};
}

PlainChoice<DeviceChoiceFeature, DeviceChoicePrior> PlainDevice(const PlainState& state, const Environment& environment,
                                                                int group, int device) {
  using F = DeviceChoiceFeature;
  using P = DeviceChoicePrior;
  const PlainProblem& problem = state.problem;
  const CostedGraph& costed = state.costed;
  const auto ahead_on = [&](int d) {
    return std::max(state.LookAhead(group, d, environment.rank_positions()), state.BoundFinish(group, d));
  };
  double least_finish = kNever, least_onward = kNever, least_ahead = kNever;
  for (int d = 0; d < costed.num_devices; ++d) {
    if (!state.MayRun(group, d)) continue;
    least_finish = std::min(least_finish, state.BoundFinish(group, d));
    least_onward = std::min(least_onward, state.BoundFinish(group, d) + problem.Onward(group, d));
    least_ahead = std::min(least_ahead, ahead_on(d));
  }
  const double start = state.Start(group, device), finish = state.BoundFinish(group, device);
  const double onward = finish + problem.Onward(group, device);
  const double ahead = ahead_on(device);
  const double seconds = costed.Seconds(group, device), mean = problem.Mean(group);
  double children_here = 0, children_weight = 0;
  for (const GroupEdge& edge : problem.KeyChildren(group, environment.rank_positions())) {
    children_here += state.InputWeightOn(edge.group, device);
    children_weight += state.AllInputWeight(edge.group);
  }
  const double units = costed.topology.num_units;
  const double steps = static_cast<double>(state.plan.sequence.size());
  const double here = static_cast<double>(std::count(state.plan.placement.begin(), state.plan.placement.end(), device));
  return {{{F::kFinish, state.Feature(finish - least_finish)},
           {F::kFinishIsBest, finish <= least_finish ? 1 : 0},
           {F::kStart, state.Feature(start - state.first_free)},
           {F::kIdleGap, state.Feature(start - state.Free(device))},
           {F::kDeviceFree, state.Feature(state.Free(device) - state.first_free)},
           {F::kArrival, state.Feature(state.Arrival(group, device) - state.first_free)},
           {F::kOnward, state.Feature(onward - least_onward)},
           {F::kOnwardIsBest, onward <= least_onward ? 1 : 0},
           {F::kLookAhead, state.Feature(ahead - least_ahead)},
           {F::kInputShare, state.InputShare(group, device)},
           {F::kSecondsAgainstMean, seconds > 0 && mean > 0 ? std::clamp(std::log(seconds / mean), -5.0, 5.0) : 0},
           {F::kUnitShare, static_cast<double>(problem.UnitsOf(device).size()) / units},
           {F::kLoad, steps > 0 ? here / (steps / costed.num_devices) - 1 : 0},
           {F::kChildrenInputShare, children_weight > 0 ? children_here / children_weight : 0},
           {F::kFinishPast, state.Feature(finish - state.makespan)},
           {F::kPlacedShare, state.PlacedShare()}},
          {{P::kFinish, state.Prior(least_finish - finish)},
           {P::kOnward, state.Prior(least_onward - onward)},
           {P::kLookAhead, state.Prior(least_ahead - ahead)},
           {P::kInputShare, state.InputShare(group, device) - 1}}};
}

template <typename Feature, typename Prior>
void ExpectChoice(const Observation& observation, std::size_t choice, const PlainChoice<Feature, Prior>& plain,
                  const std::string& where) {
  ASSERT_EQ(observation.features.size(), observation.size() * plain.features.size());
  ASSERT_EQ(observation.priors.size(), observation.size() * plain.priors.size());
  ExpectRow(observation.features, choice, plain.features, 1e-4, where + ", features");
  ExpectRow(observation.priors, choice, plain.priors, 1e-4, where + ", priors");
}

// Dyadic times, whose sums are exact: which device is the best is the same by either formula.
testing::RandomProblemOptions Options() {
  testing::RandomProblemOptions options;
  options.most_ops = 10;
  options.most_devices = 4;
  options.tidy = true;
  return options;
}

TEST(Observation, OfGroupsIsWhatThePlainFormulasSay) {
  for (int seed = 0; seed < 200; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const EnvironmentProblem made(random, Options());
    const PlainProblem problem(made.costed);
    State state(made.environment);
    while (!state.done()) {
      const PlainState plain(problem, state.assignment());
      Observation observation;
      ObserveGroups(state, observation);
      for (std::size_t i = 0; i < observation.size(); ++i) {
        const int group = observation.choices[i];
        ExpectChoice(observation, i, PlainGroup(plain, made.environment, group, observation.choices),
                     "seed " + std::to_string(seed) + ", group " + std::to_string(group));
      }
      state.Append(RandomAction(state, random));
    }
  }
}

TEST(Observation, OfDevicesIsWhatThePlainFormulasSay) {
  for (int seed = 0; seed < 200; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const EnvironmentProblem made(random, Options());
    const PlainProblem problem(made.costed);
    State state(made.environment);
    while (!state.done()) {
      const PlainState plain(problem, state.assignment());
      for (const std::int32_t group : state.ready()) {
        Observation observation;
        ObserveDevices(state, group, observation);
        std::size_t row = 0;
        for (int device = 0; device < made.costed.num_devices; ++device) {
          if (!plain.MayRun(group, device)) continue;
          ASSERT_LT(row, observation.size());
          EXPECT_EQ(observation.choices[row], device);
          ExpectChoice(observation, row++, PlainDevice(plain, made.environment, group, device),
                       "seed " + std::to_string(seed) + ", group " + std::to_string(group));
        }
        EXPECT_EQ(row, observation.size());
      }
      state.Append(RandomAction(state, random));
    }
  }
}

}  // namespace
}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/state_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "millrace/gflownet/environment/state_key.h"
#include "millrace/gflownet/sampling/sampler.h"
#include "millrace/train/gflownet/problems.h"

namespace millrace {
namespace {

TEST(StateSteps, RecordsAStateOnceHoweverManyStepsAreMadeInIt) {
  Random random(5);
  const ProblemSource source({.fewest_ops = 3, .most_ops = 6, .most_devices = 3, .gang_share = 0.5});
  bool shared = false;
  for (int i = 0; i < 5; ++i) {
    const std::unique_ptr<Problem> problem = source.Draw(random);
    const Environment& environment = problem->environment();
    std::set<StateKey> different;
    std::vector<std::vector<Action>> actions;
    for (const Trajectory& trajectory : SampleTrajectories(environment, *MakeUniformPolicy()->Prepare(environment, 1),
                                                           30, {}, random.Fork(1), nullptr)) {
      State state(environment);
      for (const Action action : trajectory.actions) {
        different.insert(KeyOf(state));
        state.Append(action);
      }
      actions.push_back(trajectory.actions);
    }
    const StateSteps steps = RecordStates(environment, 0.1, actions);
    EXPECT_EQ(static_cast<std::size_t>(steps.states), different.size());
    EXPECT_EQ(steps.placement.size(), different.size() * static_cast<std::size_t>(environment.num_groups()));
    const std::size_t made = actions.size() * static_cast<std::size_t>(environment.num_groups());
    ASSERT_EQ(steps.taken_choice.size(), made);
    for (std::size_t s = 0; s < made; ++s) {
      const Action action = actions[s / static_cast<std::size_t>(environment.num_groups())]
                                   [s % static_cast<std::size_t>(environment.num_groups())];
      const auto choice = static_cast<std::size_t>(steps.taken_choice[s]);
      EXPECT_EQ(steps.choice_ready[choice], steps.taken_ready[s]);
      EXPECT_EQ(steps.choice_group[choice] % environment.num_groups(), action.group);
      EXPECT_EQ(steps.choice_device[choice] % environment.num_devices(), action.device);
    }
    shared = shared || different.size() < made;
  }
  EXPECT_TRUE(shared);
}

}  // namespace
}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <ostream>
#include <string>

#include "millrace/errors/errors.h"
#include "millrace/gflownet/environment/observer.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/policy/policy.h"
#include "millrace/gflownet/policy/topoformer.h"
#include "tests/gflownet/policy/policy_problem.h"
#include "tests/reference/shaken_weights.h"
#include "tests/reference/tidy_problem.h"

// What every policy promises (policy.h), and what a network over graphs should not care about.
namespace millrace::testing {
namespace {

struct Implementation {
  std::string name;
  std::function<std::unique_ptr<Policy>()> make;
};

void PrintTo(const Implementation& implementation, std::ostream* out) { *out << implementation.name; }

std::vector<Implementation> Implementations() {
  const auto shaken = [](const auto& initial, std::uint64_t seed) {
    Random random(seed);
    const Weights weights = initial(random);
    return Shaken(weights, random, 0.1);
  };
  const auto topoformer = [=](Encodes encodes, Backward backward) {
    const auto initial = [=](Random& random) { return InitialTopoformerWeights(encodes, random, backward); };
    return [=] { return MakeTopoformerPolicy(shaken(initial, 3)); };
  };
  return {
      {"uniform", MakeUniformPolicy},
      {"mpnn", [=] { return MakeMessagePassingPolicy(shaken(InitialMessagePassingWeights, 1)); }},
      {"mpnn_initial",
       [] {
         Random random(2);
         return MakeMessagePassingPolicy(InitialMessagePassingWeights(random));
       }},
      {"mpnn_looking_ahead",
       [=] {
         const auto initial = [](Random& random) {
           Weights weights = InitialMessagePassingWeights(random);
           LookAhead(weights);
           return weights;
         };
         return MakeMessagePassingPolicy(shaken(initial, 5));
       }},
      {"topoformer_of_graph", topoformer(Encodes::kGraph, Backward::kUniform)},
      {"topoformer_of_state", topoformer(Encodes::kState, Backward::kUniform)},
      {"topoformer_with_removals", topoformer(Encodes::kState, Backward::kLearned)},
  };
}

class PolicyConformance : public ::testing::TestWithParam<Implementation> {
 protected:
  const std::unique_ptr<Policy> policy_ = GetParam().make();
};

using Logits = std::vector<float>;

Logits GroupLogits(PreparedPolicy& policy, const State& state, const Observation& observation) {
  Logits logits(observation.size(), NAN);
  policy.ScoreGroups(state, observation, logits);
  return logits;
}

Logits DeviceLogits(PreparedPolicy& policy, const State& state, int group, const Observation& observation) {
  Logits logits(observation.size(), NAN);
  policy.ScoreDevices(state, group, observation, logits);
  return logits;
}

void ExpectNear(float a, float b) { EXPECT_NEAR(a, b, 1e-4 * std::max(1.0f, std::fabs(b))); }

TEST_P(PolicyConformance, GivesEveryRemovalAFiniteLogitOrNone) {
  Random random(4);
  bool scored = false, left = false;
  for (int i = 0; i < 20; ++i) {
    const auto problem = OddProblem(random);
    const auto prepared = policy_->Prepare(problem->environment, random.LogNormal(-2, 2));
    const auto again = prepared->Clone();
    Walk(problem->environment, random, [&](const State& state, const Observation&, int, const Observation&) {
      if (state.removable().empty()) return;
      Logits logits(state.removable().size(), NAN), same = logits;
      const bool own = prepared->ScoreRemovals(state, logits);
      EXPECT_EQ(again->ScoreRemovals(state, same), own);
      for (std::size_t k = 0; k < logits.size(); ++k) {
        EXPECT_EQ(std::isfinite(logits[k]), own);
        if (own) {
          EXPECT_EQ(logits[k], same[k]);
        }
      }
      (own ? scored : left) = true;
    });
  }
  EXPECT_NE(scored, left) << "some states scored and others not";
}

TEST_P(PolicyConformance, GivesEveryChoiceAFiniteLogit) {
  Random random(3);
  for (int i = 0; i < 40; ++i) {
    const auto problem = OddProblem(random);
    const auto prepared = policy_->Prepare(problem->environment, random.LogNormal(-2, 2));
    Walk(problem->environment, random,
         [&](const State& state, const Observation& groups, int group, const Observation& devices) {
           for (const float logit : GroupLogits(*prepared, state, groups)) EXPECT_TRUE(std::isfinite(logit));
           for (const float logit : DeviceLogits(*prepared, state, group, devices)) EXPECT_TRUE(std::isfinite(logit));
         });
  }
}

TEST_P(PolicyConformance, GivesTheSameLogitsAgainAndInAClone) {
  Random random(4);
  for (int i = 0; i < 10; ++i) {
    const auto problem = OddProblem(random);
    const auto first = policy_->Prepare(problem->environment, 0.1);
    const auto again = policy_->Prepare(problem->environment, 0.1);
    auto clone = first->Clone();
    Walk(problem->environment, random,
         [&](const State& state, const Observation& groups, int group, const Observation& devices) {
           const Logits of_groups = GroupLogits(*first, state, groups);
           const Logits of_devices = DeviceLogits(*first, state, group, devices);
           for (PreparedPolicy* other : {first.get(), again.get(), clone.get()}) {
             EXPECT_EQ(GroupLogits(*other, state, groups), of_groups);
             EXPECT_EQ(DeviceLogits(*other, state, group, devices), of_devices);
           }
         });
  }
}

// A choice's logit must not depend on which others are offered beside it in the same call, but for what the
// observation says.
TEST_P(PolicyConformance, DoesNotCareInWhichOrderGroupsAreOffered) {
  Random random(5);
  const Problem problem(TidyGraph(random, 60), EqualMachine(3));
  const auto prepared = policy_->Prepare(problem.environment, 0.1);
  Walk(problem.environment, random, [&](const State& state, const Observation& groups, int, const Observation&) {
    Observation reversed;
    for (std::size_t i = groups.size(); i-- > 0;) {
      reversed.choices.push_back(groups.choices[i]);
      reversed.features.insert(reversed.features.end(), groups.features.begin() + i * kGroupFeatures,
                               groups.features.begin() + (i + 1) * kGroupFeatures);
      reversed.priors.insert(reversed.priors.end(), groups.priors.begin() + i * kGroupPriors,
                             groups.priors.begin() + (i + 1) * kGroupPriors);
      reversed.outlook.insert(reversed.outlook.end(), groups.outlook.begin() + i * kOutlookNumbers,
                              groups.outlook.begin() + (i + 1) * kOutlookNumbers);
    }
    const Logits forwards = GroupLogits(*prepared, state, groups);
    const Logits backwards = GroupLogits(*prepared, state, reversed);
    for (std::size_t i = 0; i < forwards.size(); ++i) EXPECT_EQ(forwards[i], backwards[forwards.size() - 1 - i]);
  });
}

TEST_P(PolicyConformance, DoesNotCareHowOpsAreNumbered) {
  Random random(6);
  for (int i = 0; i < 5; ++i) {
    const Problem problem(TidyGraph(random, 40), EqualMachine(3));
    std::vector<OpId> renamed(40);
    std::iota(renamed.begin(), renamed.end(), 0);
    for (std::size_t k = renamed.size(); k > 1; --k) std::swap(renamed[k - 1], renamed[random.Below(k)]);
    GraphData data = problem.graph.data();
    for (OpId op = 0; op < 40; ++op) data.ops[static_cast<std::size_t>(renamed[op])] = problem.graph.op(op);
    for (Tensor& tensor : data.tensors) {
      if (tensor.producer >= 0) tensor.producer = renamed[static_cast<std::size_t>(tensor.producer)];
      for (OpId& consumer : tensor.consumers) consumer = renamed[static_cast<std::size_t>(consumer)];
    }
    const Problem other(ComputationGraph(data), EqualMachine(3));

    const auto prepared = policy_->Prepare(problem.environment, 0.1);
    const auto prepared_other = policy_->Prepare(other.environment, 0.1);
    State state_other(other.environment);
    Observer observer_other(other.environment, true);
    const auto compare = [&](const State& state, const Observation& groups, int group, const Observation& devices) {
      while (state_other.steps() < state.steps()) {
        const auto op =
            static_cast<std::size_t>(state.assignment().sequence[static_cast<std::size_t>(state_other.steps())]);
        state_other.Append({renamed[op], state.assignment().placement[op]});
      }
      Observation groups_other, devices_other;
      observer_other.See(state_other);
      observer_other.Groups(groups_other);
      observer_other.Devices(renamed[static_cast<std::size_t>(group)], devices_other);
      const Logits logits = GroupLogits(*prepared, state, groups);
      const Logits logits_other = GroupLogits(*prepared_other, state_other, groups_other);
      ASSERT_EQ(groups.size(), groups_other.size());
      for (std::size_t k = 0; k < groups.size(); ++k) {
        ASSERT_EQ(renamed[static_cast<std::size_t>(groups.choices[k])], groups_other.choices[k]);
        ExpectNear(logits_other[k], logits[k]);
      }
      const Logits of_devices = DeviceLogits(*prepared, state, group, devices);
      const Logits of_devices_other =
          DeviceLogits(*prepared_other, state_other, renamed[static_cast<std::size_t>(group)], devices_other);
      for (std::size_t k = 0; k < devices.size(); ++k) ExpectNear(of_devices_other[k], of_devices[k]);
    };
    Walk(problem.environment, random, compare);
  }
}

// Device d of the one problem is device (d + 1) mod 3 of the other. The groups' observation is handed to both, since
// which of several equally good devices it describes does depend on the numbers.
TEST_P(PolicyConformance, DoesNotCareHowEqualDevicesAreNumbered) {
  Random random(7);
  for (int i = 0; i < 5; ++i) {
    const Problem problem(TidyGraph(random, 40), EqualMachine(3));
    Machine renamed = EqualMachine(3);
    for (Device& device : renamed.devices) device.name += " of another name";
    const Problem other(problem.graph, renamed);
    const auto prepared = policy_->Prepare(problem.environment, 0.1);
    const auto prepared_other = policy_->Prepare(other.environment, 0.1);
    State state_other(other.environment);
    Observer observer_other(other.environment, true);
    const auto compare = [&](const State& state, const Observation& groups, int group, const Observation& devices) {
      while (state_other.steps() < state.steps()) {
        const auto op = state.assignment().sequence[static_cast<std::size_t>(state_other.steps())];
        state_other.Append({op, (state.assignment().placement[static_cast<std::size_t>(op)] + 1) % 3});
      }
      Observation devices_other;
      observer_other.See(state_other);
      observer_other.Devices(group, devices_other);
      const Logits logits = GroupLogits(*prepared, state, groups);
      const Logits logits_other = GroupLogits(*prepared_other, state_other, groups);
      for (std::size_t k = 0; k < groups.size(); ++k) ExpectNear(logits_other[k], logits[k]);
      const Logits of_devices = DeviceLogits(*prepared, state, group, devices);
      const Logits of_devices_other = DeviceLogits(*prepared_other, state_other, group, devices_other);
      for (std::size_t d = 0; d < 3; ++d) ExpectNear(of_devices_other[(d + 1) % 3], of_devices[d]);
    };
    Walk(problem.environment, random, compare);
  }
}

TEST_P(PolicyConformance, RefusesTemperaturesThatAreNone) {
  Random random(8);
  const auto problem = OddProblem(random);
  for (const double temperature : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_THROW(policy_->Prepare(problem->environment, temperature), InvalidInput);
  for (const double temperature : {1e-300, 1e300})
    EXPECT_NE(policy_->Prepare(problem->environment, temperature), nullptr);
}

INSTANTIATE_TEST_SUITE_P(All, PolicyConformance, ::testing::ValuesIn(Implementations()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace millrace::testing

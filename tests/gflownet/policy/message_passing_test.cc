// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/message_passing.h"

#include <cmath>
#include <set>

#include "millrace/gflownet/environment/graph_features.h"
#include "tests/formats/refusal.h"
#include "tests/gflownet/policy/policy_problem.h"
#include "tests/reference/shaken_weights.h"
#include "tests/reference/slow_network.h"
#include "tests/reference/tidy_problem.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

Weights RandomWeights(std::uint64_t seed, double noise) {
  Random random(seed);
  const Weights weights = InitialMessagePassingWeights(random);
  return Shaken(weights, random, noise);
}

void ExpectParity(const Weights& weights, const Environment& environment, double temperature, Random& random) {
  const auto prepared = MakeMessagePassingPolicy(weights)->Prepare(environment, temperature);
  const GraphFeatures graph = MakeGraphFeatures(environment);
  const Row condition = SlowCondition(weights, graph, temperature);
  const std::vector<Row> embeddings = SlowMessagePassing(weights, graph, condition);
  const auto expect = [&](const std::vector<float>& logits, int group, const Observation& observation) {
    const Row slow = SlowLogits(weights, graph, embeddings, condition, group, observation);
    for (std::size_t i = 0; i < slow.size(); ++i)
      EXPECT_NEAR(logits[i], slow[i], 1e-4 * std::max(1.0, std::fabs(slow[i])));
  };
  Walk(environment, random, [&](const State& state, const Observation& groups, int group, const Observation& devices) {
    std::vector<float> logits(groups.size());
    prepared->ScoreGroups(state, groups, logits);
    expect(logits, -1, groups);
    logits.resize(devices.size());
    prepared->ScoreDevices(state, group, devices, logits);
    expect(logits, group, devices);
  });
}

TEST(MessagePassing, AgreesWithItsFormulasOnOddProblems) {
  Random random(1);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const auto problem = OddProblem(random);
    ExpectParity(RandomWeights(i, 0.05), problem->environment, random.LogNormal(-2, 1), random);
  }
}

TEST(MessagePassing, AgreesWithItsFormulasWhereItLooksAhead) {
  Random random(12);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const auto problem = OddProblem(random);
    Weights weights = InitialMessagePassingWeights(random);
    LookAhead(weights);
    ExpectParity(Shaken(weights, random, 0.05), problem->environment, random.LogNormal(-2, 1), random);
  }
  Weights wide = RandomWeights(13, 0.05);
  LookAhead(wide);
  const Problem problem(TidyGraph(random, 150), EqualMachine(7));
  ExpectParity(Shaken(wide, random, 0.05), problem.environment, 0.1, random);
}

TEST(MessagePassing, LooksAheadWithMoreTensorsAndKeepsTheOthers) {
  Random random(14);
  const Weights plain = InitialMessagePassingWeights(random);
  EXPECT_FALSE(LooksAhead(plain));
  Weights weights = plain;
  LookAhead(weights);
  EXPECT_TRUE(LooksAhead(weights));
  for (const auto& [name, tensor] : plain.tensors) EXPECT_EQ(weights.tensors.at(name), tensor) << name;
  for (const auto& [name, shape] : MessagePassingShapes(true)) EXPECT_NO_THROW(weights.Get(name, shape)) << name;
  EXPECT_EQ(weights.tensors.size(), MessagePassingShapes(true).size());
  const Weights once = weights;
  LookAhead(weights);
  EXPECT_EQ(weights, once);
  for (const auto& [name, shape] : MessagePassingShapes(true)) {
    Weights other = once;
    other.tensors[name].shape.push_back(1);
    EXPECT_THAT(RefusalOf([&] { MakeMessagePassingPolicy(other); }), HasSubstr(name));
  }
}

// Wide enough that groups are scored in full tiles, and several blocks of rows are encoded.
TEST(MessagePassing, AgreesWithItsFormulasOnAWideGraph) {
  Random random(2);
  const Problem problem(TidyGraph(random, 150), EqualMachine(7));
  ExpectParity(RandomWeights(3, 0.05), problem.environment, 0.1, random);
}

TEST(MessagePassing, StartsAsItsPrior) {
  Random random(4);
  const auto policy = MakeMessagePassingPolicy(InitialMessagePassingWeights(random));
  for (int i = 0; i < 10; ++i) {
    const auto problem = OddProblem(random);
    const auto prepared = policy->Prepare(problem->environment, 0.1);
    const auto expect = [](const std::vector<float>& logits, const Observation& observation,
                           const std::vector<double>& strengths) {
      for (std::size_t c = 0; c < logits.size(); ++c) {
        double prior = 0;
        for (std::size_t k = 0; k < strengths.size(); ++k)
          prior += strengths[k] * observation.priors[c * strengths.size() + k];
        EXPECT_NEAR(logits[c], prior, 1e-5 * std::max(10.0, std::fabs(prior)));
      }
    };
    Walk(problem->environment, random,
         [&](const State& state, const Observation& groups, int group, const Observation& devices) {
           std::vector<float> logits(groups.size());
           prepared->ScoreGroups(state, groups, logits);
           expect(logits, groups, {0.9, 0.3, 27, 0.2});
           logits.resize(devices.size());
           prepared->ScoreDevices(state, group, devices, logits);
           expect(logits, devices, {18, 7.5, 25, 0.13});
         });
  }
}

TEST(MessagePassing, StartsTheSameFromTheSameSeedOnly) {
  Random first(5), second(5), third(6);
  const Weights weights = InitialMessagePassingWeights(first);
  EXPECT_EQ(weights, InitialMessagePassingWeights(second));
  EXPECT_NE(weights, InitialMessagePassingWeights(third));
}

TEST(MessagePassing, HasTheTensorsItSays) {
  Random random(7);
  const Weights weights = InitialMessagePassingWeights(random);
  std::set<std::string> names;
  for (const auto& [name, shape] : MessagePassingShapes(false)) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_NO_THROW(weights.Get(name, shape));
  }
  EXPECT_EQ(names.size(), weights.tensors.size());
  for (const char* biased : {"condition.0", "condition.1", "input", "round.0.forward", "round.2.backward",
                             "round.1.mix", "round.1.out", "group.embed", "device.embed", "device.device.0",
                             "device.device.1", "group.hidden", "device.hidden", "group.strength", "device.strength"})
    EXPECT_TRUE(names.contains(biased + std::string(".bias"))) << biased;
  for (const char* unbiased :
       {"round.0.forward.edge", "round.2.backward.edge", "round.0.scale", "round.0.shift", "group.condition",
        "device.condition", "group.features", "device.features", "group.out", "device.out"}) {
    EXPECT_TRUE(names.contains(unbiased + std::string(".weight"))) << unbiased;
    EXPECT_FALSE(names.contains(unbiased + std::string(".bias"))) << unbiased;
  }
}

TEST(MessagePassing, RefusesWeightsOfAnotherNetwork) {
  const Weights good = RandomWeights(8, 0.1);
  Weights other = good;
  other.metadata["architecture"] = "sage";
  EXPECT_THAT(RefusalOf([&] { MakeMessagePassingPolicy(other); }), HasSubstr("'sage'"));
  other = good;
  other.metadata["version"] = "2";
  EXPECT_THAT(RefusalOf([&] { MakeMessagePassingPolicy(other); }), HasSubstr("version '2'"));
  other = good;
  other.metadata.clear();
  EXPECT_THAT(RefusalOf([&] { MakeMessagePassingPolicy(other); }), HasSubstr("architecture"));
  for (const auto& [name, shape] : MessagePassingShapes(false)) {
    other = good;
    other.tensors.erase(name);
    EXPECT_THAT(RefusalOf([&] { MakeMessagePassingPolicy(other); }), HasSubstr(name));
    other = good;
    other.tensors[name].shape.push_back(1);
    EXPECT_THAT(RefusalOf([&] { MakeMessagePassingPolicy(other); }), HasSubstr(name));
  }
}

// Finite weights can be so large that sums overflow; what comes out must still be usable.
TEST(MessagePassing, KeepsLogitsFiniteUnderAbsurdWeightsAndPriors) {
  Random random(9);
  const auto problem = OddProblem(random);
  Weights weights = RandomWeights(10, 1.0);
  for (auto& [name, tensor] : weights.tensors) {
    for (float& value : tensor.values) value *= 1e30f;
  }
  const auto absurd = MakeMessagePassingPolicy(weights)->Prepare(problem->environment, 0.1);
  const auto sane = MakeMessagePassingPolicy(RandomWeights(11, 0.1))->Prepare(problem->environment, 0.1);
  Walk(problem->environment, random, [&](const State& state, const Observation& groups, int, const Observation&) {
    std::vector<float> logits(groups.size());
    absurd->ScoreGroups(state, groups, logits);
    for (const float logit : logits) EXPECT_TRUE(std::isfinite(logit));
    Observation far = groups;
    for (float& prior : far.priors) prior = -INFINITY;
    sane->ScoreGroups(state, far, logits);
    for (const float logit : logits) EXPECT_TRUE(std::isfinite(logit));
  });
}

}  // namespace
}  // namespace millrace::testing

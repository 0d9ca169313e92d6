// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/topoformer.h"

#include <cmath>
#include <set>

#include "millrace/gflownet/environment/backward.h"
#include "millrace/gflownet/environment/graph_features.h"
#include "millrace/gflownet/policy/group_relations.h"
#include "millrace/gflownet/policy/learned_policy.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/policy/state_features.h"
#include "tests/formats/refusal.h"
#include "tests/gflownet/policy/policy_problem.h"
#include "tests/reference/shaken_weights.h"
#include "tests/reference/slow_network.h"
#include "tests/reference/temporary_folder.h"
#include "tests/reference/tidy_problem.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

Weights RandomWeights(Encodes encodes, std::uint64_t seed) {
  Random random(seed);
  const Weights weights = InitialTopoformerWeights(encodes, random);
  return Shaken(weights, random, 0.05);
}

void ExpectNear(const std::vector<float>& logits, const Row& slow) {
  ASSERT_EQ(logits.size(), slow.size());
  for (std::size_t i = 0; i < slow.size(); ++i)
    EXPECT_NEAR(logits[i], slow[i], 1e-4 * std::max(1.0, std::fabs(slow[i])));
}

double LogSumExp(const Row& x) {
  const double most = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (const double value : x) sum += std::exp(value - most);
  return most + std::log(sum);
}

TEST(GroupRelations, AreThoseThatPathsTell) {
  Random random(1);
  for (int i = 0; i < 60; ++i) {
    const auto problem = OddProblem(random);
    const int groups = problem->costed.num_groups;
    const std::vector<Relation> relations = GroupRelations(problem->costed);
    ASSERT_EQ(relations.size(), static_cast<std::size_t>(groups) * groups);
    for (int a = 0; a < groups; ++a) {
      for (int b = 0; b < groups; ++b)
        EXPECT_EQ(static_cast<int>(relations[a * groups + b]), SlowRelation(problem->costed, a, b));
    }
  }
}

TEST(GroupRelations, ReachAcrossManyWordsOfBits) {
  Random random(2);
  const Problem problem(TidyGraph(random, 150), EqualMachine(2));
  const std::vector<Relation> relations = GroupRelations(problem.costed);
  for (int i = 0; i < 3000; ++i) {
    const auto a = static_cast<int>(random.Below(150)), b = static_cast<int>(random.Below(150));
    EXPECT_EQ(static_cast<int>(relations[a * 150 + b]), SlowRelation(problem.costed, a, b));
  }
}

TEST(StateFeatures, DoNotTellHowTheStateWasBuilt) {
  Random random(3);
  for (int i = 0; i < 30; ++i) {
    const auto problem = OddProblem(random);
    const std::vector<Action> actions =
        Walk(problem->environment, random, [](const State&, const Observation&, int, const Observation&) {});
    State state(problem->environment);
    for (const Action& action : actions) state.Append(action);
    StateFeatures features, other;
    MakeStateFeatures(state, features);
    State rebuilt(problem->environment);
    for (const Action& action : DrawTrajectory(problem->costed, state.assignment(), random)) rebuilt.Append(action);
    MakeStateFeatures(rebuilt, other);
    EXPECT_EQ(features.groups, other.groups);
    EXPECT_EQ(features.devices, other.devices);
    ASSERT_EQ(features.links.size(), other.links.size());
    for (std::size_t l = 0; l < features.links.size(); ++l) {
      EXPECT_EQ(features.links[l].before, other.links[l].before);
      EXPECT_EQ(features.links[l].behind, other.links[l].behind);
    }
  }
}

TEST(StateFeatures, LinkTheNeighboursOnEveryChainOnce) {
  Random random(4);
  for (int i = 0; i < 30; ++i) {
    const auto problem = OddProblem(random);
    const Topology& topology = problem->costed.topology;
    Walk(problem->environment, random, [&](const State& state, const Observation&, int, const Observation&) {
      std::set<std::pair<int, int>> expected, linked;
      for (int unit = 0; unit < topology.num_units; ++unit) {
        int before = -1;
        for (const int group : state.assignment().sequence) {
          const int device = state.assignment().placement[static_cast<std::size_t>(group)];
          const auto begin = topology.device_units.begin() + topology.device_offsets[device];
          const auto end = topology.device_units.begin() + topology.device_offsets[device + 1];
          if (std::find(begin, end, unit) == end) continue;
          if (before >= 0) expected.emplace(before, group);
          before = group;
        }
      }
      StateFeatures features;
      MakeStateFeatures(state, features);
      for (const StateFeatures::Link& link : features.links)
        EXPECT_TRUE(linked.emplace(link.before, link.behind).second);
      EXPECT_EQ(linked, expected);
    });
  }
}

void ExpectGraphParity(const Weights& weights, const Problem& problem, double temperature, Random& random) {
  const auto prepared = MakeTopoformerPolicy(weights)->Prepare(problem.environment, temperature);
  const GraphFeatures graph = MakeGraphFeatures(problem.environment);
  const Row condition = SlowCondition(weights, graph, temperature);
  std::vector<Row> rows;
  for (int g = 0; g < graph.num_groups; ++g)
    rows.push_back(Relu(SlowLinear(weights, "input", RowOf(graph.nodes, static_cast<std::size_t>(g), kNodeFeatures))));
  rows = SlowTopoformer(weights, problem.costed, graph, {}, condition, rows);
  Walk(problem.environment, random,
       [&](const State& state, const Observation& groups, int group, const Observation& devices) {
         std::vector<float> logits(groups.size());
         prepared->ScoreGroups(state, groups, logits);
         ExpectNear(logits, SlowLogits(weights, graph, rows, condition, -1, groups));
         logits.resize(devices.size());
         prepared->ScoreDevices(state, group, devices, logits);
         ExpectNear(logits, SlowLogits(weights, graph, rows, condition, group, devices));
       });
}

TEST(Topoformer, AgreesWithItsFormulasWhereItEncodesTheGraph) {
  Random random(6);
  for (std::uint64_t i = 0; i < 10; ++i) {
    const auto problem = OddProblem(random);
    ExpectGraphParity(RandomWeights(Encodes::kGraph, i), *problem, random.LogNormal(-2, 1), random);
  }
  const Problem problem(TidyGraph(random, 60), EqualMachine(3));
  ExpectGraphParity(RandomWeights(Encodes::kGraph, 20), problem, 0.1, random);
}

void ExpectStateParity(const Weights& weights, const Problem& problem, double temperature, Random& random) {
  const auto prepared = MakeTopoformerPolicy(weights)->Prepare(problem.environment, temperature);
  const GraphFeatures graph = MakeGraphFeatures(problem.environment);
  const Row condition = SlowCondition(weights, graph, temperature);
  Walk(problem.environment, random,
       [&](const State& state, const Observation& groups, int group, const Observation& devices) {
         StateFeatures features;
         MakeStateFeatures(state, features);
         std::vector<Row> rows;
         for (int g = 0; g < graph.num_groups; ++g) {
           const auto at = static_cast<std::size_t>(g);
           Row row = Plus(SlowLinear(weights, "input", RowOf(graph.nodes, at, kNodeFeatures)),
                          SlowLinear(weights, "input.state", RowOf(features.groups, at, kStateGroupFeatures)));
           const int device = state.assignment().placement[at];
           if (device >= 0)
             row = Plus(row, SlowLinear(weights, "input.place", SlowPlace(weights, graph, features, device)));
           rows.push_back(Relu(row));
         }
         rows = SlowTopoformer(weights, problem.costed, graph, features.links, condition, rows);
         Row slow;
         for (std::size_t i = 0; i < groups.size(); ++i) {
           Observation observed;
           ObserveDevices(state, groups.choices[i], observed);
           const Row& embedding = rows[static_cast<std::size_t>(groups.choices[i])];
           slow.push_back(LogSumExp(SlowJoint(weights, graph, features, embedding, condition, observed,
                                              CompletionsOf(state, groups.choices[i], observed, temperature))) +
                          SlowPrior(weights, "group", condition, groups, i));
         }
         std::vector<float> logits(groups.size());
         prepared->ScoreGroups(state, groups, logits);
         ExpectNear(logits, slow);
         logits.resize(devices.size());
         prepared->ScoreDevices(state, group, devices, logits);
         ExpectNear(logits, SlowJoint(weights, graph, features, rows[static_cast<std::size_t>(group)], condition,
                                      devices, CompletionsOf(state, group, devices, temperature)));
       });
}

TEST(Topoformer, AgreesWithItsFormulasWhereItEncodesTheState) {
  Random random(7);
  for (std::uint64_t i = 0; i < 6; ++i) {
    const auto problem = OddProblem(random);
    ExpectStateParity(RandomWeights(Encodes::kState, i), *problem, random.LogNormal(-2, 1), random);
  }
}

// Two states of the same groups on the same devices that differ only in the order of two groups on a chain.
TEST(Topoformer, SeesTheOrderOnAChainWhereItEncodesTheState) {
  GraphData data;
  for (const double seconds : {1.0, 1.0, 2.0}) {
    Op op;
    op.name = "op" + std::to_string(data.ops.size());
    op.seconds.everywhere = seconds;
    data.ops.push_back(op);
  }
  const Problem problem(ComputationGraph(data), EqualMachine(2));
  const auto prepared = MakeTopoformerPolicy(RandomWeights(Encodes::kState, 8))->Prepare(problem.environment, 0.1);
  std::vector<std::vector<float>> seen;
  for (const bool swapped : {false, true}) {
    State state(problem.environment);
    state.Append({swapped ? 2 : 0, 0});
    state.Append({swapped ? 0 : 2, 0});
    Observation devices;
    ObserveDevices(state, 1, devices);
    seen.emplace_back(devices.size());
    prepared->ScoreDevices(state, 1, devices, seen.back());
  }
  EXPECT_NE(seen[0], seen[1]);
}

TEST(Topoformer, StartsAsItsPrior) {
  Random random(9);
  for (const Encodes encodes : {Encodes::kGraph, Encodes::kState}) {
    const Weights weights = InitialTopoformerWeights(encodes, random);
    const auto policy = MakeTopoformerPolicy(weights);
    const bool state_encoded = encodes == Encodes::kState;
    const std::string device_head = state_encoded ? "joint" : "device";
    for (int i = 0; i < 5; ++i) {
      const auto problem = OddProblem(random);
      const auto prepared = policy->Prepare(problem->environment, 0.1);
      const Row condition = SlowCondition(weights, MakeGraphFeatures(problem->environment), 0.1);
      Walk(problem->environment, random,
           [&](const State& state, const Observation& groups, int group, const Observation& devices) {
             const auto device_priors = [&](int of, const Observation& observed) {
               Row priors;
               const Observation completions = CompletionsOf(state, of, observed, 0.1);
               for (std::size_t c = 0; c < observed.size(); ++c) {
                 priors.push_back(SlowPrior(weights, device_head, condition, observed, c));
                 if (state_encoded) priors.back() += SlowPrior(weights, "completion", condition, completions, c);
               }
               return priors;
             };
             Row expected;
             for (std::size_t c = 0; c < groups.size(); ++c) {
               expected.push_back(SlowPrior(weights, "group", condition, groups, c));
               if (!state_encoded) continue;
               Observation observed;
               ObserveDevices(state, groups.choices[c], observed);
               expected.back() += LogSumExp(device_priors(groups.choices[c], observed));
             }
             std::vector<float> logits(groups.size());
             prepared->ScoreGroups(state, groups, logits);
             ExpectNear(logits, expected);
             logits.resize(devices.size());
             prepared->ScoreDevices(state, group, devices, logits);
             ExpectNear(logits, device_priors(group, devices));
           });
    }
  }
}

TEST(Topoformer, HasTheTensorsItSays) {
  for (const Encodes encodes : {Encodes::kGraph, Encodes::kState}) {
    const Weights weights = RandomWeights(encodes, 10);
    EXPECT_EQ(weights.tensors.size(), TopoformerShapes(encodes).size());
    for (const auto& [name, shape] : TopoformerShapes(encodes)) {
      EXPECT_NO_THROW(weights.Get(name, shape));
      Weights other = weights;
      other.tensors.erase(name);
      EXPECT_THAT(RefusalOf([&] { MakeTopoformerPolicy(other); }), HasSubstr(name));
    }
  }
}

TEST(Topoformer, RefusesGraphsBeyondItsLimit) {
  Random random(11);
  const Problem most(TidyGraph(random, kMostTopoformerGroups), EqualMachine(2));
  const Problem more(TidyGraph(random, kMostTopoformerGroups + 1), EqualMachine(2));
  for (const Encodes encodes : {Encodes::kGraph, Encodes::kState}) {
    const auto policy = MakeTopoformerPolicy(RandomWeights(encodes, 12));
    EXPECT_NE(policy->Prepare(most.environment, 0.1), nullptr);
    EXPECT_THAT(RefusalOf([&] { policy->Prepare(more.environment, 0.1); }),
                ::testing::AllOf(HasSubstr("2001 groups"), HasSubstr("at most 2000")));
  }
}

TEST(LearnedPolicy, IsWhatTheWeightsSayTheyAre) {
  Random random(13);
  Weights weights = RandomWeights(Encodes::kState, 14);
  EXPECT_EQ(MakeLearnedPolicy(weights)->name(), "topoformer");
  EXPECT_EQ(MakeLearnedPolicy(InitialMessagePassingWeights(random))->name(), "mpnn");
  weights.metadata["encodes"] = "dreams";
  EXPECT_THAT(RefusalOf([&] { MakeLearnedPolicy(weights); }), HasSubstr("'dreams'"));
  weights.metadata["architecture"] = "oracle";
  EXPECT_THAT(RefusalOf([&] { MakeLearnedPolicy(weights); }), HasSubstr("'oracle'"));
  EXPECT_THAT(RefusalOf([&] { MakeLearnedPolicy(Weights()); }), HasSubstr("architecture"));

  const TemporaryFolder folder;
  const std::string path = folder.Path("policy.safetensors");
  WriteWeights(path, weights);
  EXPECT_THAT(RefusalOf([&] { ReadLearnedPolicy(path); }), ::testing::AllOf(HasSubstr(path), HasSubstr("'oracle'")));
  WriteWeights(path, RandomWeights(Encodes::kGraph, 15));
  EXPECT_EQ(ReadLearnedPolicy(path)->name(), "topoformer");
}

}  // namespace
}  // namespace millrace::testing

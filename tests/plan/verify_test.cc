// SPDX-License-Identifier: Apache-2.0
#include "millrace/plan/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "millrace/errors/errors.h"
#include "millrace/plan/hash.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Optional;

struct Problem {
  explicit Problem(std::uint64_t seed) : random(seed) {
    graph = testing::RandomGraph(random);
    machine = testing::RandomMachine(random);
    plan = testing::RandomPlan(random, graph, machine, testing::RandomGroups(random, graph));
  }
  std::optional<std::string> Why() const { return WhyNotValid(graph, machine, plan); }
  std::size_t SomeGroup() { return random.Below(plan.groups.size()); }

  Random random;
  ComputationGraph graph;
  Machine machine;
  Plan plan;
};

void ForProblems(const std::function<void(Problem&)>& body) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Problem problem(seed);
    ASSERT_EQ(problem.Why(), std::nullopt);
    body(problem);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

std::string Group(std::size_t group) { return "group " + std::to_string(group); }

TEST(WhyNotValid, NamesAnOpThatIsMissing) {
  ForProblems([](Problem& p) {
    const std::size_t group = p.SomeGroup();
    const OpId op = p.plan.groups[group].back();
    p.plan.groups[group].pop_back();
    if (p.plan.groups[group].empty()) {
      EXPECT_THAT(p.Why(), Optional(AllOf(HasSubstr(Group(group)), HasSubstr("empty"))));
      p.plan.groups.erase(p.plan.groups.begin() + static_cast<std::ptrdiff_t>(group));
      EXPECT_THAT(p.Why(), Optional(AllOf(HasSubstr("op " + std::to_string(op)), HasSubstr("no group"))));
    } else {
      EXPECT_THAT(p.Why(), Optional(::testing::AnyOf(HasSubstr("op " + std::to_string(op)), HasSubstr("group"))));
    }
  });
}

TEST(WhyNotValid, NamesAnOpThatIsThereTwiceOrUnknown) {
  ForProblems([](Problem& p) {
    const std::vector<OpId> repeated = p.plan.groups[p.SomeGroup()];
    p.plan.groups.push_back({repeated[0]});
    EXPECT_THAT(p.Why(), Optional(AllOf(HasSubstr(Group(p.plan.groups.size() - 1)),
                                        HasSubstr("op " + std::to_string(repeated[0])), HasSubstr("already"))));
    for (const OpId unknown : {-1, p.graph.num_ops()}) {
      p.plan.groups.back() = {unknown};
      EXPECT_THAT(p.Why(), Optional(AllOf(HasSubstr(Group(p.plan.groups.size() - 1)),
                                          HasSubstr("op " + std::to_string(unknown)))));
    }
  });
}

TEST(WhyNotValid, NamesADeviceThatDoesNotExist) {
  ForProblems([](Problem& p) {
    const std::size_t group = p.SomeGroup();
    for (const int unknown : {-1, static_cast<int>(p.machine.devices.size())}) {
      p.plan.placement[group] = unknown;
      EXPECT_THAT(p.Why(), Optional(AllOf(HasSubstr(Group(group)), HasSubstr("device " + std::to_string(unknown)))));
    }
    p.plan.placement.pop_back();
    EXPECT_THAT(p.Why(), Optional(HasSubstr("placement")));
  });
}

TEST(WhyNotValid, NamesAFaultyPlaceInTheSequence) {
  ForProblems([](Problem& p) {
    const std::vector<int> sequence = p.plan.sequence;
    p.plan.sequence.pop_back();
    EXPECT_THAT(p.Why(), Optional(HasSubstr("sequence")));
    for (const int unknown : {-1, static_cast<int>(p.plan.groups.size())}) {
      p.plan.sequence = sequence;
      p.plan.sequence.back() = unknown;
      EXPECT_THAT(p.Why(), Optional(HasSubstr("group " + std::to_string(unknown))));
    }
    if (sequence.size() > 1) {
      p.plan.sequence = sequence;
      p.plan.sequence.back() = sequence.front();
      EXPECT_THAT(p.Why(),
                  Optional(AllOf(HasSubstr(Group(static_cast<std::size_t>(sequence.front()))), HasSubstr("twice"))));
    }
  });
}

TEST(WhyNotValid, AcceptsASequenceExactlyIfItIsATopologicalOrder) {
  int refused = 0;
  ForProblems([&refused](Problem& p) {
    std::vector<int>& sequence = p.plan.sequence;
    for (std::size_t i = sequence.size(); i > 1; --i) std::swap(sequence[i - 1], sequence[p.random.Below(i)]);
    std::vector<std::size_t> place_of_op(static_cast<std::size_t>(p.graph.num_ops()));
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      for (const OpId op : p.plan.groups[static_cast<std::size_t>(sequence[i])])
        place_of_op[static_cast<std::size_t>(op)] = i;
    }
    bool topological = true;
    for (const Tensor& tensor : p.graph.tensors()) {
      for (const OpId reader : tensor.consumers) {
        topological = topological && (tensor.producer < 0 || place_of_op[static_cast<std::size_t>(tensor.producer)] <=
                                                                 place_of_op[static_cast<std::size_t>(reader)]);
      }
    }
    ASSERT_EQ(p.Why() == std::nullopt, topological);
    refused += topological ? 0 : 1;
  });
  EXPECT_GT(refused, 50);
}

TEST(WhyNotValid, NamesAnOpOnADeviceItCannotUse) {
  int tried = 0;
  ForProblems([&tried](Problem& p) {
    p.machine.devices.push_back({"odd", "abacus", {10000}, 1, 1, std::nullopt, 0});
    for (std::size_t g = 0; g < p.plan.groups.size(); ++g) {
      const std::vector<OpId>& group = p.plan.groups[g];
      const auto stuck =
          std::find_if(group.begin(), group.end(), [&p](OpId op) { return !p.graph.op(op).seconds.by_kind.empty(); });
      const bool tied =
          std::any_of(group.begin(), group.end(), [&p](OpId op) { return !p.graph.op(op).colocate.empty(); });
      if (stuck == group.end() || tied) continue;
      const int before = p.plan.placement[g];
      p.plan.placement[g] = static_cast<int>(p.machine.devices.size()) - 1;
      EXPECT_THAT(p.Why(), Optional(AllOf(HasSubstr(Group(g)), HasSubstr("abacus"))));
      p.plan.placement[g] = before;
      ++tried;
    }
  });
  EXPECT_GT(tried, 100);
}

TEST(WhyNotValid, RefusesAGroupWhoseStatedTimeLeavesTheDeviceOut) {
  GraphData data;
  data.ops.resize(2);
  data.group_seconds = {{{1}, {std::nullopt, {{"gpu", 1.0}}}}};
  const ComputationGraph graph(std::move(data));
  Machine machine;
  machine.devices = {{"0", "cpu", {0}, 1, 1, std::nullopt, 0}, {"1", "gpu", {1}, 1, 1, std::nullopt, 0}};
  EXPECT_EQ(WhyNotValid(graph, machine, {{{0}, {1}}, {0, 1}, {0, 1}}), std::nullopt);
  EXPECT_THAT(WhyNotValid(graph, machine, {{{0}, {1}}, {0, 0}, {0, 1}}),
              Optional(AllOf(HasSubstr("group 1"), HasSubstr("'cpu'"))));
}

TEST(WhyNotValid, RefusesColocatedOpsApart) {
  GraphData data;
  data.ops.resize(3);
  data.ops[0].colocate = data.ops[2].colocate = "table";
  data.ops[2].name = "lookup";
  const ComputationGraph graph(std::move(data));
  Machine machine;
  for (int d = 0; d < 2; ++d) machine.devices.push_back({"d", "cpu", {d}, 1, 1, std::nullopt, 0});
  EXPECT_EQ(WhyNotValid(graph, machine, {{{0}, {1}, {2}}, {1, 0, 1}, {0, 1, 2}}), std::nullopt);
  EXPECT_THAT(WhyNotValid(graph, machine, {{{0}, {1}, {2}}, {1, 1, 0}, {0, 1, 2}}),
              Optional(AllOf(HasSubstr("group 2"), HasSubstr("'lookup'"), HasSubstr("'table'"))));
}

TEST(VerifyRecord, TakesAPlanOfThisGraphAndOneThatNamesNoneAndRefusesAnothers) {
  Problem problem(7);
  PlanRecord record;
  record.machine = problem.machine;
  record.plan = problem.plan;
  EXPECT_NO_THROW(VerifyRecord(problem.graph, record));
  record.graph_hash = GraphHash(problem.graph);
  EXPECT_NO_THROW(VerifyRecord(problem.graph, record));
  record.graph_hash = GraphHash(Problem(8).graph);
  EXPECT_THAT([&] { VerifyRecord(problem.graph, record); },
              ::testing::ThrowsMessage<InvalidInput>(HasSubstr("made for another graph")));
}

TEST(VerifyPlan, ThrowsTheReasonInOneLine) {
  const ComputationGraph graph(GraphData{"g", {Op{}}, {}, {}});
  Machine machine;
  machine.devices = {{"0", "cpu", {0}, 1, 1, std::nullopt, 0}};
  EXPECT_NO_THROW(VerifyPlan(graph, machine, {{{0}}, {0}, {0}}));
  try {
    VerifyPlan(graph, machine, {{{0}}, {1}, {0}});
    FAIL();
  } catch (const InvalidInput& complaint) {
    EXPECT_THAT(complaint.what(), HasSubstr("group 0 is placed on device 1"));
    EXPECT_EQ(std::string(complaint.what()).find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/onnxruntime/stretches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;

// before[a][b]: a is over before b begins, in any run. Straight from the rules, by Floyd and Warshall.
using Before = std::vector<std::vector<bool>>;

void Close(Before& before) {
  for (std::size_t k = 0; k < before.size(); ++k) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (std::size_t j = 0; before[i][k] && j < before.size(); ++j) {
        if (before[k][j]) before[i][j] = true;
      }
    }
  }
}

bool ShareAUnit(const Device& a, const Device& b) {
  return std::any_of(a.units.begin(), a.units.end(),
                     [&b](int unit) { return std::find(b.units.begin(), b.units.end(), unit) != b.units.end(); });
}

// What a plan asks of ops: those of one group count as one, so within it nothing is asked.
Before OfPlan(const ComputationGraph& graph, const Machine& machine, const Plan& plan) {
  const auto ops = static_cast<std::size_t>(graph.num_ops());
  std::vector<std::size_t> group_of(ops), place_of(plan.groups.size());
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    for (const OpId op : plan.groups[g]) group_of[static_cast<std::size_t>(op)] = g;
  }
  for (std::size_t place = 0; place < plan.sequence.size(); ++place)
    place_of[static_cast<std::size_t>(plan.sequence[place])] = place;
  Before groups(plan.groups.size(), std::vector<bool>(plan.groups.size(), false));
  for (std::size_t a = 0; a < groups.size(); ++a) {
    for (std::size_t b = 0; b < groups.size(); ++b) {
      const Device& one = machine.devices[static_cast<std::size_t>(plan.placement[a])];
      const Device& other = machine.devices[static_cast<std::size_t>(plan.placement[b])];
      if (place_of[a] < place_of[b] && ShareAUnit(one, other)) groups[a][b] = true;
    }
    for (const OpId op : plan.groups[a]) {
      for (const OpId reader : graph.Successors(op)) {
        const std::size_t b = group_of[static_cast<std::size_t>(reader)];
        if (b != a) groups[a][b] = true;
      }
    }
  }
  Close(groups);
  Before before(ops, std::vector<bool>(ops, false));
  for (std::size_t a = 0; a < ops; ++a) {
    for (std::size_t b = 0; b < ops; ++b) before[a][b] = groups[group_of[a]][group_of[b]];
  }
  return before;
}

// The same of stretches, of which `merged` may be taken as one. Nothing where they wait in a circle.
std::optional<Before> OfStretches(const ComputationGraph& graph, const std::vector<Stretch>& stretches,
                                  const Machine& machine, std::pair<int, int> merged = {-1, -1}) {
  const auto number = [&](int stretch) {
    return static_cast<std::size_t>(stretch == merged.second ? merged.first : stretch);
  };
  std::vector<std::size_t> stretch_of(static_cast<std::size_t>(graph.num_ops()));
  Before of(stretches.size(), std::vector<bool>(stretches.size(), false));
  for (std::size_t s = 0; s < stretches.size(); ++s) {
    for (const OpId op : stretches[s].ops) stretch_of[static_cast<std::size_t>(op)] = number(static_cast<int>(s));
    for (std::size_t later = s + 1; later < stretches.size(); ++later) {
      const bool same = ShareAUnit(machine.devices[static_cast<std::size_t>(stretches[s].device)],
                                   machine.devices[static_cast<std::size_t>(stretches[later].device)]);
      const std::size_t a = number(static_cast<int>(s));
      const std::size_t b = number(static_cast<int>(later));
      if (same && a != b) of[a][b] = true;
    }
  }
  for (OpId op = 0; op < graph.num_ops(); ++op) {
    for (const OpId reader : graph.Successors(op)) {
      const std::size_t a = stretch_of[static_cast<std::size_t>(op)];
      const std::size_t b = stretch_of[static_cast<std::size_t>(reader)];
      if (a != b) of[a][b] = true;
    }
  }
  Close(of);
  for (std::size_t s = 0; s < of.size(); ++s) {
    if (of[s][s]) return std::nullopt;
  }
  Before before(stretch_of.size(), std::vector<bool>(stretch_of.size(), false));
  for (std::size_t a = 0; a < stretch_of.size(); ++a) {
    for (std::size_t b = 0; b < stretch_of.size(); ++b) before[a][b] = of[stretch_of[a]][stretch_of[b]];
  }
  return before;
}

// Is something waited for that the plan does not ask for, ops of one stretch aside?
bool WaitsForMore(const Before& cut, const Before& plan) {
  for (std::size_t a = 0; a < plan.size(); ++a) {
    for (std::size_t b = 0; b < plan.size(); ++b) {
      if (cut[a][b] && !plan[a][b]) return true;
    }
  }
  return false;
}

class Stretches : public ::testing::TestWithParam<int> {
 protected:
  Stretches() : random_(static_cast<std::uint64_t>(GetParam())) {
    graph_ = testing::RandomGraph(random_);
    machine_ = testing::RandomMachine(random_);
    plan_ = testing::RandomPlan(random_, graph_, machine_, testing::RandomGroups(random_, graph_));
    stretches_ = CutIntoStretches(graph_, machine_, plan_);
  }

  Random random_;
  ComputationGraph graph_;
  Machine machine_;
  Plan plan_;
  std::vector<Stretch> stretches_;
};

TEST_P(Stretches, HoldEveryOpOnceOnItsDevice) {
  std::map<OpId, int> device_of;
  for (const Stretch& stretch : stretches_) {
    EXPECT_TRUE(std::is_sorted(stretch.ops.begin(), stretch.ops.end()));
    for (const OpId op : stretch.ops) EXPECT_TRUE(device_of.emplace(op, stretch.device).second) << op;
  }
  EXPECT_EQ(device_of.size(), static_cast<std::size_t>(graph_.num_ops()));
  for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
    for (const OpId op : plan_.groups[g]) EXPECT_EQ(device_of[op], plan_.placement[g]);
  }
}

TEST_P(Stretches, WaitForEarlierOnesAndForAllTheyHaveTo) {
  std::vector<std::size_t> stretch_of(static_cast<std::size_t>(graph_.num_ops()));
  for (std::size_t s = 0; s < stretches_.size(); ++s) {
    for (const OpId op : stretches_[s].ops) stretch_of[static_cast<std::size_t>(op)] = s;
  }
  // What a stretch waits for, directly or not.
  std::vector<std::set<std::size_t>> waits(stretches_.size());
  for (std::size_t s = 0; s < stretches_.size(); ++s) {
    EXPECT_TRUE(std::is_sorted(stretches_[s].after.begin(), stretches_[s].after.end()));
    for (const int other : stretches_[s].after) {
      ASSERT_LT(static_cast<std::size_t>(other), s);
      waits[s].insert(static_cast<std::size_t>(other));
      waits[s].insert(waits[static_cast<std::size_t>(other)].begin(), waits[static_cast<std::size_t>(other)].end());
    }
    for (const OpId op : stretches_[s].ops) {
      for (const OpId from : graph_.Predecessors(op)) {
        const std::size_t other = stretch_of[static_cast<std::size_t>(from)];
        EXPECT_TRUE(other == s || waits[s].contains(other)) << "an input of stretch " << s;
      }
    }
    for (std::size_t earlier = 0; earlier < s; ++earlier) {
      if (ShareAUnit(machine_.devices[static_cast<std::size_t>(stretches_[s].device)],
                     machine_.devices[static_cast<std::size_t>(stretches_[earlier].device)])) {
        EXPECT_TRUE(waits[s].contains(earlier)) << "a unit of stretch " << s;
      }
    }
  }
}

TEST_P(Stretches, AskForNoMoreWaitingThanThePlan) {
  const std::optional<Before> cut = OfStretches(graph_, stretches_, machine_);
  ASSERT_TRUE(cut) << "they wait in a circle";
  const Before plan = OfPlan(graph_, machine_, plan_);
  EXPECT_FALSE(WaitsForMore(*cut, plan));
  // And for no less, but within a stretch, which runs its ops as their data allows.
  for (std::size_t a = 0; a < plan.size(); ++a) {
    for (std::size_t b = 0; b < plan.size(); ++b) {
      const bool together = std::any_of(stretches_.begin(), stretches_.end(), [&](const Stretch& stretch) {
        const auto has = [&stretch](std::size_t op) {
          return std::binary_search(stretch.ops.begin(), stretch.ops.end(), static_cast<OpId>(op));
        };
        return has(a) && has(b);
      });
      EXPECT_TRUE(!plan[a][b] || together || (*cut)[a][b]) << a << " before " << b;
    }
  }
}

TEST_P(Stretches, AreAsLongAsTheyCanBe) {
  const Before plan = OfPlan(graph_, machine_, plan_);
  for (int first = 0; first < static_cast<int>(stretches_.size()); ++first) {
    // The next one on the device, with nothing between them on any of its units.
    const Stretch& one = stretches_[static_cast<std::size_t>(first)];
    const Device& device = machine_.devices[static_cast<std::size_t>(one.device)];
    for (int next = first + 1; next < static_cast<int>(stretches_.size()); ++next) {
      const Stretch& other = stretches_[static_cast<std::size_t>(next)];
      if (!ShareAUnit(device, machine_.devices[static_cast<std::size_t>(other.device)])) continue;
      if (other.device == one.device) {
        const std::optional<Before> merged = OfStretches(graph_, stretches_, machine_, {first, next});
        EXPECT_TRUE(!merged || WaitsForMore(*merged, plan)) << first << " and " << next << " could be one";
      }
      break;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(RandomPlans, Stretches, ::testing::Range(0, 300));

// Ops joined by tensors, none with a cost.
ComputationGraph Joined(int ops, const std::vector<std::pair<OpId, OpId>>& edges) {
  GraphData data;
  data.ops.resize(static_cast<std::size_t>(ops));
  for (const auto& [from, to] : edges) {
    Tensor tensor;
    tensor.producer = from;
    tensor.consumers = {to};
    data.tensors.push_back(tensor);
  }
  return ComputationGraph(std::move(data));
}

Machine TwoCoresAndBoth() {
  Machine machine;
  machine.devices = {
      {"a", "cpu", {0}, 1, 1, {}, 0}, {"b", "cpu", {1}, 1, 1, {}, 0}, {"both", "cpu_x2", {0, 1}, 1, 1, {}, 0}};
  return machine;
}

TEST(StretchesOf, ATreeAreOneOnOneDevice) {
  const ComputationGraph graph = Joined(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  const auto stretches =
      CutIntoStretches(graph, TwoCoresAndBoth(), {SingleOpGroups(graph), {2, 2, 2, 2}, {0, 1, 2, 3}});
  ASSERT_EQ(stretches.size(), 1u);
  EXPECT_THAT(stretches[0].ops, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(stretches[0].after, ElementsAre());
}

TEST(StretchesOf, AForkEndWhereTheOtherDeviceBegins) {
  const ComputationGraph graph = Joined(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  const auto stretches =
      CutIntoStretches(graph, TwoCoresAndBoth(), {SingleOpGroups(graph), {0, 0, 1, 0}, {0, 1, 2, 3}});
  ASSERT_EQ(stretches.size(), 4u) << "the fork, a branch on each core, the join";
  EXPECT_THAT(stretches[1].ops, ElementsAre(1));
  EXPECT_THAT(stretches[1].after, ElementsAre(0));
  EXPECT_THAT(stretches[3].after, ElementsAre(1, 2));
}

TEST(StretchesOf, IndependentChainsAreOneEach) {
  const ComputationGraph graph = Joined(6, {{0, 1}, {1, 2}, {3, 4}, {4, 5}});
  const auto stretches = CutIntoStretches(graph, TwoCoresAndBoth(),
                                          {SingleOpGroups(graph), {0, 0, 0, 1, 1, 1, {}, 0}, {0, 3, 1, 4, 2, 5}});
  ASSERT_EQ(stretches.size(), 2u);
  EXPECT_THAT(stretches[1].after, ElementsAre());
}

}  // namespace
}  // namespace millrace

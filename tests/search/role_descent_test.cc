// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/role_descent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/machine/preset.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

constexpr int kParts = 4;
constexpr int kSteps = 40;

// As many recurrences side by side as there are parts, each of one layer, of ops that take a second.
ComputationGraph Recurrences() {
  GraphData data;
  for (int part = 0; part < kParts; ++part) {
    for (int step = 0; step < kSteps; ++step) {
      const int op = part * kSteps + step;
      data.ops.emplace_back();
      data.ops.back().seconds.everywhere = 1;
      data.ops.back().layer = part;
      if (step > 0) data.tensors.back().consumers.push_back(op);
      Tensor made;
      made.producer = op;
      made.bytes = 1e9;
      data.tensors.push_back(made);
    }
  }
  return ComputationGraph(data);
}

CostedGraph Costed(const ComputationGraph& graph) {
  const std::string machine = "homogeneous:" + std::to_string(kParts) + ",latency=0,bandwidth=1e9";
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, *MachinePreset(machine)), SingleOpGroups(graph));
}

// The longest that a device is busy, and a second for each transfer.
double Judged(const CostedGraph& costed, const std::vector<int>& placement) {
  std::vector<double> busy(static_cast<std::size_t>(costed.num_devices), 0.0);
  double transfers = 0;
  for (int group = 0; group < costed.num_groups; ++group) {
    const auto at = static_cast<std::size_t>(group);
    busy[static_cast<std::size_t>(placement[at])] += costed.fastest_seconds[at];
    for (const GroupEdge& edge : costed.Predecessors(group))
      transfers += placement[static_cast<std::size_t>(edge.group)] != placement[at] ? 1 : 0;
  }
  return *std::max_element(busy.begin(), busy.end()) + transfers;
}

class Descent {
 public:
  explicit Descent(const CostedGraph& costed)
      : costed_(costed),
        levels_(MovedClusters(costed)),
        moving_(costed, levels_, std::vector<int>(static_cast<std::size_t>(costed.num_groups), 0)) {}

  double Run(int most) {
    return DescendByRoles(
        costed_, Judged(costed_, moving_.placement()),
        [this](const std::vector<int>& placement, double) {
          ++judged_;
          return Judged(costed_, placement);
        },
        [this, most] { return judged_ >= most; }, moving_);
  }

  int judged() const { return judged_; }
  const std::vector<int>& placement() const { return moving_.placement(); }

 private:
  const CostedGraph& costed_;
  std::vector<ClusterLevel> levels_;
  MovingPlacement moving_;
  int judged_ = 0;
};

TEST(RoleDescent, MovesWholePartsOfAGraphThatRepeatsItself) {
  const CostedGraph costed = Costed(Recurrences());
  Descent descent(costed);
  const double found = descent.Run(1000);
  EXPECT_EQ(found, Judged(costed, descent.placement()));
  EXPECT_EQ(found, kSteps) << "every recurrence on a device of its own";
  EXPECT_LT(descent.judged(), 100);
  EXPECT_LE(descent.judged(), 2 * MostTriesOfParts(costed)) << "in two passes";
}

TEST(RoleDescent, StopsWhenItIsToldTo) {
  const CostedGraph costed = Costed(Recurrences());
  Descent descent(costed);
  EXPECT_LE(descent.Run(5), kParts * kSteps);
  EXPECT_EQ(descent.judged(), 5);
}

TEST(RoleDescent, LeavesAGraphAloneThatDoesNotRepeatItself) {
  const CostedGraph costed = Costed(MakeRandomGraph("layered", {.ops = 200, .ccr = 1, .seed = 3}));
  Descent descent(costed);
  const std::vector<int> before = descent.placement();
  EXPECT_EQ(descent.Run(1000), Judged(costed, before));
  EXPECT_EQ(descent.judged(), 0);
  EXPECT_EQ(MostTriesOfParts(costed), 0);
  EXPECT_EQ(descent.placement(), before);
}

}  // namespace
}  // namespace millrace

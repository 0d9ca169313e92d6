// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/demonstration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "millrace/machine/preset.h"
#include "millrace/workloads/random_graph.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

TEST(GoDemonstration, TakesWhatItSays) {
  Random random(5);
  int searched = 0;
  for (int i = 0; i < 20; ++i) {
    ComputationGraph graph = testing::RandomGraph(random, {.memory = true});
    if (graph.num_ops() == 0) continue;
    const GoTrainingProblem problem("odd", std::move(graph), testing::RandomMachine(random, {.memory = true}));
    const KnownDecisions known = SearchDemonstration(problem, {.evaluations = 20, .seconds = {}}, random).known;
    if (!std::isfinite(known.seconds)) continue;
    ++searched;
    EXPECT_EQ(problem.Seconds(known.decisions), known.seconds);
    EXPECT_GT(problem.reference_seconds(), 0);
  }
  EXPECT_GT(searched, 5);
}

TEST(GoDemonstration, FromGivenDecisionsKeepsTheirFusionAndIsNoWorse) {
  Random random(11);
  int better = 0;
  for (int i = 0; i < 10; ++i) {
    const GoTrainingProblem problem("random", MakeRandomGraph("er", {.ops = 60, .ccr = 2, .seed = random.Below(1000)}),
                                    *MachinePreset("homogeneous:3,latency=0,bandwidth=1e9"));
    Decisions start;
    for (int colocation = 0; colocation < problem.problem().num_colocations(); ++colocation)
      start.device.push_back(static_cast<std::int32_t>(random.Below(3)));
    for (int row = 0; row < problem.problem().num_rows(); ++row) {
      start.priority.push_back(static_cast<std::uint8_t>(random.Below(kLevels)));
      start.fusion.push_back(static_cast<std::uint8_t>(random.Below(kLevels)));
    }
    const GoDemonstration found =
        SearchDemonstration(problem, {.evaluations = 60, .seconds = {}, .start = &start}, random);
    EXPECT_EQ(found.known.decisions.fusion, start.fusion);
    EXPECT_EQ(problem.Seconds(found.known.decisions), found.known.seconds);
    EXPECT_LE(found.known.seconds, problem.Seconds(start));
    const GoDemonstration levelled = SearchDemonstration(
        problem, {.evaluations = 60, .seconds = {}, .start = &start, .order_is_decided = true}, random);
    EXPECT_TRUE(levelled.known.decisions.Has(Task::kPriority));
    EXPECT_GE(found.evaluations, 60);
    if (found.known.seconds < problem.Seconds(start)) ++better;
  }
  EXPECT_GE(better, 8);
}

TEST(GoDemonstration, NumbersEqualDevicesByTheWorkTheyDo) {
  // Two chains that follow one another: whoever takes the first half is device 0.
  const GoTrainingProblem problem("layered", MakeRandomGraph("layered", {.ops = 80, .ccr = 5, .seed = 2}),
                                  *MachinePreset("homogeneous:4,latency=0,bandwidth=1e9"));
  Random random(1);
  const KnownDecisions known = SearchDemonstration(problem, {.evaluations = 100, .seconds = {}}, random).known;
  ASSERT_TRUE(std::isfinite(known.seconds));
  std::vector<double> position(4, 0), ops(4, 0);
  const GoProblem& go = problem.problem();
  for (std::int32_t row = 0; row < go.num_rows(); ++row) {
    const auto device =
        static_cast<std::size_t>(known.decisions.device[static_cast<std::size_t>(go.ColocationOf(row))]);
    position[device] += go.progress()[static_cast<std::size_t>(row)];
    ops[device] += 1;
  }
  double before = -1;
  for (std::size_t d = 0; d < 4; ++d) {
    if (ops[d] == 0) continue;
    EXPECT_GE(position[d] / ops[d], before);
    before = position[d] / ops[d];
  }
}

}  // namespace
}  // namespace millrace

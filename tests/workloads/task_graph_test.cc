// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/task_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

double BytesPerTensor(const ComputationGraph& graph) {
  double sum = 0;
  for (const Tensor& tensor : graph.tensors()) sum += tensor.bytes;
  return sum / graph.num_tensors();
}

// Ops on the longest path that ends at each.
std::vector<int> Depths(const ComputationGraph& graph) {
  std::vector<int> depths(static_cast<std::size_t>(graph.num_ops()), 1);
  for (const OpId op : graph.topological_order()) {
    int& depth = depths[static_cast<std::size_t>(op)];
    for (const OpId before : graph.Predecessors(op))
      depth = std::max(depth, depths[static_cast<std::size_t>(before)] + 1);
  }
  return depths;
}

int Depth(const ComputationGraph& graph) {
  const std::vector<int> depths = Depths(graph);
  return *std::max_element(depths.begin(), depths.end());
}

std::map<std::string, int> CountByType(const ComputationGraph& graph) {
  std::map<std::string, int> counts;
  for (const Op& op : graph.ops()) ++counts[op.type];
  return counts;
}

class EveryTaskGraph : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryTaskGraph, ListsOpsInTopologicalOrderAndHangsTogether) {
  for (const std::int64_t ops : {1, 2, 5, 12, 50, 333, 2000}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const ComputationGraph graph = MakeTaskGraph(GetParam(), {.ops = ops, .ccr = 1, .seed = seed});
      int pieces = graph.num_ops();
      std::vector<OpId> root(static_cast<std::size_t>(graph.num_ops()));
      for (OpId op = 0; op < graph.num_ops(); ++op) root[static_cast<std::size_t>(op)] = op;
      const auto find = [&](OpId op) {
        while (root[static_cast<std::size_t>(op)] != op) op = root[static_cast<std::size_t>(op)];
        return op;
      };
      for (const Tensor& tensor : graph.tensors()) {
        ASSERT_GE(tensor.producer, 0);
        EXPECT_EQ(tensor.output, tensor.consumers.empty());
        for (const OpId consumer : tensor.consumers) {
          EXPECT_GT(consumer, tensor.producer);
          const OpId a = find(tensor.producer);
          const OpId b = find(consumer);
          if (a != b) --pieces;
          root[static_cast<std::size_t>(b)] = a;
        }
      }
      // Micro-batches meet nowhere: a stage's weights are all they have in common.
      if (GetParam() != "skip_pipeline") {
        EXPECT_EQ(pieces, 1) << ops << " ops, seed " << seed;
      }
    }
  }
}

TEST_P(EveryTaskGraph, ComesInTheSizeNearestToTheOpsAskedFor) {
  for (const std::uint64_t seed : {0, 5}) {
    std::vector<int> made(260);
    for (int ops = 1; ops < 260; ++ops)
      made[static_cast<std::size_t>(ops)] = MakeTaskGraph(GetParam(), {.ops = ops, .ccr = 1, .seed = seed}).num_ops();
    // In families of one size parameter no other size that it has would be nearer.
    const std::set<std::string> several = {"moe", "skip_pipeline"};
    for (int ops = 1; ops < 200; ++ops) {
      const int distance = std::abs(made[static_cast<std::size_t>(ops)] - ops);
      EXPECT_TRUE(ops < 24 || distance <= ops / 2) << ops;
      for (int other = 1; other < 260 && several.count(GetParam()) == 0; ++other)
        EXPECT_LE(distance, std::abs(made[static_cast<std::size_t>(other)] - ops)) << ops << ", " << other;
    }
  }
}

TEST_P(EveryTaskGraph, HoldsTheCommunicationToComputationRatioExactly) {
  for (const double ccr : {0.1, 1.0, 5.0}) {
    const ComputationGraph graph = MakeTaskGraph(GetParam(), {.ops = 200, .ccr = ccr, .seed = 7});
    const double expected = ccr * MeanStatedSeconds(graph.ops()) * 1e9;
    EXPECT_NEAR(BytesPerTensor(graph), expected, 1e-9 * expected);
  }
  const ComputationGraph free = MakeTaskGraph(GetParam(), {.ops = 50, .ccr = 0});
  for (const Tensor& tensor : free.tensors()) EXPECT_EQ(tensor.bytes, 0);
}

TEST_P(EveryTaskGraph, IsTheSameForTheSameSeedAndHasOtherCostsForAnother) {
  const auto make = [&](std::uint64_t seed) { return MakeTaskGraph(GetParam(), {.ops = 80, .ccr = 1, .seed = seed}); };
  const ComputationGraph one = make(5);
  const ComputationGraph same = make(5);
  EXPECT_EQ(one.ops(), same.ops());
  EXPECT_EQ(one.tensors(), same.tensors());
  std::set<double> seconds;
  std::set<double> bytes;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    seconds.insert(*make(seed).op(0).seconds.everywhere);
    bytes.insert(make(seed).tensor(0).bytes);
  }
  EXPECT_EQ(seconds.size(), 10U);
  EXPECT_EQ(bytes.size(), 10U);
}

TEST_P(EveryTaskGraph, ChangesOnlyTheBytesWithTheRatio) {
  const ComputationGraph one = MakeTaskGraph(GetParam(), {.ops = 80, .ccr = 1, .seed = 4});
  const ComputationGraph three = MakeTaskGraph(GetParam(), {.ops = 80, .ccr = 3, .seed = 4});
  EXPECT_EQ(one.ops(), three.ops());
  for (TensorId id = 0; id < one.num_tensors(); ++id) {
    EXPECT_EQ(one.tensor(id).consumers, three.tensor(id).consumers);
    EXPECT_NEAR(three.tensor(id).bytes, 3 * one.tensor(id).bytes, 1e-6 * three.tensor(id).bytes);
  }
}

TEST_P(EveryTaskGraph, TakesHalfASecondAnOpOnTheMeanByItsWork) {
  const ComputationGraph graph = MakeTaskGraph(GetParam(), {.ops = 5000, .ccr = 1, .seed = 3});
  EXPECT_NEAR(MeanStatedSeconds(graph.ops()), 0.5, 0.05);
  for (const Op& op : graph.ops()) EXPECT_GT(*op.seconds.everywhere, 0);
}

TEST_P(EveryTaskGraph, StatesSecondsByKindWhereKindsAreNamed) {
  const ComputationGraph graph = MakeTaskGraph(
      GetParam(), {.ops = 2000, .ccr = 1, .seed = 6, .kinds = {{"gpu", 0.25}, {"cpu", 1.0}}, .heterogeneity = 1});
  double cpu = 0;
  double gpu = 0;
  for (const Op& op : graph.ops()) {
    ASSERT_EQ(op.seconds.by_kind.size(), 2U);
    cpu += *op.seconds.On("cpu");
    gpu += *op.seconds.On("gpu");
  }
  EXPECT_NEAR(gpu / cpu, 0.25, 0.05);
}

TEST_P(EveryTaskGraph, MakesAHundredThousandOps) {
  const ComputationGraph graph = MakeTaskGraph(GetParam(), {.ops = 100000, .ccr = 1, .seed = 2});
  EXPECT_GT(graph.num_ops(), 65000);
  EXPECT_LT(graph.num_ops(), 140000);
}

INSTANTIATE_TEST_SUITE_P(Families, EveryTaskGraph, ::testing::ValuesIn(TaskGraphNames()),
                         [](const auto& info) { return info.param; });

TEST(Fft, HasATreeOfCallsAndLevelsOfButterfliesAllOfWhosePathsAreAsLong) {
  for (int k = 0; k <= 6; ++k) {
    const int points = 1 << k;
    const int ops = 2 * points - 1 + points * k;
    const ComputationGraph graph = MakeTaskGraph("fft", {.ops = ops});
    ASSERT_EQ(graph.num_ops(), ops);
    EXPECT_EQ(Depth(graph), 2 * k + 1);
    const std::vector<int> depths = Depths(graph);
    for (OpId op = 0; op < graph.num_ops(); ++op) {
      const bool butterfly = graph.op(op).type == "Butterfly";
      const auto inputs = static_cast<int>(graph.Predecessors(op).size());
      EXPECT_EQ(inputs, butterfly ? 2 : op == 0 ? 0 : 1);
      const int depth = depths[static_cast<std::size_t>(op)];
      EXPECT_EQ(*graph.op(op).layer, depth - 1);
      for (const OpId before : graph.Predecessors(op)) EXPECT_EQ(depths[static_cast<std::size_t>(before)], depth - 1);
      EXPECT_EQ(graph.Successors(op).size(), depth == 2 * k + 1 ? 0U : 2U);
    }
  }
}

TEST(Fft, LetsEveryOutputDependOnEveryLeaf) {
  const ComputationGraph graph = MakeTaskGraph("fft", {.ops = 95});  // 16 points
  std::vector<std::set<OpId>> leaves(static_cast<std::size_t>(graph.num_ops()));
  for (const OpId op : graph.topological_order()) {
    if (*graph.op(op).layer == 4) leaves[static_cast<std::size_t>(op)].insert(op);
    if (*graph.op(op).layer < 5) continue;
    for (const OpId before : graph.Predecessors(op)) {
      const std::set<OpId>& from = leaves[static_cast<std::size_t>(before)];
      leaves[static_cast<std::size_t>(op)].insert(from.begin(), from.end());
    }
    if (*graph.op(op).layer == 8) {
      EXPECT_EQ(leaves[static_cast<std::size_t>(op)].size(), 16U);
    }
  }
}

TEST(GaussianElimination, HasThePivotsAndUpdatesOfTheFormula) {
  for (int m = 2; m <= 20; ++m) {
    const ComputationGraph graph = MakeTaskGraph("gaussian_elimination", {.ops = (m * m + m - 2) / 2});
    ASSERT_EQ(graph.num_ops(), (m * m + m - 2) / 2);
    const std::map<std::string, int> counts = CountByType(graph);
    EXPECT_EQ(counts.at("Pivot"), m - 1);
    EXPECT_EQ(counts.at("Update"), m * (m - 1) / 2);
    EXPECT_EQ(Depth(graph), 2 * (m - 1));  // pivot and update of every step
    for (OpId op = 0; op < graph.num_ops(); ++op) {
      const int step = *graph.op(op).layer;
      const bool pivot = graph.op(op).type == "Pivot";
      EXPECT_EQ(graph.Predecessors(op).size(), (step > 0 ? 1U : 0U) + (pivot ? 0U : 1U));
      if (pivot) {
        EXPECT_EQ(graph.Successors(op).size(), static_cast<std::size_t>(m - 1 - step));
      }
    }
  }
}

TEST(Lu, HasTheTileKernelsOfTheFormulaAndTheirWork) {
  for (int t = 1; t <= 9; ++t) {
    const ComputationGraph graph = MakeTaskGraph("lu", {.ops = t * (t + 1) * (2 * t + 1) / 6});
    ASSERT_EQ(graph.num_ops(), t * (t + 1) * (2 * t + 1) / 6);
    std::map<std::string, int> counts = CountByType(graph);
    EXPECT_EQ(counts["TileGetrf"], t);
    EXPECT_EQ(counts["TileTrsm"], t * (t - 1));
    EXPECT_EQ(counts["TileGemm"], (t - 1) * t * (2 * t - 1) / 6);
    EXPECT_EQ(Depth(graph), 3 * t - 2);  // getrf, trsm, gemm, getrf, ...
  }
  const ComputationGraph graph = MakeTaskGraph("lu", {.ops = 5000});
  std::map<std::string, double> seconds;
  for (const Op& op : graph.ops()) seconds[op.type] += *op.seconds.everywhere;
  const std::map<std::string, int> counts = CountByType(graph);
  const double trsm = seconds["TileTrsm"] / counts.at("TileTrsm");
  EXPECT_NEAR(seconds["TileGemm"] / counts.at("TileGemm") / trsm, 2, 0.1);
  EXPECT_NEAR(seconds["TileGetrf"] / counts.at("TileGetrf") / trsm, 2.0 / 3, 0.2);
}

TEST(Montage, ProjectsFitsModelsAndCorrectsEveryImage) {
  for (const int ops : {30, 100, 1000}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const ComputationGraph graph = MakeTaskGraph("montage", {.ops = ops, .ccr = 1, .seed = seed});
      EXPECT_EQ(graph.num_ops(), ops);
      const std::map<std::string, int> counts = CountByType(graph);
      EXPECT_EQ(counts.at("Project"), counts.at("Background"));
      EXPECT_GE(counts.at("DiffFit"), counts.at("Project") - 1);
      for (const char* once : {"ConcatFit", "BackgroundModel", "ImageTable", "Mosaic", "Shrink", "Picture"})
        EXPECT_EQ(counts.at(once), 1);
      EXPECT_EQ(Depth(graph), 9);
      std::set<std::vector<OpId>> overlaps;
      for (OpId op = 0; op < graph.num_ops(); ++op) {
        const auto inputs = graph.Predecessors(op);
        if (graph.op(op).type == "DiffFit") {
          EXPECT_EQ(inputs.size(), 2U);
          EXPECT_TRUE(overlaps.emplace(inputs.begin(), inputs.end()).second);
        }
        if (graph.op(op).type == "Mosaic") {
          EXPECT_EQ(inputs.size(), static_cast<std::size_t>(counts.at("Project")) + 1);
        }
      }
    }
  }
}

TEST(Randwire, HasExactlyTheOpsAskedForAndOneWayIntoAndOutOfEveryStage) {
  for (const int ops : {5, 6, 40, 60, 200, 1000}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const ComputationGraph graph = MakeTaskGraph("randwire", {.ops = ops, .ccr = 1, .seed = seed});
      ASSERT_EQ(graph.num_ops(), ops);
      for (OpId op = 1; op < graph.num_ops(); ++op) {
        EXPECT_FALSE(graph.Predecessors(op).empty());
        const bool last = op + 1 == graph.num_ops();
        EXPECT_EQ(graph.Successors(op).empty(), last);
        for (const OpId before : graph.Predecessors(op)) {
          if (*graph.op(before).layer == *graph.op(op).layer || last || before == 0) continue;
          EXPECT_EQ(graph.op(before).type, "StageMean");
          EXPECT_EQ(graph.op(op).type, "StageInput");
        }
      }
    }
  }
}

TEST(Randwire, IsWiredAnewByEverySeed) {
  std::set<std::vector<OpId>> wirings;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const ComputationGraph graph = MakeTaskGraph("randwire", {.ops = 40, .ccr = 1, .seed = seed});
    std::vector<OpId> wiring;
    for (const Tensor& tensor : graph.tensors()) {
      wiring.push_back(-1);
      wiring.insert(wiring.end(), tensor.consumers.begin(), tensor.consumers.end());
    }
    wirings.insert(wiring);
  }
  EXPECT_EQ(wirings.size(), 10U);
}

TEST(NasCells, StacksCellsThatReadTheTwoBeforeThem) {
  for (int cells = 1; cells <= 12; ++cells) {
    const ComputationGraph graph = MakeTaskGraph("nas_cells", {.ops = 2 + 18 * cells, .ccr = 1, .seed = 9});
    ASSERT_EQ(graph.num_ops(), 2 + 18 * cells);
    EXPECT_EQ(CountByType(graph).at("CellConcat"), cells);
    for (OpId op = 1; op < graph.num_ops(); ++op) {
      for (const OpId before : graph.Predecessors(op)) {
        const int back = *graph.op(op).layer - *graph.op(before).layer;
        EXPECT_GE(back, 0);
        EXPECT_LE(back, 2);
        if (back == 2) {
          EXPECT_EQ(graph.op(op).type, "Adjust");
        }
      }
      if (graph.op(op).type == "BlockSum") {
        EXPECT_EQ(graph.Predecessors(op).size(), 2U);
      }
      if (op + 1 < graph.num_ops()) {
        EXPECT_FALSE(graph.Successors(op).empty());
      }
    }
  }
}

TEST(NasCells, RepeatsOneNormalCell) {
  const ComputationGraph graph = MakeTaskGraph("nas_cells", {.ops = 2 + 18 * 12, .ccr = 1, .seed = 9});
  std::map<std::string, int> layouts;
  for (int cell = 0; cell < 12; ++cell) {
    std::string layout;
    for (const Op& op : graph.ops()) {
      if (*op.layer == cell && op.type != "Stem") layout += op.type + " ";
    }
    ++layouts[layout];
  }
  EXPECT_EQ(layouts.size(), 2U);  // normal and reduction
}

TEST(MixtureOfExperts, SendsEveryTokenToTwoExperts) {
  for (const int ops : {20, 60, 200, 1000}) {
    const ComputationGraph graph = MakeTaskGraph("moe", {.ops = ops, .ccr = 1, .seed = 4});
    const std::map<std::string, int> counts = CountByType(graph);
    const int layers = counts.at("Router");
    const int experts = counts.at("Expert") / layers;
    EXPECT_EQ(graph.num_ops(), 2 + layers * (experts + 3));
    for (OpId op = 0; op < graph.num_ops(); ++op) {
      if (graph.op(op).type == "Router") {
        EXPECT_EQ(graph.Outputs(op).size(), static_cast<std::size_t>(experts));
        for (const TensorId sent : graph.Outputs(op)) EXPECT_EQ(graph.tensor(sent).consumers.size(), 1U);
      }
      if (graph.op(op).type == "Combine") {
        EXPECT_EQ(graph.Predecessors(op).size(), static_cast<std::size_t>(experts) + 1);
      }
    }
  }
  // Loads are uneven: that is what makes the family hard.
  const ComputationGraph graph = MakeTaskGraph("moe", {.ops = 1000, .ccr = 1, .seed = 4});
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const Op& op : graph.ops()) {
    if (op.type != "Expert") continue;
    least = std::min(least, *op.seconds.everywhere);
    most = std::max(most, *op.seconds.everywhere);
  }
  EXPECT_GT(most, 5 * least);
}

TEST(SkipPipeline, GivesEachDecoderWhatItsEncoderMadeAndKeepsAStageOnOneDevice) {
  for (const int ops : {9, 60, 200, 1000}) {
    const ComputationGraph graph = MakeTaskGraph("skip_pipeline", {.ops = ops});
    int stages = 0;
    for (const Op& op : graph.ops()) stages = std::max(stages, *op.layer + 1);
    EXPECT_EQ(stages % 2, 1);
    EXPECT_EQ(graph.num_ops() % stages, 0);
    EXPECT_EQ(Depth(graph), stages);
    for (OpId op = 0; op < graph.num_ops(); ++op) {
      const int stage = *graph.op(op).layer;
      EXPECT_EQ(graph.op(op).colocate, "stage" + std::to_string(stage));
      std::vector<OpId> expected;
      if (stage > stages / 2) expected.push_back(op - stage + (stages - 1 - stage));
      if (stage > 0) expected.push_back(op - 1);
      const auto inputs = graph.Predecessors(op);
      EXPECT_EQ(std::vector<OpId>(inputs.begin(), inputs.end()), expected);
    }
  }
}

TEST(TaskGraph, RefusesWhatItCannotMakeInOneLine) {
  const auto refuses = [](const std::string& family, const TaskGraphOptions& options, const std::string& words) {
    EXPECT_THAT([&] { MakeTaskGraph(family, options); }, ThrowsMessage<InvalidInput>(HasSubstr(words)));
  };
  refuses("tree", {}, "'tree' is no family of task graphs; there are fft, gaussian_elimination, lu, montage");
  refuses("fft", {.ops = 0}, "ops");
  refuses("lu", {.ops = 1'000'000'000'000}, "ops");
  refuses("moe", {.ccr = std::numeric_limits<double>::quiet_NaN()}, "ccr");
  refuses("moe", {.kinds = {{"cpu", 1}, {"cpu", 2}}}, "'cpu' is named twice");
  refuses("montage", {.heterogeneity = 3}, "heterogeneity");
}

}  // namespace
}  // namespace millrace

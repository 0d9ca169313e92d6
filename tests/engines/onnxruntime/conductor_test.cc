// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/onnxruntime/conductor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "millrace/engines/onnxruntime/agreement.h"
#include "millrace/formats/model_graph.h"
#include "millrace/runtime/host_units.h"
#include "tests/engines/onnxruntime/library_here.h"
#include "tests/engines/onnxruntime/random_model.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One device for each of at most three processors of ours, and one of all of those.
Machine OurProcessors() {
  std::vector<int> units = AllowedProcessors();
  units.resize(std::min<std::size_t>(units.size(), 3));
  Machine machine;
  for (const int unit : units) machine.devices.push_back({"cpu" + std::to_string(unit), "cpu", {unit}, 1, 1, {}, 0});
  if (units.size() > 1) machine.devices.push_back({"all", "gang", units, 1, 1, {}, 0});
  return machine;
}

class OrtConductor : public ::testing::Test {
 protected:
  void SetUp() override {
    MILLRACE_SKIP_WITHOUT_ONNXRUNTIME();
    std::string why;
    library_ = testing::OrtLibrary(&why);
  }

  void Fill(ort::Conductor& conductor, const Model& model, Random random) const {
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      const std::span<std::byte> bytes = conductor.input(i);
      for (std::size_t at = 0; at < bytes.size(); at += sizeof(float)) {
        const float element = static_cast<float>(random.Uniform(-1, 1));
        std::memcpy(bytes.data() + at, &element, sizeof(float));
      }
    }
  }
  void ExpectSameOutputs(const Model& model, const ort::Conductor& one, const ort::Conductor& other) const {
    for (std::size_t i = 0; i < model.outputs.size(); ++i) {
      const Value& value = model.values[static_cast<std::size_t>(model.outputs[i])];
      EXPECT_EQ(ort::WhyNotTheSame(value, one.output(i), other.output(i)), "");
    }
  }

  std::shared_ptr<const ort::Library> library_;
};

TEST_F(OrtConductor, GivesWhatTheWholeModelGivesByAnyPlanRunAfterRun) {
  const Machine machine = OurProcessors();
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    Random random(seed);
    const Model model = testing::RandomModel(random, 40);
    const ComputationGraph graph = GraphOfModel(model);
    const auto engine = std::make_shared<ort::Engine>(library_, model, machine);
    ort::Conductor whole(engine, ort::OnePiece(model, {.threads = 2}));
    for (int i = 0; i < 3; ++i) {
      const Plan plan = testing::RandomPlan(random, graph, machine, testing::RandomGroups(random, graph));
      ort::Conductor conductor(engine, ort::PiecesOf(graph, machine, plan));
      for (std::uint64_t run = 0; run < 3; ++run) {
        Fill(whole, model, Random(run));
        Fill(conductor, model, Random(run));
        EXPECT_GT(whole.Run(), 0);
        EXPECT_GT(conductor.Run(), 0);
        ExpectSameOutputs(model, whole, conductor);
      }
    }
  }
}

TEST_F(OrtConductor, SharesSessionsBetweenPlansThatHaveAPieceInCommon) {
  Random random(3);
  const Model model = testing::RandomModel(random, 20);
  const auto engine = std::make_shared<ort::Engine>(library_, model, OurProcessors());
  const ort::Piece piece = ort::OnePiece(model, {.threads = 1}).front();
  const PartBorder border = BordersOf(model, {piece.nodes}).front();
  const auto one = engine->Ready(piece, border);
  EXPECT_EQ(engine->Ready(piece, border), one);
  EXPECT_NE(engine->Ready(ort::OnePiece(model, {.threads = 2}).front(), border), one);
}

TEST_F(OrtConductor, TellsWhatWentWrongInOnePieceAndLetsTheOthersEnd) {
  // An index that is out of range is known only when it runs.
  Model model;
  model.name = "gather";
  model.values.resize(5);
  model.values[0] = {"table", DataType::kFloat32, {4, 8}, nullptr, -1};
  model.values[1] = {"index", DataType::kInt64, {2}, nullptr, -1};
  model.values[2] = {"rows", DataType::kFloat32, {2, 8}, nullptr, 0};
  model.values[3] = {"active", DataType::kFloat32, {2, 8}, nullptr, 1};
  model.values[4] = {"other", DataType::kFloat32, {4, 8}, nullptr, 2};
  model.inputs = {0, 1};
  model.outputs = {3, 4};
  model.nodes.resize(3);
  model.nodes[0] = {"gather", "Gather", "", {0, 1}, {2}, {}, {}, {}};
  model.nodes[1] = {"relu", "Relu", "", {2}, {3}, {}, {}, {}};
  model.nodes[2] = {"tanh", "Tanh", "", {0}, {4}, {}, {}, {}};
  const Machine machine = OurProcessors();
  const ComputationGraph graph = GraphOfModel(model);
  const int last = static_cast<int>(std::min<std::size_t>(machine.devices.size() - 1, 1));
  const Plan plan{SingleOpGroups(graph), {0, last, last}, {0, 1, 2}};
  const auto engine = std::make_shared<ort::Engine>(library_, model, machine);
  ort::Conductor conductor(engine, ort::PiecesOf(graph, machine, plan));
  const std::int64_t wrong[] = {1, 99};
  std::memcpy(conductor.input(1).data(), wrong, sizeof(wrong));
  try {
    conductor.Run();
    FAIL() << "index 99 of 4";
  } catch (const WorkFailed& error) {
    EXPECT_THAT(error.what(), HasSubstr("99"));
  }
  const std::int64_t right[] = {1, 3};
  std::memcpy(conductor.input(1).data(), right, sizeof(right));
  EXPECT_GT(conductor.Run(), 0) << "and runs again with better data";
}

TEST(OrtPieces, AreOneUnpinnedSessionWhereEverythingRunsOnAllProcessors) {
  Random random(5);
  const Model model = testing::RandomModel(random, 20);
  const ComputationGraph graph = GraphOfModel(model);
  Machine machine;
  const std::vector<int> all = AllowedProcessors();
  machine.devices = {{"one", "cpu", {all.front()}, 1, 1, {}, 0}, {"all", "gang", all, 1, 1, {}, 0}};
  Plan plan{SingleOpGroups(graph), std::vector<int>(model.nodes.size(), 1), {}};
  plan.sequence.assign(graph.topological_order().begin(), graph.topological_order().end());
  const std::vector<ort::Piece> whole = ort::PiecesOf(graph, machine, plan);
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_FALSE(whole[0].cpu);
  EXPECT_EQ(whole[0].settings.threads, static_cast<int>(all.size()));
  EXPECT_THAT(whole[0].settings.cpus, IsEmpty());
  EXPECT_FALSE(whole[0].settings.shares_cpus);
  plan.placement.assign(model.nodes.size(), 0);
  if (all.size() > 1) {
    EXPECT_EQ(ort::PiecesOf(graph, machine, plan).front().cpu, all.front());
  }
}

TEST(OrtPieces, OfAGangLeaveItsProcessorsToOthersInTime) {
  Model model;
  Random random(6);
  while (model.nodes.size() < 2) model = testing::RandomModel(random, 12);
  const ComputationGraph graph = GraphOfModel(model);
  Machine machine;
  machine.devices = {{"a", "cpu", {3}, 1, 1, {}, 0}, {"both", "gang", {5, 3}, 1, 1, {}, 0}};
  Plan plan{SingleOpGroups(graph), std::vector<int>(model.nodes.size(), 1), {}};
  plan.sequence.assign(graph.topological_order().begin(), graph.topological_order().end());
  plan.placement[static_cast<std::size_t>(plan.sequence.front())] = 0;
  const std::vector<ort::Piece> pieces = ort::PiecesOf(graph, machine, plan);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].cpu, 3);
  EXPECT_EQ(pieces[0].settings.threads, 1);
  EXPECT_FALSE(pieces[0].settings.shares_cpus);
  EXPECT_EQ(pieces[1].cpu, 3) << "the first of its processors calls";
  EXPECT_THAT(pieces[1].settings.cpus, ElementsAre(5)) << "and the others help";
  EXPECT_EQ(pieces[1].settings.threads, 2);
  EXPECT_TRUE(pieces[1].settings.shares_cpus);
}

TEST(Agreement, IsARoundingErrorOfTheLargestElementAndTheSameForWholeNumbers) {
  Value value;
  value.name = "y";
  value.shape = {3};
  const auto floats = [&value](std::array<float, 3> expected, std::array<float, 3> found) {
    return ort::WhyNotTheSame(value, std::as_bytes(std::span(expected)), std::as_bytes(std::span(found)));
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(floats({0, 1, 100}, {0.09F, 1, 100}), "");
  EXPECT_THAT(floats({0, 1, 100}, {0, 1.2F, 100}), HasSubstr("element 1 is 1.2"));
  EXPECT_EQ(floats({kNan, kInfinity, 1}, {kNan, kInfinity, 1}), "");
  EXPECT_NE(floats({kNan, 0, 1}, {0, 0, 1}), "");
  EXPECT_NE(floats({0, 0, 1}, {kNan, 0, 1}), "");
  EXPECT_NE(floats({kInfinity, 0, 1}, {-kInfinity, 0, 1}), "");
  value.type = DataType::kInt32;
  const std::array<std::int32_t, 3> numbers = {1, 2, 3000};
  const std::array<std::int32_t, 3> others = {1, 2, 3001};
  EXPECT_EQ(ort::WhyNotTheSame(value, std::as_bytes(std::span(numbers)), std::as_bytes(std::span(numbers))), "");
  EXPECT_NE(ort::WhyNotTheSame(value, std::as_bytes(std::span(numbers)), std::as_bytes(std::span(others))), "");
}

}  // namespace
}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/cpu_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "millrace/errors/errors.h"
#include "millrace/formats/model_graph.h"
#include "millrace/runtime/host_units.h"
#include "millrace/target/disturbance.h"
#include "millrace/target/profile_groups.h"
#include "millrace/target/random_inputs.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

int AddValue(Model& model, DataType type, Shape shape, int producer) {
  Value value;
  value.name = "v" + std::to_string(model.values.size());
  value.type = type;
  value.shape = std::move(shape);
  value.producer = producer;
  model.values.push_back(value);
  return static_cast<int>(model.values.size()) - 1;
}

int AddNode(Model& model, const std::string& op_type, std::vector<int> inputs, DataType type, Shape shape,
            std::map<std::string, Attribute> attributes = {}) {
  Node node;
  node.name = op_type + std::to_string(model.nodes.size());
  node.op_type = op_type;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  node.outputs = {AddValue(model, type, std::move(shape), static_cast<int>(model.nodes.size()))};
  model.nodes.push_back(node);
  return node.outputs.front();
}

// Two activations of one input, joined by nothing.
Model TwoActivations(const std::string& first, const std::string& second) {
  Model model;
  model.inputs = {AddValue(model, DataType::kFloat32, {8, 32}, -1)};
  model.outputs = {AddNode(model, first, {0}, DataType::kFloat32, {8, 32}),
                   AddNode(model, second, {0}, DataType::kFloat32, {8, 32})};
  return model;
}

Machine HostMachine() {
  Machine machine;
  machine.name = "host";
  for (const int cpu : AllowedProcessors()) {
    Device device;
    device.name = "cpu" + std::to_string(cpu);
    device.kind = "cpu";
    device.units = {cpu};
    device.flops_per_second = 1e11;
    device.memory_bandwidth = 1e10;
    machine.devices.push_back(device);
  }
  return machine;
}

TEST(CpuTarget, RunsPlansAndTellsTheirTime) {
  const Model model = TwoActivations("Relu", "Sigmoid");
  const ComputationGraph graph = GraphOfModel(model);
  const Machine machine = HostMachine();
  TargetContext context;
  context.graph = &graph;
  context.machine = &machine;
  context.model = &model;
  const auto target = MakeCpuTarget(context);
  EXPECT_EQ(target->name(), "cpu");
  EXPECT_FALSE(target->deterministic());
  Plan plan{{{0}, {1}}, {0, static_cast<int>(machine.devices.size()) - 1}, {1, 0}};
  const auto first = target->Load(plan);
  plan.placement = {0, 0};
  const auto second = target->Load(plan);
  for (int run = 0; run < 10; ++run) {
    for (LoadedPlan* loaded : {first.get(), second.get()}) {
      const double seconds = loaded->Run();
      EXPECT_GT(seconds, 0);
      EXPECT_TRUE(std::isfinite(seconds));
    }
  }
}

TEST(CpuTarget, RefusesWhatItCannotExecute) {
  const Machine machine = HostMachine();
  TargetContext context;
  context.machine = &machine;
  EXPECT_THAT([&] { MakeCpuTarget(context); }, ThrowsMessage<InvalidInput>(HasSubstr("ONNX")));
  const Model lacking = TwoActivations("Relu", "Frobnicate");
  context.model = &lacking;
  EXPECT_THAT([&] { MakeCpuTarget(context); }, ThrowsMessage<InvalidInput>(HasSubstr("Frobnicate (1 node)")));
  const Model model = TwoActivations("Relu", "Sigmoid");
  context.model = &model;
  Machine elsewhere = machine;
  elsewhere.devices.front().units = {99999};
  context.machine = &elsewhere;
  EXPECT_THAT([&] { MakeCpuTarget(context); }, ThrowsMessage<InvalidInput>(HasSubstr("unit 99999")));
}

TEST(RandomInputs, IntegersThatLookUpAlongSeveralAxesStayWithinTheShortest) {
  for (const std::string op : {"GatherND", "Gather", "GatherElements"}) {
    Model model;
    const int table = AddValue(model, DataType::kFloat32, {7, 3}, -1);
    const int indices = AddValue(model, DataType::kInt64, {4, 2}, -1);
    model.inputs = {table, indices};
    model.outputs = {AddNode(model, op, {table, indices}, DataType::kFloat32, {4})};
    EXPECT_EQ(SafeIntegerBound(model, indices), op == "GatherND" ? 3 : 7) << op;
  }
}

TEST(RandomInputs, IntegersThatLookSomethingUpStayWithinIt) {
  Model model;
  const int indices = AddValue(model, DataType::kInt64, {4}, -1);
  const int others = AddValue(model, DataType::kInt64, {4}, -1);
  const int table = AddValue(model, DataType::kFloat32, {7, 3}, -1);
  model.inputs = {indices, others, table};
  const int cast = AddNode(model, "Cast", {indices}, DataType::kInt32, {4}, {{"to", std::int64_t{6}}});
  model.outputs = {AddNode(model, "Gather", {table, cast}, DataType::kFloat32, {4, 3})};
  EXPECT_EQ(SafeIntegerBound(model, indices), 7);
  EXPECT_EQ(SafeIntegerBound(model, others), 100);
  Random random(1);
  std::vector<std::byte> elements(4 * 8);
  for (int round = 0; round < 50; ++round) {
    FillRandomly(model, indices, random, elements);
    for (std::size_t i = 0; i < 4; ++i) {
      std::int64_t index = -1;
      std::memcpy(&index, elements.data() + 8 * i, 8);
      EXPECT_GE(index, 0);
      EXPECT_LT(index, 7);
    }
  }
}

TEST(RandomInputs, FloatsAreFiniteAndVaried) {
  Model model;
  const int input = AddValue(model, DataType::kFloat32, {100}, -1);
  Random random(2);
  std::vector<std::byte> elements(400);
  FillRandomly(model, input, random, elements);
  std::vector<float> values(100);
  std::memcpy(values.data(), elements.data(), 400);
  EXPECT_THAT(values, ::testing::Each(::testing::AllOf(::testing::Ge(-1.0F), ::testing::Lt(1.0F))));
  EXPECT_NE(values[0], values[1]);
}

TEST(GroupSignature, IsEqualForEqualWorkAndDifferentForOther) {
  const Model model = TwoActivations("Relu", "Relu");
  const std::vector<int> first = {0}, second = {1};
  EXPECT_EQ(GroupSignature(model, first), GroupSignature(model, second));
  const Model other = TwoActivations("Relu", "Sigmoid");
  EXPECT_NE(GroupSignature(other, first), GroupSignature(other, second));
  Model wider = model;
  for (Value& value : wider.values) value.shape = {8, 33};
  EXPECT_NE(GroupSignature(model, first), GroupSignature(wider, first));
  Model with_attribute = model;
  with_attribute.nodes[0].attributes["alpha"] = 0.5F;
  EXPECT_NE(GroupSignature(model, first), GroupSignature(with_attribute, first));
}

TEST(GroupSignature, TellsSmallIntegerConstantsApartAndWeightsNot) {
  Model model;
  const int input = AddValue(model, DataType::kFloat32, {4, 6}, -1);
  model.inputs = {input};
  const int shape = AddValue(model, DataType::kInt64, {2}, -1);
  model.values[static_cast<std::size_t>(shape)].constant = ConstantData::Int64s({2}, {6, 4});
  const int weights = AddValue(model, DataType::kFloat32, {2}, -1);
  model.values[static_cast<std::size_t>(weights)].constant = ConstantData::Floats({2}, {1, 2});
  model.outputs = {AddNode(model, "Custom", {input, shape, weights}, DataType::kFloat32, {6, 4})};
  const std::vector<int> nodes = {0};
  const std::string signature = GroupSignature(model, nodes);
  Model same = model;
  same.values[static_cast<std::size_t>(weights)].constant = ConstantData::Floats({2}, {3, 4});
  EXPECT_EQ(GroupSignature(same, nodes), signature);
  Model other = model;
  other.values[static_cast<std::size_t>(shape)].constant = ConstantData::Int64s({2}, {3, 8});
  EXPECT_NE(GroupSignature(other, nodes), signature);
}

TEST(ProfileGroup, GivesATimeOnACoreAndOnAGang) {
  const Model model = TwoActivations("Relu", "Sigmoid");
  const std::vector<int> nodes = {1};
  ProfileGroupOptions options;
  options.seconds = 0.001;
  const std::vector<int> all = AllowedProcessors();
  const std::vector<int> one = {all.front()};
  for (const std::vector<int>& cpus : {one, all}) {
    const ProfiledTime median = ProfileGroup(model, nodes, cpus, options);
    EXPECT_GT(median.seconds, 0);
    EXPECT_LT(median.seconds, 1);
  }
  options.minimum = true;
  EXPECT_GT(ProfileGroup(model, nodes, one, options).seconds, 0);
}

TEST(ProfileGroup, TakesTheWeightsFromMemoryWhereAsked) {
  Model model;
  model.inputs = {AddValue(model, DataType::kFloat32, {8, 32}, -1)};
  const int weights = AddValue(model, DataType::kFloat32, {32, 16}, -1);
  model.values[static_cast<std::size_t>(weights)].constant =
      ConstantData::Floats({32, 16}, std::vector<float>(512, 0.5F));
  model.outputs = {AddNode(model, "MatMul", {0, weights}, DataType::kFloat32, {8, 16})};
  const std::vector<int> nodes = {0};
  ProfileGroupOptions options;
  options.seconds = 0.001;
  options.weights_apart = true;
  EXPECT_GT(ProfileGroup(model, nodes, AllowedProcessors(), options).seconds, 0);
}

// No core copies 1e12 bytes a second.
TEST(ProfileGroup, CopiesOnACoreWhatAGangWouldHaveMadeElsewhere) {
  const Shape half = {1, 64, 128, 128};
  Model model;
  model.inputs = {AddValue(model, DataType::kFloat32, half, -1)};
  const int one = AddNode(model, "Relu", model.inputs, DataType::kFloat32, half);
  const int other = AddNode(model, "Sigmoid", model.inputs, DataType::kFloat32, half);
  model.outputs = {AddNode(model, "Concat", {one, other}, DataType::kFloat32, {1, 128, 128, 128})};
  model.nodes.back().attributes["axis"] = std::int64_t{1};
  const std::vector<int> nodes = {2};
  const std::vector<int> core = {AllowedProcessors().front()};
  ProfileGroupOptions options;
  options.seconds = 0.001;
  EXPECT_GT(ProfileGroup(model, nodes, core, options).seconds, 1e-12 * 2 * sizeof(float) * ElementsOf(half));
}

TEST(Weights, LeaveCachesThatAreNotThreeTimesAsLarge) {
  EXPECT_FALSE(WeightsLeaveCaches(0, 32 << 20));
  EXPECT_FALSE(WeightsLeaveCaches(10 << 20, 32 << 20));
  EXPECT_TRUE(WeightsLeaveCaches(11 << 20, 32 << 20));
  EXPECT_FALSE(WeightsLeaveCaches(TwoActivations("Relu", "Sigmoid")));
}

TEST(ProfiledTimes, AreTheMedianOfRunsThatNobodyDisturbed) {
  ProfileGroupOptions options;
  options.least_runs = 3;
  // A neighbour had the processor for 3 ms in most of them.
  const std::vector<ProfiledRun> runs = {{102e-6, 0},     {3769e-6, 3e-3}, {3800e-6, 3e-3}, {104e-6, 4e-6},
                                         {3700e-6, 2e-3}, {100e-6, 0},     {3900e-6, 3e-3}};
  ProfiledTime time = TimeOf(runs, options);
  EXPECT_EQ(time.seconds, 102e-6);
  EXPECT_FALSE(time.disturbed);
  options.minimum = true;
  EXPECT_EQ(TimeOf(runs, options).seconds, 100e-6);
  options.least_runs = 4;
  time = TimeOf(runs, options);
  EXPECT_EQ(time.seconds, 100e-6);
  EXPECT_TRUE(time.disturbed);
}

TEST(ProfiledTimes, AreNotBelievedWhereTheyScatterForNoReasonThatIsSeen) {
  ProfileGroupOptions options;
  options.least_runs = 1;
  const std::vector<ProfiledRun> steady = {{1.0, 0}, {1.9, 0}, {2.0, 0}};
  EXPECT_FALSE(TimeOf(steady, options).disturbed);
  const std::vector<ProfiledRun> scattered = {{1.0, 0}, {2.1, 0}, {2.2, 0}};
  EXPECT_TRUE(TimeOf(scattered, options).disturbed);
  EXPECT_EQ(TimeOf(scattered, options).seconds, 1.0);
}

TEST(ProfiledTimes, OfLongRunsBearAShortWait) {
  const std::vector<ProfiledRun> runs = {{1.0, 0.04}, {1.0, 0.06}};
  ProfileGroupOptions options;
  options.least_runs = 1;
  EXPECT_FALSE(TimeOf(runs, options).disturbed);
  options.least_runs = 2;
  EXPECT_TRUE(TimeOf(runs, options).disturbed);
}

TEST(WaitingClock, ReadsWhatTheSchedulerSays) {
  EXPECT_EQ(ParseWaited("10569071 25853540 4\n"), 25853540e-9);
  EXPECT_EQ(ParseWaited("1 2"), 2e-9);
  for (const char* text : {"", "7", "7 x", "7 -3"}) EXPECT_EQ(ParseWaited(text), 0) << text;
  const WaitingClock clock;
  const double before = clock.Seconds();
  EXPECT_GE(before, 0);
  EXPECT_GE(clock.Seconds(), before);
}

}  // namespace
}  // namespace millrace

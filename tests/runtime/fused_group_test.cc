// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/runtime/fused_units.h"
#include "tests/runtime/reference_kernels.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using testing::ExpectGroupMatches;
using testing::ModelMaker;
using testing::RandomTensor;

// Appends an op that follows `values.back()`, perhaps with an earlier value beside it, and returns what it makes.
int AddRandomOp(ModelMaker& maker, Random& random, const std::vector<int>& values, const Shape& shape) {
  static const std::vector<std::string> unary = {"Relu",      "Sigmoid",  "Tanh", "Elu",    "LeakyRelu",
                                                 "HardSwish", "Identity", "Erf",  "Softmax"};
  const int last = values.back();
  switch (random.Below(5)) {
    case 0: {
      std::vector<int> inputs = {last};
      for (int i = 0; i < 4; ++i) inputs.push_back(maker.Constant(RandomTensor(random, {shape[1]}, 0.5, 1.5)));
      return maker.Node("BatchNormalization", inputs, shape);
    }
    case 1: {
      const char* type = random.Below(2) == 0 ? "Add" : random.Below(2) == 0 ? "Mul" : "Sub";
      const Shape constant = random.Below(3) == 0 ? Shape{} : Shape{shape[1], 1, 1};
      const int operand = maker.Constant(RandomTensor(random, constant, 0.2, 1.2));
      return random.Below(2) == 0 ? maker.Node(type, {last, operand}, shape) : maker.Node(type, {operand, last}, shape);
    }
    case 2: {
      const char* type = random.Below(3) == 0 ? "Mul" : "Add";
      const int other = values[random.Below(values.size())];
      return random.Below(2) == 0 ? maker.Node(type, {last, other}, shape) : maker.Node(type, {other, last}, shape);
    }
    default:
      return maker.Node(unary[random.Below(unary.size())], {last}, shape);
  }
}

TEST(FusedGroup, EqualsItsMembersOneByOneWhateverTheyAre) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    ModelMaker maker(13);
    const std::int64_t channels = std::vector<std::int64_t>{3, 16, 20, 32}[random.Below(4)];
    const Shape shape = {static_cast<std::int64_t>(1 + random.Below(2)), channels, 4, 5};
    std::vector<int> values = {maker.Input(shape), maker.Input(shape)};
    if (random.Below(4) != 0) {
      values.push_back(
          maker.Node("Conv", {values[0], maker.Constant(RandomTensor(random, {channels, channels, 3, 3}, -0.1, 0.1))},
                     shape, {{"pads", Shape{1, 1, 1, 1}}}));
    }
    const std::uint64_t ops = 1 + random.Below(7);
    for (std::uint64_t op = 0; op < ops; ++op) values.push_back(AddRandomOp(maker, random, values, shape));
    if (random.Below(3) == 0) maker.Output(values[2]);
    maker.Output(values.back());
    ExpectGroupMatches(maker.model(), random, 3e-4);
  }
}

TEST(FusedUnits, TakeAConvolutionWithAllThatFollowsIt) {
  Random random(1);
  ModelMaker maker;
  const Shape shape = {1, 32, 4, 5};
  const int source = maker.Input(shape);
  int value = maker.Node("Conv", {source, maker.Constant(RandomTensor(random, {32, 32, 1, 1}))}, shape);
  std::vector<int> inputs = {value};
  for (int i = 0; i < 4; ++i) inputs.push_back(maker.Constant(RandomTensor(random, {32}, 0.5, 1.5)));
  value = maker.Node("BatchNormalization", inputs, shape);
  value = maker.Node("Add", {source, value}, shape);
  maker.Node("Relu", {value}, shape);
  EXPECT_THAT(FusedUnitsOf(maker.model(), maker.AllNodes()), ElementsAre(ElementsAre(0, 1, 2, 3)));
}

TEST(FusedUnits, StopWhereAnInnerTensorIsReadElsewhere) {
  Random random(2);
  ModelMaker maker;
  const Shape shape = {1, 32, 4, 5};
  const int inner =
      maker.Node("Conv", {maker.Input(shape), maker.Constant(RandomTensor(random, {32, 32, 1, 1}))}, shape);
  maker.Node("Relu", {inner}, shape);
  maker.Output(inner);
  EXPECT_THAT(FusedUnitsOf(maker.model(), maker.AllNodes()), ElementsAre(ElementsAre(0), ElementsAre(1)));
}

}  // namespace
}  // namespace millrace

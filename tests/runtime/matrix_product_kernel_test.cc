// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "millrace/runtime/epilogue.h"
#include "tests/runtime/reference_kernels.h"

namespace millrace {
namespace {

using testing::ExpectGroupMatches;
using testing::ModelMaker;
using testing::RandomTensor;

// One side or both may be constants of the model.
enum class ConstantSide { kNone, kLeft, kRight };

void ExpectMatMulMatches(const Shape& left, const Shape& right, const Shape& output, ConstantSide constant) {
  Random random(21);
  ModelMaker maker;
  const int a = constant == ConstantSide::kLeft ? maker.Constant(RandomTensor(random, left)) : maker.Input(left);
  const int b = constant == ConstantSide::kRight ? maker.Constant(RandomTensor(random, right)) : maker.Input(right);
  maker.Node("MatMul", {a, b}, output);
  ExpectGroupMatches(maker.model(), random);
}

TEST(MatrixProductKernel, MultipliesMatricesVectorsAndBatches) {
  for (const ConstantSide constant : {ConstantSide::kNone, ConstantSide::kLeft, ConstantSide::kRight}) {
    SCOPED_TRACE(static_cast<int>(constant));
    ExpectMatMulMatches({5, 7}, {7, 3}, {5, 3}, constant);
    ExpectMatMulMatches({70, 96}, {96, 130}, {70, 130}, constant);
    ExpectMatMulMatches({1, 64}, {64, 200}, {1, 200}, constant);
    ExpectMatMulMatches({128, 33}, {33, 17}, {128, 17}, constant);
    ExpectMatMulMatches({2, 40, 16}, {16, 24}, {2, 40, 24}, constant);
    ExpectMatMulMatches({7}, {7, 3}, {3}, constant);
    ExpectMatMulMatches({5, 7}, {7}, {5}, constant);
    ExpectMatMulMatches({7}, {7}, {}, constant);
    ExpectMatMulMatches({2, 3, 9, 8}, {2, 3, 8, 5}, {2, 3, 9, 5}, constant);
    ExpectMatMulMatches({3, 1, 9, 8}, {4, 8, 5}, {3, 4, 9, 5}, constant);
    ExpectMatMulMatches({9, 8}, {2, 8, 5}, {2, 9, 5}, constant);
    ExpectMatMulMatches({8}, {2, 8, 5}, {2, 5}, constant);
  }
}

TEST(MatrixProductKernel, FollowsEveryAttributeOfGemm) {
  for (int turned = 0; turned < 4; ++turned) {
    for (const Shape& addend : {Shape{}, Shape{1}, Shape{70}, Shape{1, 70}, Shape{40, 1}, Shape{40, 70}}) {
      for (int constants = 0; constants < 4; ++constants) {
        Random random(22);
        ModelMaker maker;
        const std::int64_t left_turned = turned & 1, right_turned = turned >> 1;
        const Shape right = right_turned != 0 ? Shape{70, 24} : Shape{24, 70};
        const int a = maker.Input(left_turned != 0 ? Shape{24, 40} : Shape{40, 24});
        const int b = (constants & 1) != 0 ? maker.Constant(RandomTensor(random, right)) : maker.Input(right);
        const int c = (constants & 2) != 0 ? maker.Constant(RandomTensor(random, addend)) : maker.Input(addend);
        maker.Node("Gemm", {a, b, c}, {40, 70},
                   {{"transA", left_turned}, {"transB", right_turned}, {"alpha", 0.5f}, {"beta", 1.5f}});
        ExpectGroupMatches(maker.model(), random);
      }
    }
  }
}

TEST(FusedMatrixProduct, TakesBiasResidualAndActivation) {
  for (const char* activation : {"Relu", "Tanh", "Sigmoid", "HardSigmoid", "Elu"}) {
    for (const std::int64_t rows : {1, 30, 100}) {
      Random random(23);
      ModelMaker maker;
      const Shape shape = {2, rows, 130};
      int value =
          maker.Node("MatMul", {maker.Input({2, rows, 48}), maker.Constant(RandomTensor(random, {48, 130}))}, shape);
      value = maker.Node("Add", {maker.Constant(RandomTensor(random, {130})), value}, shape);
      value = maker.Node("Add", {value, maker.Input(shape)}, shape);
      maker.Node(activation, {value}, shape);
      ExpectGroupMatches(maker.model(), random);
    }
  }
}

TEST(FusedMatrixProduct, ScalesAGemmByItsColumns) {
  Random random(24);
  ModelMaker maker;
  const Shape shape = {20, 50};
  int value = maker.Node("Gemm",
                         {maker.Input({20, 30}), maker.Constant(RandomTensor(random, {50, 30})),
                          maker.Constant(RandomTensor(random, {50}))},
                         shape, {{"transB", std::int64_t{1}}, {"alpha", 2.0f}, {"beta", 0.5f}});
  value = maker.Node("Mul", {value, maker.Constant(RandomTensor(random, {1, 50}))}, shape);
  value = maker.Node("Sub", {value, maker.Constant(RandomTensor(random, {50}))}, shape);
  maker.Node("Relu", {value}, shape);
  ExpectGroupMatches(maker.model(), random);
}

// x * (1 + erf(x / sqrt(2))) / 2 over `value`; the factor 0.5 first or last.
int AddGelu(ModelMaker& maker, int value, const Shape& shape, bool half_first) {
  const auto scalar = [&maker](float number) { return maker.Constant(ConstantData::Floats({}, {number})); };
  const int half = half_first ? maker.Node("Mul", {value, scalar(0.5f)}, shape) : value;
  int inner = half_first ? maker.Node("Mul", {value, scalar(0.70710678f)}, shape)
                         : maker.Node("Div", {value, scalar(1.41421356f)}, shape);
  inner = maker.Node("Add", {maker.Node("Erf", {inner}, shape), scalar(1)}, shape);
  const int product = maker.Node("Mul", {half, inner}, shape);
  return half_first ? product : maker.Node("Mul", {scalar(0.5f), product}, shape);
}

TEST(FusedMatrixProduct, EndsInTheErrorFunctionSpelledOut) {
  for (const bool half_first : {false, true}) {
    Random random(25);
    ModelMaker maker;
    const Shape shape = {2, 20, 130};
    int value =
        maker.Node("MatMul", {maker.Input({2, 20, 48}), maker.Constant(RandomTensor(random, {48, 130}))}, shape);
    value = maker.Node("Add", {maker.Constant(RandomTensor(random, {130})), value}, shape);
    AddGelu(maker, value, shape, half_first);
    ExpectGroupMatches(maker.model(), random);
  }
}

TEST(FusedMatrixProduct, TakesTheErrorFunctionInWhereNobodyElseReadsWhatItIsOf) {
  for (const bool read : {false, true}) {
    Random random(27);
    ModelMaker maker;
    const Shape shape = {2, 20, 130};
    const int value =
        maker.Node("MatMul", {maker.Input({2, 20, 48}), maker.Constant(RandomTensor(random, {48, 130}))}, shape);
    const int gelu = AddGelu(maker, value, shape, true);
    if (read) maker.Node("Neg", {value}, shape);
    const Epilogue epilogue = EpilogueOf(maker.model(), maker.AllNodes(), 0, 2);
    EXPECT_EQ(epilogue.output, read ? value : gelu);
    EXPECT_EQ(epilogue.nodes.size(), read ? 1u : 6u);
  }
}

TEST(FusedMatrixProduct, StopsBeforeAShapeThatAConstantMakesLarger) {
  Random random(29);
  ModelMaker maker;
  const int value =
      maker.Node("MatMul", {maker.Input({2, 48}), maker.Constant(RandomTensor(random, {48, 130}))}, {2, 130});
  maker.Node("Mul", {value, maker.Constant(RandomTensor(random, {3, 1, 1}))}, {3, 2, 130});
  EXPECT_EQ(EpilogueOf(maker.model(), maker.AllNodes(), 0, 1).nodes.size(), 1u);
}

TEST(GeluPattern, IsOneKernelOfItsOwn) {
  for (const bool half_first : {false, true}) {
    for (const Shape& shape : {Shape{3, 50}, Shape{1, 20, 5, 5}}) {
      Random random(26);
      ModelMaker maker;
      AddGelu(maker, maker.Input(shape), shape, half_first);
      ExpectGroupMatches(maker.model(), random);
    }
  }
}

}  // namespace
}  // namespace millrace

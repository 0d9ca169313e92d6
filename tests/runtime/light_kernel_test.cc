// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/kernel_harness.h"

// Light kernels against plain loops, on random shapes, for one to three workers, in both layouts.
namespace millrace {
namespace {

using millrace::testing::ExpectClose;
using millrace::testing::HarnessOptions;
using millrace::testing::ModelMaker;
using millrace::testing::RandomTensor;
using millrace::testing::RunGroup;
using millrace::testing::TensorData;

std::vector<HarnessOptions> AllWays() {
  std::vector<HarnessOptions> ways;
  for (const int workers : {1, 2, 3}) {
    for (const Layout available : testing::kLayouts) ways.push_back({workers, available});
  }
  return ways;
}

// The only output of the model's nodes run as one group.
TensorData Only(const ModelMaker& maker, int output, const std::map<int, TensorData>& inputs,
                const HarnessOptions& way) {
  return RunGroup(maker.model(), maker.AllNodes(), inputs, way).at(output);
}

// Element `index` (row-major, of shape `to`) of a tensor that repeats along dimensions of size 1.
float At(const std::vector<float>& values, const Shape& shape, const Shape& to, std::int64_t index) {
  std::int64_t offset = 0, stride = 1;
  for (std::size_t d = to.size(); d-- > 0;) {
    const std::int64_t position = index % to[d];
    index /= to[d];
    const std::size_t lead = to.size() - shape.size();
    if (d < lead) continue;
    if (shape[d - lead] != 1) offset += position * stride;
    stride *= shape[d - lead];
  }
  return values[static_cast<std::size_t>(offset)];
}

TEST(LightKernels, ElementwiseFunctionsEqualTheLibrarysInBothLayouts) {
  const std::map<std::string, std::function<double(double)>> functions = {
      {"Abs", [](double x) { return std::fabs(x); }},
      {"Ceil", [](double x) { return std::ceil(x); }},
      {"Cos", [](double x) { return std::cos(x); }},
      {"Erf", [](double x) { return std::erf(x); }},
      {"Exp", [](double x) { return std::exp(x); }},
      {"Floor", [](double x) { return std::floor(x); }},
      {"HardSigmoid", [](double x) { return std::min(1.0, std::max(0.0, 0.2 * x + 0.5)); }},
      {"Identity", [](double x) { return x; }},
      {"Neg", [](double x) { return -x; }},
      {"Selu", [](double x) { return 1.05070102 * (x > 0 ? x : 1.67326324 * std::expm1(x)); }},
      {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"Sign", [](double x) { return static_cast<double>(x > 0) - static_cast<double>(x < 0); }},
      {"Softplus", [](double x) { return std::log1p(std::exp(x)); }},
      {"Softsign", [](double x) { return x / (1 + std::fabs(x)); }},
      {"Tanh", [](double x) { return std::tanh(x); }},
  };
  Random random(1);
  for (const auto& [op, function] : functions) {
    const Shape shape = {2, 1 + static_cast<std::int64_t>(random.Below(40)), 3, 5};
    ModelMaker maker;
    const int input = maker.Input(shape);
    const int output = maker.Node(op, {input}, shape);
    const TensorData values = RandomTensor(random, shape, -6, 6);
    std::vector<float> expected = values->AsFloats();
    for (float& value : expected) value = static_cast<float>(function(value));
    for (const HarnessOptions& way : AllWays()) {
      SCOPED_TRACE(op);
      ExpectClose(Only(maker, output, {{input, values}}, way), ConstantData::Floats(shape, expected), 1e-6);
    }
  }
}

TEST(LightKernels, ExponentialsOfExtremesAreZeroAndInfinity) {
  const Shape shape = {6};
  ModelMaker maker;
  const int input = maker.Input(shape);
  const int output = maker.Node("Exp", {input}, shape);
  const TensorData values = ConstantData::Floats(shape, {-1e30f, -200, 88.7f, 89, 1e30f, std::nanf("")});
  const std::vector<float> got = Only(maker, output, {{input, values}}, {})->AsFloats();
  EXPECT_EQ(got[0], 0);
  EXPECT_EQ(got[1], 0);
  EXPECT_NEAR(got[2] / std::exp(88.7), 1, 1e-5);
  EXPECT_TRUE(std::isinf(got[3]) && std::isinf(got[4]));
  EXPECT_TRUE(std::isnan(got[5]));
}

TEST(LightKernels, BinaryOpsBroadcastAsShapesSayInBothLayouts) {
  const std::map<std::string, std::function<double(double, double)>> functions = {
      {"Add", [](double a, double b) { return a + b; }},
      {"Sub", [](double a, double b) { return a - b; }},
      {"Mul", [](double a, double b) { return a * b; }},
      {"Div", [](double a, double b) { return a / b; }},
      {"Max", [](double a, double b) { return a > b ? a : b; }},
      {"Pow", [](double a, double b) { return std::pow(a, b); }},
      {"PRelu", [](double a, double b) { return a < 0 ? a * b : a; }}};
  Random random(2);
  for (int trial = 0; trial < 120; ++trial) {
    const Shape shape = {
        1 + static_cast<std::int64_t>(random.Below(3)), 1 + static_cast<std::int64_t>(random.Below(35)),
        1 + static_cast<std::int64_t>(random.Below(4)), 1 + static_cast<std::int64_t>(random.Below(9))};
    Shape other(shape.begin() + static_cast<std::ptrdiff_t>(random.Below(5)), shape.end());
    for (std::int64_t& size : other)
      if (random.Below(2) == 0) size = 1;
    auto function = functions.begin();
    std::advance(function, random.Below(functions.size()));
    const bool first_repeats = function->first != "PRelu" && random.Below(2) == 0;
    const bool constant = random.Below(2) == 0;
    const TensorData full = RandomTensor(random, shape, 0.5, 2), part = RandomTensor(random, other, 0.5, 2);
    ModelMaker maker;
    const int full_id = maker.Input(shape);
    const int part_id = constant ? maker.Constant(part) : maker.Input(other);
    const int output =
        maker.Node(function->first,
                   first_repeats ? std::vector<int>{part_id, full_id} : std::vector<int>{full_id, part_id}, shape);
    std::vector<float> expected = full->AsFloats();
    const std::vector<float> repeated = part->AsFloats();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double b = At(repeated, other, shape, static_cast<std::int64_t>(i));
      expected[i] =
          static_cast<float>(first_repeats ? function->second(b, expected[i]) : function->second(expected[i], b));
    }
    std::map<int, TensorData> inputs = {{full_id, full}};
    if (!constant) inputs[part_id] = part;
    for (const HarnessOptions& way : AllWays()) {
      SCOPED_TRACE(function->first + " trial " + std::to_string(trial));
      ExpectClose(Only(maker, output, inputs, way), ConstantData::Floats(shape, expected), 1e-5);
    }
  }
}

TEST(LightKernels, SeveralOperandsAreSummedInBothLayouts) {
  Random random(3);
  const Shape shape = {2, 21, 7, 11}, channels = {21, 1, 1};
  ModelMaker maker;
  const TensorData a = RandomTensor(random, shape), b = RandomTensor(random, shape), c = RandomTensor(random, channels);
  const int a_id = maker.Input(shape), b_id = maker.Input(shape), c_id = maker.Constant(c);
  const int output = maker.Node("Mean", {a_id, b_id, c_id, a_id}, shape);
  std::vector<float> expected = a->AsFloats();
  const std::vector<float> second = b->AsFloats(), third = c->AsFloats();
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] = (2 * expected[i] + second[i] + At(third, channels, shape, static_cast<std::int64_t>(i))) / 4;
  for (const HarnessOptions& way : AllWays())
    ExpectClose(Only(maker, output, {{a_id, a}, {b_id, b}}, way), ConstantData::Floats(shape, expected), 1e-6);
}

TEST(LightKernels, AChainOfElementwiseOpsIsTheSameAsItsOpsOneByOne) {
  Random random(4);
  for (const Shape& shape : {Shape{2, 19, 13, 17}, Shape{3, 50, 61}}) {
    ModelMaker maker;
    const int input = maker.Input(shape);
    const int half = maker.Constant(ConstantData::Floats({}, {0.5f}));
    const int root = maker.Constant(ConstantData::Floats({1}, {1.41421356f}));
    const int one = maker.Constant(ConstantData::Floats({}, {1}));
    const int scaled = maker.Node("Div", {input, root}, shape);
    const int erf = maker.Node("Erf", {scaled}, shape);
    const int more = maker.Node("Add", {erf, one}, shape);
    const int times = maker.Node("Mul", {input, more}, shape);
    const int gelu = maker.Node("Mul", {times, half}, shape);
    maker.Output(more);
    maker.Output(gelu);
    const TensorData values = RandomTensor(random, shape, -3, 3);
    std::vector<float> expected_more, expected;
    for (const float x : values->AsFloats()) {
      expected_more.push_back(static_cast<float>(1 + std::erf(x / std::sqrt(2.0))));
      expected.push_back(static_cast<float>(0.5 * x * (1 + std::erf(x / std::sqrt(2.0)))));
    }
    for (const HarnessOptions& way : AllWays()) {
      const std::map<int, TensorData> results = RunGroup(maker.model(), maker.AllNodes(), {{input, values}}, way);
      ExpectClose(results.at(more), ConstantData::Floats(shape, expected_more), 1e-6);
      ExpectClose(results.at(gelu), ConstantData::Floats(shape, expected), 1e-6);
    }
  }
}

TEST(LightKernels, ReductionsGoOverAnyAxes) {
  Random random(5);
  for (int trial = 0; trial < 60; ++trial) {
    Shape shape, kept;
    std::vector<std::int64_t> axes;
    const std::size_t rank = 1 + random.Below(5);
    for (std::size_t d = 0; d < rank; ++d) {
      shape.push_back(1 + static_cast<std::int64_t>(random.Below(d + 1 == rank ? 70 : 6)));
      kept.push_back(shape.back());
      if (random.Below(2) == 0) {
        axes.push_back(static_cast<std::int64_t>(d));
        kept.back() = 1;
      }
    }
    if (axes.empty()) kept.assign(rank, 1);
    const TensorData values = RandomTensor(random, shape, -2, 2);
    for (const std::string op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2", "ReduceLogSumExp"}) {
      ModelMaker maker;
      const int input = maker.Input(shape);
      std::vector<int> inputs = {input};
      std::map<std::string, Attribute> attributes;
      if (!axes.empty() && op == "ReduceSum")
        inputs.push_back(maker.Constant(ConstantData::Int64s({static_cast<std::int64_t>(axes.size())}, axes)));
      if (!axes.empty() && op != "ReduceSum") attributes["axes"] = axes;
      const int output = maker.Node(op, inputs, kept, attributes);
      const auto count = static_cast<std::size_t>(ElementsOf(kept));
      std::vector<double> sums(count, 0), exponentials(count, 0), squares(count, 0), largest(count, -1e30);
      std::vector<float> places(count);
      for (std::size_t i = 0; i < count; ++i) places[i] = static_cast<float>(i);
      const std::vector<float> all = values->AsFloats();
      for (std::size_t i = 0; i < all.size(); ++i) {
        const auto to = static_cast<std::size_t>(At(places, kept, shape, static_cast<std::int64_t>(i)));
        sums[to] += all[i];
        squares[to] += all[i] * all[i];
        exponentials[to] += std::exp(all[i]);
        largest[to] = std::max<double>(largest[to], all[i]);
      }
      std::vector<float> expected;
      for (std::size_t i = 0; i < count; ++i) {
        double value = sums[i];
        if (op == "ReduceMean") value = sums[i] * static_cast<double>(count) / static_cast<double>(all.size());
        if (op == "ReduceMax") value = largest[i];
        if (op == "ReduceL2") value = std::sqrt(squares[i]);
        if (op == "ReduceLogSumExp") value = std::log(exponentials[i]);
        expected.push_back(static_cast<float>(value));
      }
      for (const int workers : {1, 2, 3}) {
        SCOPED_TRACE(op);
        ExpectClose(Only(maker, output, {{input, values}}, {workers}), ConstantData::Floats(kept, expected), 1e-5);
      }
    }
  }
}

// Blocks go on as blocks and channels stay innermost, with constants of any shape. A smaller tensor that comes plain
// beside blocks makes all plain; one beside channels innermost is turned over.
TEST(LightKernels, OfElementsKeepTheLayoutTheirInputsComeIn) {
  Random random(14);
  ModelMaker maker;
  const Shape shape = {1, 32, 4, 4};
  const int a = maker.Input(shape), b = maker.Input(shape), channels = maker.Input({1, 32, 1, 1});
  maker.Node("Add", {a, b}, shape);
  maker.Node("Mul", {a, maker.Constant(RandomTensor(random, {32, 1, 1}))}, shape);
  maker.Node("Sub", {a, channels}, shape);
  const auto output_layout = [&](int node, const std::vector<int>& so, Layout layout = Layout::kBlocked) {
    std::vector<Layout> available(maker.model().values.size(), Layout::kPlain);
    for (const int value : so) available[static_cast<std::size_t>(value)] = layout;
    const std::vector<int> nodes = {node};
    return MakeKernel({.model = &maker.model(), .nodes = nodes, .workers = 1, .available = available})
        ->output_specs()
        .front()
        .layout;
  };
  EXPECT_EQ(output_layout(0, {a, b}), Layout::kBlocked);
  EXPECT_EQ(output_layout(0, {}), Layout::kPlain);
  EXPECT_EQ(output_layout(1, {a}), Layout::kBlocked);
  EXPECT_EQ(output_layout(2, {a}), Layout::kPlain);
  EXPECT_EQ(output_layout(2, {a, channels}), Layout::kBlocked);
  if (!CanHaveChannelsLast(DataType::kFloat32, shape)) return;
  EXPECT_EQ(output_layout(0, {a, b}, Layout::kChannelsLast), Layout::kChannelsLast);
  EXPECT_EQ(output_layout(0, {b}, Layout::kChannelsLast), Layout::kChannelsLast);
  EXPECT_EQ(output_layout(1, {a}, Layout::kChannelsLast), Layout::kChannelsLast);
  EXPECT_EQ(output_layout(2, {a}, Layout::kChannelsLast), Layout::kChannelsLast);
  EXPECT_EQ(output_layout(2, {channels}, Layout::kChannelsLast), Layout::kPlain);
}

template <typename Number>
TensorData Numbers(DataType type, const Shape& shape, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(Number));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto number = static_cast<Number>(values[i]);
    std::memcpy(bytes.data() + i * sizeof number, &number, sizeof number);
  }
  return ConstantData::Dense(type, shape, std::move(bytes));
}

TEST(LightKernels, ReduceOtherTypesThanFloat32) {
  using Make = TensorData (*)(DataType, const Shape&, const std::vector<double>&);
  const std::vector<std::pair<DataType, Make>> types = {{DataType::kFloat64, Numbers<double>},
                                                        {DataType::kInt32, Numbers<std::int32_t>},
                                                        {DataType::kInt64, Numbers<std::int64_t>}};
  const std::vector<std::pair<std::string, std::vector<double>>> ops = {
      {"ReduceSum", {6, 12}},
      {"ReduceMean", {2, 4}},
      {"ReduceProd", {6, 48}},
      {"ReduceL1", {6, 12}},
      {"ReduceSumSquare", {14, 56}},
      {"ReduceMax", {3, 6}},
      {"ReduceMin", {1, 2}},
      {"ReduceLogSum", {std::log(6), std::log(12)}},
      {"ReduceLogSumExp",
       {std::log(std::exp(1) + std::exp(2) + std::exp(3)), std::log(std::exp(2) + std::exp(4) + std::exp(6))}}};
  for (const auto& [type, make] : types) {
    for (const auto& [op, expected] : ops) {
      SCOPED_TRACE(op + " on " + NameOf(type));
      ModelMaker maker;
      const int input = maker.Input({2, 3}, type);
      std::vector<int> inputs = {input};
      std::map<std::string, Attribute> attributes;
      if (op == "ReduceSum") {
        inputs.push_back(maker.Constant(ConstantData::Int64s({1}, {1})));
      } else {
        attributes["axes"] = std::vector<std::int64_t>{1};
      }
      const int output = maker.Node(op, inputs, {2, 1}, attributes, type);
      if (op.starts_with("ReduceLog") && type != DataType::kFloat64) {
        EXPECT_EQ(UnsupportedReason(maker.model(), 0), op + " on " + NameOf(type));
        continue;
      }
      ASSERT_EQ(UnsupportedReason(maker.model(), 0), "");
      ExpectClose(Only(maker, output, {{input, make(type, {2, 3}, {1, 2, 3, 2, 4, 6})}}, {2}),
                  make(type, {2, 1}, expected), 1e-6);
    }
  }
}

TEST(LightKernels, TransposesFollowTheirPermutation) {
  Random random(6);
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t rank = 1 + random.Below(5);
    Shape shape;
    std::vector<std::int64_t> order;
    for (std::size_t d = 0; d < rank; ++d) {
      shape.push_back(1 + static_cast<std::int64_t>(random.Below(7)));
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(random.Below(d + 1)), static_cast<std::int64_t>(d));
    }
    Shape made;
    for (const std::int64_t axis : order) made.push_back(shape[static_cast<std::size_t>(axis)]);
    const TensorData values = RandomTensor(random, shape);
    const std::vector<float> from = values->AsFloats();
    std::vector<float> expected(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      std::vector<std::int64_t> at(rank);
      auto rest = static_cast<std::int64_t>(i);
      for (std::size_t d = rank; d-- > 0; rest /= shape[d]) at[d] = rest % shape[d];
      std::int64_t to = 0;
      for (std::size_t d = 0; d < rank; ++d) to = to * made[d] + at[static_cast<std::size_t>(order[d])];
      expected[static_cast<std::size_t>(to)] = from[i];
    }
    ModelMaker maker;
    const int input = maker.Input(shape);
    const int output = maker.Node("Transpose", {input}, made, {{"perm", order}});
    for (const int workers : {1, 2, 3})
      ExpectClose(Only(maker, output, {{input, values}}, {workers}), ConstantData::Floats(made, expected), 0);
  }
}

TEST(LightKernels, ComputedParametersAreRefusedByName) {
  ModelMaker maker;
  const int input = maker.Input({4, 4}), axes = maker.Input({1}, DataType::kInt64);
  maker.Node("ReduceSum", {input, axes}, {4, 1});
  maker.Node("Slice", {input, axes, axes}, {2, 4});
  maker.Node("Reshape", {input, axes}, {16});
  EXPECT_EQ(UnsupportedReason(maker.model(), 0), "ReduceSum with computed axes");
  EXPECT_EQ(UnsupportedReason(maker.model(), 1), "Slice with computed starts");
  EXPECT_EQ(UnsupportedReason(maker.model(), 2), "");
}

}  // namespace
}  // namespace millrace

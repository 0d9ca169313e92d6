// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/runtime/kernel_harness.h"

// LSTM, GRU and RNN against the equations of ONNX, written out unit by unit.
namespace millrace {
namespace {

using millrace::testing::ExpectClose;
using millrace::testing::ModelMaker;
using millrace::testing::RandomTensor;
using millrace::testing::RunGroup;
using millrace::testing::TensorData;

struct Case {
  std::string op;
  bool both = false, reverse = false, lengths = false, initial = false, peepholes = false, reset_late = false;
  std::int64_t steps = 5, batch = 3, depth = 7, hidden = 20;
};

struct Weights {
  std::vector<float> input, state, bias, peephole;
};

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

struct Expected {
  std::vector<float> all, last, cell;
};

Expected Reference(const Case& layer, const Weights& weights, const std::vector<float>& input,
                   const std::vector<std::int64_t>& lengths, const std::vector<float>& initial,
                   const std::vector<float>& initial_cell) {
  const std::int64_t H = layer.hidden, B = layer.batch, T = layer.steps, I = layer.depth;
  const std::int64_t directions = layer.both ? 2 : 1, gates = layer.op == "LSTM" ? 4 : (layer.op == "GRU" ? 3 : 1);
  Expected expected;
  expected.all.assign(static_cast<std::size_t>(T * directions * B * H), 0);
  expected.last.assign(static_cast<std::size_t>(directions * B * H), 0);
  expected.cell = expected.last;
  for (std::int64_t d = 0; d < directions; ++d) {
    for (std::int64_t b = 0; b < B; ++b) {
      std::vector<double> h(static_cast<std::size_t>(H), 0), c(h);
      for (std::int64_t u = 0; u < H && layer.initial; ++u) {
        h[static_cast<std::size_t>(u)] = initial[static_cast<std::size_t>((d * B + b) * H + u)];
        c[static_cast<std::size_t>(u)] = initial_cell[static_cast<std::size_t>((d * B + b) * H + u)];
      }
      const std::int64_t length = lengths[static_cast<std::size_t>(b)];
      for (std::int64_t step = 0; step < length; ++step) {
        const std::int64_t t = d == 1 || layer.reverse ? length - 1 - step : step;
        const auto of_input = [&](std::int64_t g, std::int64_t u) {
          const std::int64_t row = (d * gates + g) * H + u;
          double sum = weights.bias[static_cast<std::size_t>(d * 2 * gates * H + g * H + u)];
          for (std::int64_t k = 0; k < I; ++k) {
            sum += static_cast<double>(weights.input[static_cast<std::size_t>(row * I + k)]) *
                   input[static_cast<std::size_t>((t * B + b) * I + k)];
          }
          return sum;
        };
        const auto of_state = [&](std::int64_t g, std::int64_t u, const std::vector<double>& state) {
          const std::int64_t row = (d * gates + g) * H + u;
          double sum = weights.bias[static_cast<std::size_t>((d * 2 + 1) * gates * H + g * H + u)];
          for (std::int64_t k = 0; k < H; ++k)
            sum += weights.state[static_cast<std::size_t>(row * H + k)] * state[static_cast<std::size_t>(k)];
          return sum;
        };
        const auto peep = [&](std::int64_t g, std::int64_t u) {
          return layer.peepholes ? weights.peephole[static_cast<std::size_t>((d * 3 + g) * H + u)] : 0.0f;
        };
        std::vector<double> next(h), reset(h);
        if (layer.op == "GRU") {
          for (std::int64_t u = 0; u < H; ++u)
            reset[static_cast<std::size_t>(u)] *= Logistic(of_input(1, u) + of_state(1, u, h));
        }
        for (std::int64_t u = 0; u < H; ++u) {
          const auto at = static_cast<std::size_t>(u);
          if (layer.op == "RNN") {
            next[at] = std::tanh(of_input(0, u) + of_state(0, u, h));
          } else if (layer.op == "GRU") {
            const double update = Logistic(of_input(0, u) + of_state(0, u, h));
            const double candidate =
                layer.reset_late
                    ? std::tanh(of_input(2, u) + Logistic(of_input(1, u) + of_state(1, u, h)) * of_state(2, u, h))
                    : std::tanh(of_input(2, u) + of_state(2, u, reset));
            next[at] = (1 - update) * candidate + update * h[at];
          } else {
            const double in = Logistic(of_input(0, u) + of_state(0, u, h) + peep(0, u) * c[at]);
            const double forget = Logistic(of_input(2, u) + of_state(2, u, h) + peep(2, u) * c[at]);
            c[at] = forget * c[at] + in * std::tanh(of_input(3, u) + of_state(3, u, h));
            next[at] = Logistic(of_input(1, u) + of_state(1, u, h) + peep(1, u) * c[at]) * std::tanh(c[at]);
          }
        }
        h = next;
        for (std::int64_t u = 0; u < H; ++u) {
          expected.all[static_cast<std::size_t>(((t * directions + d) * B + b) * H + u)] =
              static_cast<float>(h[static_cast<std::size_t>(u)]);
        }
      }
      for (std::int64_t u = 0; u < H; ++u) {
        expected.last[static_cast<std::size_t>((d * B + b) * H + u)] =
            static_cast<float>(h[static_cast<std::size_t>(u)]);
        expected.cell[static_cast<std::size_t>((d * B + b) * H + u)] =
            static_cast<float>(c[static_cast<std::size_t>(u)]);
      }
    }
  }
  return expected;
}

void CheckLayer(const Case& layer, std::uint64_t seed) {
  Random random(seed);
  const std::int64_t D = layer.both ? 2 : 1, gates = layer.op == "LSTM" ? 4 : (layer.op == "GRU" ? 3 : 1);
  const Shape ends = {D, layer.batch, layer.hidden}, all = {layer.steps, D, layer.batch, layer.hidden};
  const TensorData input = RandomTensor(random, {layer.steps, layer.batch, layer.depth});
  const TensorData w = RandomTensor(random, {D, gates * layer.hidden, layer.depth});
  const TensorData r = RandomTensor(random, {D, gates * layer.hidden, layer.hidden}, -0.3, 0.3);
  const TensorData bias = RandomTensor(random, {D, 2 * gates * layer.hidden});
  const TensorData peepholes = RandomTensor(random, {D, 3 * layer.hidden});
  const TensorData h0 = RandomTensor(random, ends), c0 = RandomTensor(random, ends);
  std::vector<std::int64_t> lengths;
  std::vector<std::byte> length_bytes;
  for (std::int64_t b = 0; b < layer.batch; ++b) {
    lengths.push_back(layer.lengths
                          ? static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(layer.steps) + 1))
                          : layer.steps);
    const auto length = static_cast<std::int32_t>(lengths.back());
    const auto* bytes = reinterpret_cast<const std::byte*>(&length);
    length_bytes.insert(length_bytes.end(), bytes, bytes + sizeof length);
  }
  ModelMaker maker(14);
  const int input_id = maker.Input(input->shape());
  std::vector<int> inputs = {input_id, maker.Constant(w), maker.Constant(r), maker.Constant(bias)};
  std::map<int, TensorData> given = {{input_id, input}};
  const auto give = [&](bool wanted, const TensorData& tensor) {
    inputs.push_back(wanted ? maker.Input(tensor->shape(), tensor->type()) : -1);
    if (wanted) given[inputs.back()] = tensor;
  };
  give(layer.lengths, ConstantData::Dense(DataType::kInt32, {layer.batch}, length_bytes));
  give(layer.initial, h0);
  std::vector<std::pair<DataType, Shape>> outputs = {{DataType::kFloat32, all}, {DataType::kFloat32, ends}};
  if (layer.op == "LSTM") {
    give(layer.initial, c0);
    if (layer.peepholes) inputs.push_back(maker.Constant(peepholes));
    outputs.push_back({DataType::kFloat32, ends});
  }
  const std::map<std::string, Attribute> attributes = {
      {"hidden_size", layer.hidden},
      {"linear_before_reset", static_cast<std::int64_t>(layer.reset_late)},
      {"direction", std::string(layer.both ? "bidirectional" : (layer.reverse ? "reverse" : "forward"))}};
  const std::vector<int> made = maker.NodeOf(layer.op, inputs, outputs, attributes);
  const Expected expected = Reference(layer, {w->AsFloats(), r->AsFloats(), bias->AsFloats(), peepholes->AsFloats()},
                                      input->AsFloats(), lengths, h0->AsFloats(), c0->AsFloats());
  for (const int workers : {1, 2, 3}) {
    SCOPED_TRACE(layer.op + " on " + std::to_string(workers) + " workers");
    const std::map<int, TensorData> results = RunGroup(maker.model(), {0}, given, {workers});
    ExpectClose(results.at(made[0]), ConstantData::Floats(all, expected.all), 1e-5);
    ExpectClose(results.at(made[1]), ConstantData::Floats(ends, expected.last), 1e-5);
    if (layer.op == "LSTM") ExpectClose(results.at(made[2]), ConstantData::Floats(ends, expected.cell), 1e-5);
  }
}

TEST(Recurrent, LstmFollowsItsEquationsInAllDirections) {
  CheckLayer({"LSTM"}, 1);
  CheckLayer({"LSTM", false, true, true, true}, 2);
  CheckLayer({"LSTM", true, false, true, true, true}, 3);
  CheckLayer({"LSTM", true, false, false, false, false, false, 3, 9, 33, 48}, 4);
}

TEST(Recurrent, GruFollowsItsEquationsWithEitherReset) {
  for (const bool late : {false, true}) {
    CheckLayer({"GRU", false, false, false, false, false, late}, 5);
    CheckLayer({"GRU", true, false, true, true, false, late}, 6);
  }
}

TEST(Recurrent, PlainCellsFollowTheirEquations) {
  CheckLayer({"RNN"}, 7);
  CheckLayer({"RNN", true, false, true, true}, 8);
}

TEST(Recurrent, ForeignActivationsAreRefusedByName) {
  ModelMaker maker(14);
  const int input = maker.Input({2, 1, 3});
  Random random(9);
  const int w = maker.Constant(RandomTensor(random, {1, 4, 3})), r = maker.Constant(RandomTensor(random, {1, 4, 4}));
  maker.Node("RNN", {input, w, r}, {2, 1, 1, 4}, {{"activations", std::vector<std::string>{"Affine"}}});
  EXPECT_EQ(UnsupportedReason(maker.model(), 0), "RNN with activation Affine");
}

}  // namespace
}  // namespace millrace

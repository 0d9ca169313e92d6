// SPDX-License-Identifier: Apache-2.0
#include "millrace/policy/linear_layer.h"

#include <algorithm>

#include "millrace/vector/vector_loops.h"

namespace millrace {
namespace {

struct Arguments {
  const float* weight;  // by block of kLanes outputs x input x kLanes
  const float* bias;
  std::size_t inputs, blocks, rows;
  bool relu;
  const float* input;
  float* output;
};

template <int Width, int Rows>
MILLRACE_INLINE void ApplyTile(const Arguments& of, std::size_t first_row) {
  constexpr int kParts = kLanes / Width;
  const Vector<Width> zero = {};
  const float* input = of.input + first_row * of.inputs;
  float* output = of.output + first_row * of.blocks * kLanes;
  for (std::size_t block = 0; block < of.blocks; ++block, output += kLanes) {
    const float* column = of.weight + block * of.inputs * kLanes;
    Vector<Width> sums[Rows][kParts];
    for (int row = 0; row < Rows; ++row) {
      for (int part = 0; part < kParts; ++part)
        sums[row][part] = VectorAt<Width>(of.bias + block * kLanes + part * Width);
    }
    for (std::size_t i = 0; i < of.inputs; ++i, column += kLanes) {
      for (int part = 0; part < kParts; ++part) {
        const Vector<Width> factor = VectorAt<Width>(column + part * Width);
        for (int row = 0; row < Rows; ++row)
          sums[row][part] += input[static_cast<std::size_t>(row) * of.inputs + i] * factor;
      }
    }
    for (int row = 0; row < Rows; ++row) {
      for (int part = 0; part < kParts; ++part) {
        const Vector<Width> positive = sums[row][part] > zero ? sums[row][part] : zero;
        VectorAt<Width>(output + static_cast<std::size_t>(row) * of.blocks * kLanes + part * Width) =
            of.relu ? positive : sums[row][part];
      }
    }
  }
}

template <int Width, int Rows>
MILLRACE_INLINE void ApplyRows(const Arguments& of) {
  std::size_t row = 0;
  for (; row + Rows <= of.rows; row += Rows) ApplyTile<Width, Rows>(of, row);
  for (; row < of.rows; ++row) ApplyTile<Width, 1>(of, row);
}

// As many rows at once as keep most of the registers busy and leave some for the operands.
auto BestApplyRows() {
  return BestOf<&ApplyRows<kLanesOfBaseline, 3>, &ApplyRows<kLanesOfAvx2, 6>, &ApplyRows<kLanesOfAvx512, 12>>();
}

}  // namespace

LinearLayer::LinearLayer(const Weights& weights, const std::string& name, int inputs, int outputs, Bias bias)
    : inputs_(inputs),
      outputs_(outputs),
      weight_(static_cast<std::size_t>(inputs) * static_cast<std::size_t>(outputs)),
      bias_(static_cast<std::size_t>(outputs)) {
  const WeightTensor& weight = weights.Get(name + ".weight", {outputs, inputs});
  for (int output = 0; output < outputs; ++output) {
    for (int input = 0; input < inputs; ++input) {
      weight_.data()[(output / kLanes * inputs + input) * kLanes + output % kLanes] =
          weight.values[static_cast<std::size_t>(output * inputs + input)];
    }
  }
  if (bias == Bias::kNone) return;
  const WeightTensor& own = weights.Get(name + ".bias", {outputs});
  std::copy(own.values.begin(), own.values.end(), bias_.data());
}

void LinearLayer::Apply(const float* input, std::size_t rows, Then then, float* output) const {
  static const auto apply_rows = BestApplyRows();
  apply_rows({weight_.data(), bias_.data(), static_cast<std::size_t>(inputs_),
              static_cast<std::size_t>(outputs_ / kLanes), rows, then == Then::kRelu, input, output});
}

}  // namespace millrace

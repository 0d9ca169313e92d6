// SPDX-License-Identifier: Apache-2.0
#include "millrace/network/blocked_product.h"

#include "millrace/vector/vector_loops.h"

namespace millrace {
namespace {

template <std::size_t Width, std::size_t Rows>
MILLRACE_INLINE void MultiplyTile(const BlockedProduct& of, std::size_t first_row) {
  constexpr std::size_t kParts = kLanes / Width;
  const Vector<Width> zero = {};
  const float* input = of.input + first_row * of.input_stride;
  float* output = of.output + first_row * of.output_stride;
  for (std::size_t block = 0; block < of.blocks; ++block, output += kLanes) {
    const float* column = of.weight + block * of.inputs * kLanes;
    Vector<Width> sums[Rows][kParts];
    for (std::size_t row = 0; row < Rows; ++row) {
      for (std::size_t part = 0; part < kParts; ++part)
        sums[row][part] = of.bias == nullptr ? zero : VectorAt<Width>(of.bias + block * kLanes + part * Width);
    }
    for (std::size_t i = 0; i < of.inputs; ++i, column += kLanes) {
      for (std::size_t part = 0; part < kParts; ++part) {
        const Vector<Width> factor = VectorAt<Width>(column + part * Width);
        for (std::size_t row = 0; row < Rows; ++row) sums[row][part] += input[row * of.input_stride + i] * factor;
      }
    }
    for (std::size_t row = 0; row < Rows; ++row) {
      for (std::size_t part = 0; part < kParts; ++part) {
        const Vector<Width> positive = sums[row][part] > zero ? sums[row][part] : zero;
        VectorAt<Width>(output + row * of.output_stride + part * Width) = of.relu ? positive : sums[row][part];
      }
    }
  }
}

template <std::size_t Width, std::size_t Rows>
MILLRACE_INLINE void MultiplyRows(const BlockedProduct& of) {
  std::size_t row = 0;
  for (; row + Rows <= of.rows; row += Rows) MultiplyTile<Width, Rows>(of, row);
  for (; row < of.rows; ++row) MultiplyTile<Width, 1>(of, row);
}

// As many rows at once as keep most of the registers busy and leave some for the operands.
auto BestMultiplyRows() {
  return BestBodyOf<&MultiplyRows<kLanesOfBaseline, 3>, &MultiplyRows<kLanesOfAvx2, 6>,
                    &MultiplyRows<kLanesOfAvx512, 12>>();
}

}  // namespace

void Multiply(const BlockedProduct& product) {
  static const auto multiply_rows = BestMultiplyRows();
  multiply_rows(product);
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/winograd.h"

#include <algorithm>
#include <cstddef>

#include "millrace/runtime/reorder.h"
#include "millrace/vector/lanes.h"
#include "millrace/vector/vector_loops.h"

namespace millrace {
namespace {

constexpr std::ptrdiff_t kInputs = 6;   // rows and columns of a tile of inputs
constexpr std::ptrdiff_t kResults = 4;  // of results
static_assert(kInputs * kInputs == kWinogradNumbers && kResults == kWinogradResults);

// The points are 0, kA, -kA, kB, -kB and infinity.
constexpr float kA = 0.625f, kB = 1.5f;
constexpr float kA2 = kA * kA, kB2 = kB * kB;

// Six numbers that are `step` apart, transformed.
template <typename Number>
MILLRACE_INLINE void InputsOfLine(const Number* in, std::ptrdiff_t step, Number* out) {
  const Number &d0 = in[0], &d1 = in[step], &d2 = in[2 * step], &d3 = in[3 * step], &d4 = in[4 * step],
               &d5 = in[5 * step];
  const Number even_a = d4 - kB2 * d2, odd_a = kA * (d3 - kB2 * d1);
  const Number even_b = d4 - kA2 * d2, odd_b = kB * (d3 - kA2 * d1);
  out[0] = kA2 * kB2 * d0 - (kA2 + kB2) * d2 + d4;
  out[step] = even_a + odd_a;
  out[2 * step] = even_a - odd_a;
  out[3 * step] = even_b + odd_b;
  out[4 * step] = even_b - odd_b;
  out[5 * step] = kA2 * kB2 * d1 - (kA2 + kB2) * d3 + d5;
}

// Six numbers that are `step` apart, transformed to the four that `out` has as far apart.
template <typename Number>
MILLRACE_INLINE void ResultsOfLine(const Number* in, std::ptrdiff_t step, Number* out) {
  const Number even_a = in[step] + in[2 * step], odd_a = kA * (in[step] - in[2 * step]);
  const Number even_b = in[3 * step] + in[4 * step], odd_b = kB * (in[3 * step] - in[4 * step]);
  out[0] = in[0] + even_a + even_b;
  out[step] = odd_a + odd_b;
  out[2 * step] = kA2 * even_a + kB2 * even_b;
  out[3 * step] = kA2 * odd_a + kB2 * odd_b + in[5 * step];
}

template <int Width>
MILLRACE_INLINE void InputsBody(const BlockRow& row, const float* image, float* transformed, std::int64_t stride) {
  using Block = Vector<Width>;
  const bool rows_inside = row.first_row >= 0 && row.first_row + kInputs <= row.rows;
  for (std::int64_t tile = 0; tile < row.tiles; ++tile) {
    Block numbers[kInputs * kInputs];
    const std::int64_t first_column = row.first_column + tile * kResults;
    if (rows_inside && first_column >= 0 && first_column + kInputs <= row.columns) {
      for (std::ptrdiff_t y = 0; y < kInputs; ++y) {
        const float* from = image + ((row.first_row + y) * row.columns + first_column) * row.pixel;
        for (std::ptrdiff_t x = 0; x < kInputs; ++x) numbers[y * kInputs + x] = VectorAt<Width>(from + x * row.pixel);
      }
    } else {
      for (std::ptrdiff_t y = 0; y < kInputs; ++y) {
        for (std::ptrdiff_t x = 0; x < kInputs; ++x) {
          const std::int64_t in_row = row.first_row + y, in_column = first_column + x;
          const bool inside = in_row >= 0 && in_row < row.rows && in_column >= 0 && in_column < row.columns;
          numbers[y * kInputs + x] =
              inside ? VectorAt<Width>(image + (in_row * row.columns + in_column) * row.pixel) : Block{};
        }
      }
    }
    Block lines[kInputs * kInputs], result[kInputs * kInputs];
    for (std::ptrdiff_t x = 0; x < kInputs; ++x) InputsOfLine(numbers + x, kInputs, lines + x);
    for (std::ptrdiff_t y = 0; y < kInputs; ++y) InputsOfLine(lines + y * kInputs, 1, result + y * kInputs);
    for (std::ptrdiff_t n = 0; n < kInputs * kInputs; ++n)
      VectorAt<Width>(transformed + n * stride + tile * Width) = result[n];
  }
}

template <int Width>
MILLRACE_INLINE void ResultsBody(const BlockRow& row, const float* transformed, std::int64_t stride,
                                 const TileEpilogue& epilogue, float* image) {
  using Block = Vector<Width>;
  const Block bias = VectorAt<Width>(epilogue.bias);
  const Block least = Block{} + epilogue.least, most = Block{} + epilogue.most;
  for (std::int64_t tile = 0; tile < row.tiles; ++tile) {
    Block numbers[kInputs * kInputs], lines[kResults * kInputs], results[kResults * kResults];
    for (std::ptrdiff_t n = 0; n < kInputs * kInputs; ++n)
      numbers[n] = VectorAt<Width>(transformed + n * stride + tile * Width);
    for (std::ptrdiff_t x = 0; x < kInputs; ++x) ResultsOfLine(numbers + x, kInputs, lines + x);
    for (std::ptrdiff_t y = 0; y < kResults; ++y) ResultsOfLine(lines + y * kInputs, 1, results + y * kResults);
    const std::int64_t first_column = row.first_column + tile * kResults;
    const std::int64_t rows = std::min<std::int64_t>(kResults, row.rows - row.first_row);
    const std::int64_t columns = std::min<std::int64_t>(kResults, row.columns - first_column);
    for (std::int64_t y = 0; y < rows; ++y) {
      const std::int64_t at = ((row.first_row + y) * row.columns + first_column) * row.pixel;
      for (std::int64_t x = 0; x < columns; ++x) {
        Block result = results[y * kResults + x] + bias;
        if (epilogue.residual != nullptr) result += VectorAt<Width>(epilogue.residual + at + x * row.pixel);
        result = result < least ? least : result;
        result = result > most ? most : result;
        VectorAt<Width>(image + at + x * row.pixel) = result;
      }
    }
  }
}

}  // namespace

void TransformWindow(std::span<const float, 9> window, float* transformed, std::int64_t stride) {
  constexpr double kDenominatorA = 2 * kA2 * (kA2 - kB2), kDenominatorB = 2 * kB2 * (kB2 - kA2);
  constexpr double kPoints[kInputs][3] = {{1 / (double{kA2} * kB2), 0, 0},
                                          {1 / kDenominatorA, kA / kDenominatorA, kA2 / kDenominatorA},
                                          {1 / kDenominatorA, -kA / kDenominatorA, kA2 / kDenominatorA},
                                          {1 / kDenominatorB, kB / kDenominatorB, kB2 / kDenominatorB},
                                          {1 / kDenominatorB, -kB / kDenominatorB, kB2 / kDenominatorB},
                                          {0, 0, 1}};
  double lines[kInputs][3];
  for (std::ptrdiff_t y = 0; y < kInputs; ++y) {
    for (std::size_t x = 0; x < 3; ++x)
      lines[y][x] = kPoints[y][0] * window[x] + kPoints[y][1] * window[3 + x] + kPoints[y][2] * window[6 + x];
  }
  for (std::ptrdiff_t y = 0; y < kInputs; ++y) {
    for (std::ptrdiff_t x = 0; x < kInputs; ++x) {
      const double number = lines[y][0] * kPoints[x][0] + lines[y][1] * kPoints[x][1] + lines[y][2] * kPoints[x][2];
      transformed[(y * kInputs + x) * stride] = static_cast<float>(number);
    }
  }
}

void TransformInputs(const BlockRow& row, const float* image, float* transformed, std::int64_t stride) {
  static const auto best = ChannelBlock() == kWideBlock ? Versions<&InputsBody<kWideBlock>>::Best()
                                                        : Versions<&InputsBody<kNarrowBlock>>::Best();
  best(row, image, transformed, stride);
}

void TransformResults(const BlockRow& row, const float* transformed, std::int64_t stride, const TileEpilogue& epilogue,
                      float* image) {
  static const auto best = ChannelBlock() == kWideBlock ? Versions<&ResultsBody<kWideBlock>>::Best()
                                                        : Versions<&ResultsBody<kNarrowBlock>>::Best();
  best(row, transformed, stride, epilogue, image);
}

}  // namespace millrace

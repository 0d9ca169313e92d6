// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>

// Winograd's way to convolve with windows of three by three in steps of one: tiles of six by six inputs and the windows
// are transformed, multiplied number by number and summed over input channels, and transformed back to tiles of four by
// four results: 36 multiplications for 144 (Winograd, "Arithmetic Complexity of Computations", 1980; Lavin and Gray,
// "Fast Algorithms for Convolutional Neural Networks", 2016). The interpolation points are 0, +-5/8, +-3/2 and
// infinity, which lose half as many bits as 0, +-1, +-2 (compare Barabasz et al., "Error Analysis and Improving the
// Accuracy of Winograd Convolution for Deep Neural Networks", 2020).
//
// Tensors lie in blocks of ChannelBlock() channels (kernel.h) or with whole blocks of channels innermost. These
// functions take one block and tiles of one row at a time. Number n of tile t is the block of floats at `transformed` +
// n x `stride` + t x ChannelBlock().
namespace millrace {

inline constexpr std::int64_t kWinogradNumbers = 36;  // of a transformed tile
inline constexpr std::int64_t kWinogradResults = 4;   // rows and columns of a tile of results

// One window, row-major, to number n at `transformed` + n x `stride`.
void TransformWindow(std::span<const float, 9> window, float* transformed, std::int64_t stride);

// One block of channels of one image.
struct BlockRow {
  std::int64_t rows = 0, columns = 0;            // of the image
  std::int64_t first_row = 0, first_column = 0;  // of the first tile; may be outside the image, where there are zeros
  std::int64_t tiles = 0;                        // one beside the other, kWinogradResults columns apart
  std::int64_t pixel = 0;                        // numbers from one of the block to the same of the next column
};

// `image` is the block's first number, aligned to the block.
void TransformInputs(const BlockRow& row, const float* image, float* transformed, std::int64_t stride);

// What is added to the results and done to them.
struct TileEpilogue {
  const float* bias = nullptr;                            // of the block's channels
  const float* residual = nullptr;                        // lies as the results; null: none
  float least = -std::numeric_limits<float>::infinity();  // smaller results become it; not-a-number stays
  float most = std::numeric_limits<float>::infinity();    // larger ones become it
};

// Writes those results that lie inside the image. `first_row` and `first_column` are inside.
void TransformResults(const BlockRow& row, const float* transformed, std::int64_t stride, const TileEpilogue& epilogue,
                      float* image);

}  // namespace millrace

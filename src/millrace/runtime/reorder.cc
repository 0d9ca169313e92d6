// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/reorder.h"

#include <algorithm>
#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <type_traits>

#include "millrace/runtime/blocked_tensor.h"
#include "millrace/runtime/work_share.h"
#include "millrace/vector/lanes.h"

namespace millrace {
namespace {

constexpr std::int64_t kTile = 32;          // pixels, and channels of them
constexpr std::int64_t kPixelsAtOnce = 64;  // a tile of a block x 64 pixels stays in the first-level cache

// `channels` rows of `pixels` values, `stride` apart, to pixels of `block` channels.
template <std::int64_t block>
void ToBlock(const float* plain, std::int64_t stride, std::int64_t channels, std::int64_t pixels, float* blocked) {
  if (channels == block) {
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      for (std::int64_t channel = 0; channel < block; ++channel)
        blocked[pixel * block + channel] = plain[channel * stride + pixel];
    }
    return;
  }
  for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
    for (std::int64_t channel = 0; channel < channels; ++channel)
      blocked[pixel * block + channel] = plain[channel * stride + pixel];
    for (std::int64_t channel = channels; channel < block; ++channel) blocked[pixel * block + channel] = 0;
  }
}

template <std::int64_t block>
void FromBlock(const float* blocked, std::int64_t stride, std::int64_t channels, std::int64_t pixels, float* plain) {
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
      plain[channel * stride + pixel] = blocked[pixel * block + channel];
  }
}

template <std::int64_t block>
void ReorderBlocks(const TensorSpec& spec, const float* from, Layout wanted, float* to, int workers, int worker) {
  const std::int64_t channels = spec.shape[1];
  const std::int64_t blocks = (channels + block - 1) / block;
  const std::int64_t pixels = spec.shape[2] * spec.shape[3];
  const std::int64_t tiles = (pixels + kPixelsAtOnce - 1) / kPixelsAtOnce;
  const Share share = ShareOf(spec.shape[0] * blocks * tiles, workers, worker);
  for (std::int64_t item = share.begin; item < share.end; ++item) {
    const std::int64_t first_pixel = item % tiles * kPixelsAtOnce;
    const std::int64_t number = item / tiles % blocks;
    const std::int64_t image = item / tiles / blocks;
    const std::int64_t some_pixels = std::min(kPixelsAtOnce, pixels - first_pixel);
    const std::int64_t some_channels = std::min(block, channels - number * block);
    const std::int64_t plain_at = (image * channels + number * block) * pixels + first_pixel;
    const std::int64_t blocked_at = ((image * blocks + number) * pixels + first_pixel) * block;
    if (wanted == Layout::kBlocked) {
      ToBlock<block>(from + plain_at, pixels, some_channels, some_pixels, to + blocked_at);
    } else {
      FromBlock<block>(from + blocked_at, pixels, some_channels, some_pixels, to + plain_at);
    }
  }
}

using Four = Vector<4>;

MILLRACE_INLINE Four FourAt(const float* from) {
  Four four;
  std::memcpy(&four, from, sizeof(four));
  return four;
}

// Four rows of four floats, turned over.
MILLRACE_INLINE void TurnFour(const float* from, std::int64_t stride, float* to, std::int64_t to_stride) {
  const Four a = FourAt(from), b = FourAt(from + stride), c = FourAt(from + 2 * stride), d = FourAt(from + 3 * stride);
  const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four behind_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7),
             behind_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const Four columns[4] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                           __builtin_shufflevector(behind_ab, behind_cd, 0, 1, 4, 5),
                           __builtin_shufflevector(behind_ab, behind_cd, 2, 3, 6, 7)};
  for (std::int64_t i = 0; i < 4; ++i) std::memcpy(to + i * to_stride, &columns[i], sizeof(Four));
}

// A tile of a matrix, turned over.
template <typename Element>
void TurnTile(const Element* from, std::int64_t stride, std::int64_t rows, std::int64_t columns, Element* to,
              std::int64_t to_stride) {
  std::int64_t whole_rows = 0, whole_columns = 0;
  if constexpr (std::is_same_v<Element, float>) {
    whole_rows = rows / 4 * 4;
    whole_columns = columns / 4 * 4;
    for (std::int64_t row = 0; row < whole_rows; row += 4) {
      for (std::int64_t column = 0; column < whole_columns; column += 4)
        TurnFour(from + row * stride + column, stride, to + column * to_stride + row, to_stride);
    }
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = row < whole_rows ? whole_columns : 0; column < columns; ++column)
      to[column * to_stride + row] = from[row * stride + column];
  }
}

// Pictures come in colours. A constant number of channels lets the compiler write whole registers.
constexpr std::int64_t kColours = 3;

// Some pixels of an image between rows of pixels, one for each channel, and pixels with their channels side by side.
template <typename Element>
void TurnPixels(const Element* from, std::int64_t pixels, std::int64_t channels, Share own, bool to_last, Element* to) {
  if (to_last && channels == kColours) {
    for (std::int64_t pixel = own.begin; pixel < own.end; ++pixel) {
      for (std::int64_t channel = 0; channel < kColours; ++channel)
        to[pixel * kColours + channel] = from[channel * pixels + pixel];
    }
    return;
  }
  for (std::int64_t pixel = own.begin; pixel < own.end; pixel += kTile) {
    for (std::int64_t channel = 0; channel < channels; channel += kTile) {
      const std::int64_t some_pixels = std::min(kTile, own.end - pixel);
      const std::int64_t some_channels = std::min(kTile, channels - channel);
      const std::int64_t plain_at = channel * pixels + pixel, last_at = pixel * channels + channel;
      if (to_last) {
        TurnTile(from + plain_at, pixels, some_channels, some_pixels, to + last_at, channels);
      } else {
        TurnTile(from + last_at, channels, some_pixels, some_channels, to + plain_at, pixels);
      }
    }
  }
}

// Between plain and channels innermost. Workers share out pixels: shares of channels would be in the same lines of
// their caches.
template <typename Element>
void TurnOver(const TensorSpec& spec, const Element* source, Layout wanted, Element* destination, int workers,
              int worker) {
  const std::int64_t images = spec.shape[0], channels = spec.shape[1];
  const std::int64_t pixels = ElementsFrom(spec.shape, 2);
  ForOwnRows(images, pixels, workers, worker, [&](std::int64_t image, Share own) {
    const std::int64_t at = image * channels * pixels;
    TurnPixels(source + at, pixels, channels, own, wanted == Layout::kChannelsLast, destination + at);
  });
}

// A row of pixels with all their channels side by side, to or from its places in the blocks of an image.
template <std::int64_t block>
void SplitRow(const float* last, std::int64_t channels, std::int64_t pixels, std::int64_t stride, float* blocked) {
  for (std::int64_t first = 0; first < channels; first += block, blocked += stride) {
    const std::int64_t some = std::min(block, channels - first);
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      const float* from = last + pixel * channels + first;
      float* to = blocked + pixel * block;
      if (some == block) {
        std::copy_n(from, block, to);
      } else {
        std::fill(std::copy_n(from, some, to), to + block, 0.0f);
      }
    }
  }
}

template <std::int64_t block>
void JoinRow(const float* blocked, std::int64_t channels, std::int64_t pixels, std::int64_t stride, float* last) {
  for (std::int64_t first = 0; first < channels; first += block, blocked += stride) {
    const std::int64_t some = std::min(block, channels - first);
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      const float* from = blocked + pixel * block;
      float* to = last + pixel * channels + first;
      if (some == block) {
        std::copy_n(from, block, to);
      } else {
        std::copy_n(from, some, to);
      }
    }
  }
}

// Between blocks and channels innermost.
template <std::int64_t block>
void ReorderRows(const TensorSpec& spec, const float* from, Layout wanted, float* to, int workers, int worker) {
  const std::int64_t channels = spec.shape[1], rows = spec.shape[2], columns = spec.shape[3];
  const std::int64_t blocks = (channels + block - 1) / block;
  const std::int64_t stride = rows * columns * block;
  ForOwnRows(spec.shape[0], rows, workers, worker, [&](std::int64_t image, Share own) {
    for (std::int64_t row = own.begin; row < own.end; ++row) {
      const std::int64_t last_at = (image * rows + row) * columns * channels;
      const std::int64_t blocked_at = image * blocks * stride + row * columns * block;
      if (wanted == Layout::kBlocked) {
        SplitRow<block>(from + last_at, channels, columns, stride, to + blocked_at);
      } else {
        JoinRow<block>(from + blocked_at, channels, columns, stride, to + last_at);
      }
    }
  });
}

}  // namespace

std::int64_t ChannelBlock() {
  static const std::int64_t block = [] {
    switch (dnnl::get_effective_cpu_isa()) {
      case dnnl::cpu_isa::sse41:
      case dnnl::cpu_isa::avx:
      case dnnl::cpu_isa::avx2:
      case dnnl::cpu_isa::avx2_vnni:
        return kNarrowBlock;
      default:
        return kWideBlock;
    }
  }();
  return block;
}

bool CanBeBlocked(DataType type, const Shape& shape) {
  return type == DataType::kFloat32 && shape.size() == 4 && ElementsOf(shape) > 0;
}

bool CanHaveChannelsLast(DataType type, const Shape& shape) {
  if (type == DataType::kFloat32) return CanBeBlocked(type, shape) && ChannelBlock() == kWideBlock;
  const bool byte = type == DataType::kInt8 || type == DataType::kUint8;
  return byte && shape.size() >= 3 && shape.size() <= 5 && ElementsOf(shape) > 0;
}

void Reorder(const TensorSpec& spec, const std::byte* source, Layout wanted, std::byte* destination, int workers,
             int worker) {
  if (wanted == spec.layout) {
    const Share share = ShareOf(static_cast<std::int64_t>(spec.bytes()), workers, worker, 4096);
    if (share.size() > 0) std::memcpy(destination + share.begin, source + share.begin, share.size());
    return;
  }
  if (BytesOf(spec.type) == 1) {
    TurnOver(spec, source, wanted, destination, workers, worker);
    return;
  }
  const auto* from = reinterpret_cast<const float*>(source);
  auto* to = reinterpret_cast<float*>(destination);
  const bool wide = ChannelBlock() == kWideBlock;
  if (wanted != Layout::kBlocked && spec.layout != Layout::kBlocked) {
    TurnOver(spec, from, wanted, to, workers, worker);
  } else if (wanted == Layout::kPlain || spec.layout == Layout::kPlain) {
    (wide ? &ReorderBlocks<kWideBlock> : &ReorderBlocks<kNarrowBlock>)(spec, from, wanted, to, workers, worker);
  } else {
    (wide ? &ReorderRows<kWideBlock> : &ReorderRows<kNarrowBlock>)(spec, from, wanted, to, workers, worker);
  }
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/reorder.h"

#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>

#include "millrace/runtime/blocked_tensor.h"
#include "millrace/runtime/work_share.h"

namespace millrace {
namespace {

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

// Bytes of an image as a matrix of `rows` x `columns`, turned over: `columns` x `rows`.
void Transpose(const std::byte* from, std::int64_t rows, std::int64_t columns, Share own, std::byte* to) {
  constexpr std::int64_t kTile = 32;
  for (std::int64_t row = own.begin; row < own.end; row += kTile) {
    const std::int64_t last_row = std::min(row + kTile, own.end);
    for (std::int64_t column = 0; column < columns; column += kTile) {
      const std::int64_t last_column = std::min(column + kTile, columns);
      for (std::int64_t r = row; r < last_row; ++r) {
        for (std::int64_t c = column; c < last_column; ++c) to[c * rows + r] = from[r * columns + c];
      }
    }
  }
}

void ReorderBytes(const TensorSpec& spec, const std::byte* source, Layout wanted, std::byte* destination, int workers,
                  int worker) {
  const std::int64_t images = spec.shape[0], channels = spec.shape[1];
  const std::int64_t pixels = ElementsFrom(spec.shape, 2);
  const bool to_last = wanted == Layout::kChannelsLast;
  const std::int64_t rows = to_last ? channels : pixels, columns = to_last ? pixels : channels;
  ForOwnRows(images, rows, workers, worker, [&](std::int64_t image, Share own) {
    const std::int64_t at = image * rows * columns;
    Transpose(source + at, rows, columns, own, destination + at);
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
        return 8;
      default:
        return 16;
    }
  }();
  return block;
}

bool CanBeBlocked(DataType type, const Shape& shape) {
  return type == DataType::kFloat32 && shape.size() == 4 && ElementsOf(shape) > 0;
}

bool CanHaveChannelsLast(DataType type, const Shape& shape) {
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
    ReorderBytes(spec, source, wanted, destination, workers, worker);
    return;
  }
  const auto* from = reinterpret_cast<const float*>(source);
  auto* to = reinterpret_cast<float*>(destination);
  const auto reorder = ChannelBlock() == 16 ? &ReorderBlocks<16> : &ReorderBlocks<8>;
  reorder(spec, from, wanted, to, workers, worker);
}

}  // namespace millrace

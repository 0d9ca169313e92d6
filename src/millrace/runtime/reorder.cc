// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/reorder.h"

#include <cstring>

#include "millrace/runtime/work_share.h"

namespace millrace {
namespace {

constexpr std::int64_t kPixelsAtOnce = 64;  // a tile of 16 channels x 64 pixels stays in the first-level cache

// `channels` rows of `pixels` values, `stride` apart, to pixels of 16 channels.
void ToBlock(const float* plain, std::int64_t stride, std::int64_t channels, std::int64_t pixels, float* blocked) {
  if (channels == kBlock) {
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      for (std::int64_t channel = 0; channel < kBlock; ++channel)
        blocked[pixel * kBlock + channel] = plain[channel * stride + pixel];
    }
    return;
  }
  for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
    for (std::int64_t channel = 0; channel < channels; ++channel)
      blocked[pixel * kBlock + channel] = plain[channel * stride + pixel];
    for (std::int64_t channel = channels; channel < kBlock; ++channel) blocked[pixel * kBlock + channel] = 0;
  }
}

void FromBlock(const float* blocked, std::int64_t stride, std::int64_t channels, std::int64_t pixels, float* plain) {
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
      plain[channel * stride + pixel] = blocked[pixel * kBlock + channel];
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
  const std::int64_t pixels = ElementsOf(Shape(spec.shape.begin() + 2, spec.shape.end()));
  const bool to_last = wanted == Layout::kChannelsLast;
  const std::int64_t rows = to_last ? channels : pixels, columns = to_last ? pixels : channels;
  const Share share = ShareOf(images * rows, workers, worker, 1);
  for (std::int64_t at = share.begin; at < share.end;) {
    const std::int64_t image = at / rows;
    const Share own{at % rows, std::min(rows, share.end - image * rows)};
    Transpose(source + image * rows * columns, rows, columns, own, destination + image * rows * columns);
    at += own.size();
  }
}

}  // namespace

bool CanBeBlocked(DataType type, const Shape& shape) {
  return type == DataType::kFloat32 && shape.size() == 4 && ElementsOf(shape) > 0;
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
  const std::int64_t channels = spec.shape[1];
  const std::int64_t blocks = (channels + kBlock - 1) / kBlock;
  const std::int64_t pixels = spec.shape[2] * spec.shape[3];
  const std::int64_t tiles = (pixels + kPixelsAtOnce - 1) / kPixelsAtOnce;
  const Share share = ShareOf(spec.shape[0] * blocks * tiles, workers, worker);
  for (std::int64_t item = share.begin; item < share.end; ++item) {
    const std::int64_t first_pixel = item % tiles * kPixelsAtOnce;
    const std::int64_t block = item / tiles % blocks;
    const std::int64_t image = item / tiles / blocks;
    const std::int64_t some_pixels = std::min(kPixelsAtOnce, pixels - first_pixel);
    const std::int64_t some_channels = std::min(kBlock, channels - block * kBlock);
    const std::int64_t plain_at = (image * channels + block * kBlock) * pixels + first_pixel;
    const std::int64_t blocked_at = ((image * blocks + block) * pixels + first_pixel) * kBlock;
    if (wanted == Layout::kBlocked16) {
      ToBlock(from + plain_at, pixels, some_channels, some_pixels, to + blocked_at);
    } else {
      FromBlock(from + blocked_at, pixels, some_channels, some_pixels, to + plain_at);
    }
  }
}

}  // namespace millrace

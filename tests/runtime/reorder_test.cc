// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/reorder.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/runtime/kernel_harness.h"

namespace millrace {
namespace {

using testing::kLayouts;
using testing::MayLie;

// Where the element of an image at this channel and pixel lies, in elements, by the definitions of the layouts.
std::int64_t PlaceOf(const Shape& shape, Layout layout, std::int64_t image, std::int64_t channel, std::int64_t pixel) {
  const std::int64_t channels = shape[1], pixels = shape[2] * shape[3];
  if (layout == Layout::kPlain) return (image * channels + channel) * pixels + pixel;
  if (layout == Layout::kChannelsLast) return (image * pixels + pixel) * channels + channel;
  const std::int64_t block = ChannelBlock(), blocks = (channels + block - 1) / block;
  return ((image * blocks + channel / block) * pixels + pixel) * block + channel % block;
}

std::vector<std::byte> Reordered(const TensorSpec& spec, const std::vector<std::byte>& source, Layout wanted,
                                 int workers) {
  TensorSpec made = spec;
  made.layout = wanted;
  std::vector<std::byte> to(made.bytes(), std::byte{0xff});
  for (int worker = 0; worker < workers; ++worker) Reorder(spec, source.data(), wanted, to.data(), workers, worker);
  return to;
}

// Every element at its place, as it was, and zeros in the padding.
void ExpectLies(const TensorSpec& spec, const std::vector<std::byte>& bytes, const std::vector<std::byte>& plain) {
  const std::size_t size = BytesOf(spec.type);
  std::vector<std::byte> expected(bytes.size());
  for (std::int64_t image = 0; image < spec.shape[0]; ++image) {
    for (std::int64_t channel = 0; channel < spec.shape[1]; ++channel) {
      for (std::int64_t pixel = 0; pixel < spec.shape[2] * spec.shape[3]; ++pixel) {
        const auto from = static_cast<std::size_t>(PlaceOf(spec.shape, Layout::kPlain, image, channel, pixel));
        const auto to = static_cast<std::size_t>(PlaceOf(spec.shape, spec.layout, image, channel, pixel));
        std::memcpy(expected.data() + to * size, plain.data() + from * size, size);
      }
    }
  }
  EXPECT_EQ(bytes, expected);
}

TEST(Reorder, GoesFromEveryLayoutToEveryOtherWithAnyNumberOfWorkers) {
  Random random(7);
  for (const DataType type : {DataType::kFloat32, DataType::kUint8}) {
    for (const Shape& shape : {Shape{1, 3, 5, 7}, Shape{2, 16, 9, 9}, Shape{3, 33, 1, 1}, Shape{1, 64, 20, 13}}) {
      const TensorSpec plain{type, shape, Layout::kPlain};
      std::vector<std::byte> source(plain.bytes());
      for (std::byte& byte : source) byte = static_cast<std::byte>(random.Below(256));
      for (int workers = 1; workers <= 3; ++workers) {
        for (const Layout first : kLayouts) {
          if (!MayLie(type, shape, first)) continue;
          const TensorSpec middle{type, shape, first};
          const std::vector<std::byte> there = Reordered(plain, source, first, workers);
          ExpectLies(middle, there, source);
          for (const Layout second : kLayouts) {
            if (!MayLie(type, shape, second)) continue;
            ExpectLies({type, shape, second}, Reordered(middle, there, second, workers), source);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace millrace

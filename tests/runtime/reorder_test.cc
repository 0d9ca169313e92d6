// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/reorder.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/runtime/kernel_harness.h"

namespace millrace {
namespace {

TEST(Reorder, GoesToBlocksAndBackWithAnyNumberOfWorkers) {
  Random random(7);
  for (const Shape& shape : {Shape{1, 3, 5, 7}, Shape{2, 16, 9, 9}, Shape{3, 33, 1, 1}, Shape{1, 64, 20, 13}}) {
    for (int workers = 1; workers <= 3; ++workers) {
      const testing::TensorData tensor = testing::RandomTensor(random, shape);
      const TensorSpec plain{DataType::kFloat32, shape, Layout::kPlain};
      const TensorSpec blocked{DataType::kFloat32, shape, Layout::kBlocked};
      std::vector<std::byte> source(plain.bytes()), middle(blocked.bytes(), std::byte{0xff}), back(plain.bytes());
      tensor->CopyTo(source.data());
      for (int worker = 0; worker < workers; ++worker)
        Reorder(plain, source.data(), Layout::kBlocked, middle.data(), workers, worker);
      for (int worker = 0; worker < workers; ++worker)
        Reorder(blocked, middle.data(), Layout::kPlain, back.data(), workers, worker);
      EXPECT_EQ(source, back);
      const std::int64_t blocks = (shape[1] + ChannelBlock() - 1) / ChannelBlock();
      const std::int64_t pixels = shape[2] * shape[3];
      for (std::int64_t image = 0; image < shape[0]; ++image) {
        for (std::int64_t channel = 0; channel < blocks * ChannelBlock(); ++channel) {
          for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
            float value = 0;
            const std::int64_t at = ((image * blocks + channel / ChannelBlock()) * pixels + pixel) * ChannelBlock() +
                                    channel % ChannelBlock();
            std::memcpy(&value, middle.data() + at * 4, 4);
            float wanted = 0;
            if (channel < shape[1])
              std::memcpy(&wanted, source.data() + ((image * shape[1] + channel) * pixels + pixel) * 4, 4);
            ASSERT_EQ(value, wanted);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace millrace

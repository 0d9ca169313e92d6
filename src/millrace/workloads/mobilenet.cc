// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "millrace/workloads/convolution_unit.h"
#include "millrace/workloads/model_families.h"

// MobileNetV2 (Sandler, Howard, Zhu, Zhmoginov, Chen: "MobileNetV2: inverted residuals and linear bottlenecks", CVPR
// 2018). A block widens, filters each channel by itself, and narrows without an activation.
namespace millrace {
namespace {

struct BlockRow {
  std::int64_t expansion;
  std::int64_t channels;
  int blocks;
  std::int64_t stride;  // of the first of them
};

constexpr BlockRow kRows[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                              {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

}  // namespace

Model MakeMobilenetV2(const ModelOptions& options) {
  ModelBuilder builder("mobilenet_v2", 13, {options.seed, options.draw_weights});
  const ConvolutionUnit unit(builder, options);
  builder.BeginStage(0, "stem");
  int x = ImageInput(builder, options, 224);
  std::int64_t channels = unit.Scaled(32);
  x = unit.Apply(x, {.channels = channels, .kernel = {3, 3}, .stride = 2, .pad = {1, 1}}, Activation::kRelu6);
  int stage = 0;
  for (const BlockRow& row : kRows) {
    ++stage;
    const std::int64_t next = unit.Scaled(row.channels);
    for (int block = 0; block < row.blocks; ++block) {
      builder.BeginStage(stage, fmt::format("stage{}/block{}", stage, block + 1));
      const std::int64_t wide = channels * row.expansion;
      const std::int64_t stride = block == 0 ? row.stride : 1;
      int y = x;
      if (row.expansion > 1) y = unit.Apply(y, {.channels = wide}, Activation::kRelu6);
      y = unit.Apply(y, {.channels = wide, .kernel = {3, 3}, .stride = stride, .pad = {1, 1}, .groups = wide},
                     Activation::kRelu6);
      y = unit.Apply(y, {.channels = next, .gain = kLinearGain}, Activation::kNone);
      x = stride == 1 && channels == next ? builder.Add(x, y) : y;
      channels = next;
    }
  }
  builder.BeginStage(stage + 1, "classifier");
  // The last convolution keeps its channels in narrower networks, as published.
  const std::int64_t last = options.width.value_or(1.0) > 1 ? unit.Scaled(1280) : 1280;
  x = unit.Apply(x, {.channels = last}, Activation::kRelu6);
  x = builder.Flatten(builder.GlobalAveragePool(x));
  builder.Output(builder.Gemm(x, 1000, kLinearGain), "logits");
  return builder.Finish();
}

}  // namespace millrace

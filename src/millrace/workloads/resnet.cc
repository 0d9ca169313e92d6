// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <cmath>

#include "millrace/errors/errors.h"
#include "millrace/workloads/convolution_unit.h"
#include "millrace/workloads/model_families.h"

// ResNet with bottleneck blocks (He, Zhang, Ren, Sun: "Deep residual learning for image recognition", CVPR 2016). The
// stride lies in the 3 x 3 convolution, as in the variant known as v1.5.
namespace millrace {
namespace {

std::array<int, 4> BlocksOf(std::int64_t layers) {
  if (layers == 50) return {3, 4, 6, 3};
  if (layers == 101) return {3, 4, 23, 3};
  if (layers == 152) return {3, 8, 36, 3};
  throw InvalidInput(fmt::format("layers: resnet50 has 50, 101 or 152 layers, not {}", layers));
}

}  // namespace

Model MakeResnet50(const ModelOptions& options) {
  const std::int64_t layers = options.layers.value_or(50);
  const std::array<int, 4> blocks = BlocksOf(layers);
  const int all_blocks = blocks[0] + blocks[1] + blocks[2] + blocks[3];
  // Each block adds to the signal; this much from each lets it grow by a factor of e at most over all of them.
  const double branch_gain = std::sqrt(2.0 / all_blocks);

  ModelBuilder builder(fmt::format("resnet{}", layers), 13, {options.seed, options.draw_weights});
  const ConvolutionUnit unit(builder, options);
  builder.BeginStage(0, "stem");
  int x = ImageInput(builder, options, 224);
  x = unit.Apply(x, {.channels = unit.Scaled(64), .kernel = {7, 7}, .stride = 2, .pad = {3, 3}}, Activation::kRelu);
  x = builder.MaxPool(x, {.kernel = 3, .stride = 2, .pad = 1});
  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t narrow = unit.Scaled(64 << stage);
    const std::int64_t wide = 4 * narrow;
    for (int block = 0; block < blocks[static_cast<std::size_t>(stage)]; ++block) {
      builder.BeginStage(stage + 1, fmt::format("stage{}/block{}", stage + 1, block + 1));
      const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      int y = unit.Apply(x, {.channels = narrow}, Activation::kRelu);
      y = unit.Apply(y, {.channels = narrow, .kernel = {3, 3}, .stride = stride, .pad = {1, 1}}, Activation::kRelu);
      y = unit.Apply(y, {.channels = wide, .gain = branch_gain}, Activation::kNone);
      if (block == 0) {
        x = unit.Apply(x, {.channels = wide, .stride = stride, .gain = kLinearGain}, Activation::kNone);
      }
      x = builder.Relu(builder.Add(y, x));
    }
  }
  builder.BeginStage(5, "classifier");
  x = builder.Flatten(builder.GlobalAveragePool(x));
  builder.Output(builder.Gemm(x, 1000, kLinearGain), "logits");
  return builder.Finish();
}

}  // namespace millrace

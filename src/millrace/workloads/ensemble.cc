// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "millrace/workloads/convolution_unit.h"
#include "millrace/workloads/model_families.h"

// An ensemble of small convolutional networks on one image, whose answers are averaged: each is too small for several
// cores, all of them are not.
namespace millrace {

Model MakeEnsemble(const ModelOptions& options) {
  const std::int64_t members = options.towers.value_or(8);
  const std::int64_t layers = options.layers.value_or(3);
  constexpr std::int64_t kClasses = 100;
  ModelBuilder builder("ensemble", 13, {options.seed, options.draw_weights});
  const ConvolutionUnit unit(builder, options);
  const int image = ImageInput(builder, options, 64);
  int sum = -1;
  for (std::int64_t member = 1; member <= members; ++member) {
    int x = image;
    std::int64_t channels = 32;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      builder.BeginStage(static_cast<int>(layer), fmt::format("member{}/layer{}", member, layer + 1));
      const Convolution convolution{.channels = unit.Scaled(channels), .kernel = {3, 3}, .stride = 2, .pad = {1, 1}};
      x = unit.Apply(x, convolution, Activation::kRelu);
      if (channels < 128) channels *= 2;
    }
    builder.BeginStage(static_cast<int>(layers), fmt::format("member{}/classifier", member));
    const int logits = builder.Gemm(builder.Flatten(builder.GlobalAveragePool(x)), kClasses, kLinearGain);
    builder.BeginStage(static_cast<int>(layers) + 1, "mean");
    sum = sum < 0 ? logits : builder.Add(sum, logits);
  }
  builder.BeginStage(static_cast<int>(layers) + 1, "mean");
  const int share = builder.Scalar("share", 1 / static_cast<float>(members));
  builder.Output(builder.Elementwise("Mul", sum, share), "logits");
  return builder.Finish();
}

}  // namespace millrace

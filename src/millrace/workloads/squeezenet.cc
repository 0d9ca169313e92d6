// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "millrace/workloads/convolution_unit.h"
#include "millrace/workloads/model_families.h"

// SqueezeNet 1.1 (Iandola, Han, Moskewicz, Ashraf, Dally, Keutzer: "SqueezeNet: AlexNet-level accuracy with 50x fewer
// parameters and < 0.5 MB model size", 2016). Fire modules: one narrow convolution feeds two wide ones side by side.
namespace millrace {

Model MakeSqueezenet(const ModelOptions& options) {
  ModelBuilder builder("squeezenet", 13, {options.seed, options.draw_weights});
  const ConvolutionUnit unit(builder, options);
  const auto conv = [&](int x, std::int64_t channels, std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
    const Convolution convolution{
        .channels = channels, .kernel = {kernel, kernel}, .stride = stride, .pad = {pad, pad}};
    return unit.Apply(x, convolution, Activation::kRelu);
  };
  int stage = 0;
  const auto fire = [&](int x, std::int64_t narrow, std::int64_t wide) {
    ++stage;
    builder.BeginStage(stage, fmt::format("fire{}", stage + 1));
    const int squeezed = conv(x, unit.Scaled(narrow), 1, 1, 0);
    const int one = conv(squeezed, unit.Scaled(wide), 1, 1, 0);
    const int three = conv(squeezed, unit.Scaled(wide), 3, 1, 1);
    return builder.Concat({one, three}, 1);
  };

  builder.BeginStage(0, "stem");
  int x = ImageInput(builder, options, 224);
  x = conv(x, unit.Scaled(64), 3, 2, 0);
  x = builder.MaxPool(x, {.kernel = 3, .stride = 2});
  x = fire(x, 16, 64);
  x = fire(x, 16, 64);
  x = builder.MaxPool(x, {.kernel = 3, .stride = 2});
  x = fire(x, 32, 128);
  x = fire(x, 32, 128);
  x = builder.MaxPool(x, {.kernel = 3, .stride = 2});
  x = fire(x, 48, 192);
  x = fire(x, 48, 192);
  x = fire(x, 64, 256);
  x = fire(x, 64, 256);
  builder.BeginStage(stage + 1, "classifier");
  x = conv(x, 1000, 1, 1, 0);
  builder.Output(builder.Flatten(builder.GlobalAveragePool(x)), "logits");
  return builder.Finish();
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "millrace/workloads/convolution_unit.h"
#include "millrace/workloads/model_families.h"

// A one-stage detector: feature maps of three sizes, and on each a head for classes beside one for boxes, as RetinaNet
// has them (Lin, Goyal, Girshick, He, Dollar: "Focal loss for dense object detection", 2017), without its top-down
// path. The six heads are independent, the three maps one after the other.
namespace millrace {
namespace {

constexpr std::int64_t kAnchors = 3;
constexpr std::int64_t kDetectedClasses = 20;

}  // namespace

Model MakeDetector(const ModelOptions& options) {
  const std::int64_t layers = options.layers.value_or(2);
  const std::int64_t hidden = options.hidden.value_or(64);
  ModelBuilder builder("detector", 13, {options.seed, options.draw_weights});
  const ConvolutionUnit unit(builder, options);
  const auto conv = [&](int x, std::int64_t channels, std::int64_t stride) {
    const Convolution convolution{.channels = channels, .kernel = {3, 3}, .stride = stride, .pad = {1, 1}};
    return unit.Apply(x, convolution, Activation::kRelu);
  };
  builder.BeginStage(0, "backbone");
  int x = ImageInput(builder, options, 128);
  for (const std::int64_t share : {4, 2, 1}) x = conv(x, std::max<std::int64_t>(8, hidden / share), 2);
  std::vector<int> classes, boxes;
  for (int level = 3; level <= 5; ++level) {
    builder.BeginStage(level - 2, fmt::format("map{}", level));
    if (level > 3) x = conv(x, hidden, 2);
    for (const auto& [name, outputs, found] :
         {std::tuple("classes", kAnchors * kDetectedClasses, &classes), std::tuple("boxes", kAnchors * 4, &boxes)}) {
      builder.BeginStage(level - 2, fmt::format("map{}/{}", level, name));
      int head = x;
      for (std::int64_t layer = 0; layer < layers; ++layer) head = conv(head, hidden, 1);
      head = builder.Conv(head, {.channels = outputs, .kernel = {3, 3}, .pad = {1, 1}, .gain = kLinearGain});
      found->push_back(builder.Flatten(head));
    }
  }
  builder.BeginStage(4, "joined");
  builder.Output(builder.Elementwise("Sigmoid", builder.Concat(classes, 1)), "classes");
  builder.Output(builder.Concat(boxes, 1), "boxes");
  return builder.Finish();
}

}  // namespace millrace

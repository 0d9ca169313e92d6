// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "millrace/workloads/model_builder.h"
#include "millrace/workloads/model_families.h"

// Independent towers of small dense layers on one input, as recommendation models have them: too thin for several cores
// to share one layer, wide enough for each core to take towers of its own.
namespace millrace {

Model MakeTowers(const ModelOptions& options) {
  const std::int64_t batch = options.batch.value_or(16);
  const std::int64_t layers = options.layers.value_or(4);
  const std::int64_t hidden = options.hidden.value_or(256);
  const std::int64_t towers = options.towers.value_or(8);
  ModelBuilder builder("towers", 13, {options.seed, options.draw_weights});
  const int features = builder.Input("features", DataType::kFloat32, {batch, hidden});
  std::vector<int> tops;
  for (std::int64_t tower = 1; tower <= towers; ++tower) {
    int x = features;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      builder.BeginStage(static_cast<int>(layer), fmt::format("tower{}/layer{}", tower, layer + 1));
      x = builder.Relu(builder.Gemm(x, hidden, kReluGain));
    }
    tops.push_back(x);
  }
  builder.BeginStage(static_cast<int>(layers), "joined");
  builder.Output(builder.Concat(tops, 1), "joined");
  return builder.Finish();
}

}  // namespace millrace

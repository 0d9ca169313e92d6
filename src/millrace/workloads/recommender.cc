// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "millrace/workloads/model_builder.h"
#include "millrace/workloads/model_families.h"

// A recommendation model after Naumov et al.: "Deep learning recommendation model for personalization and
// recommendation systems", 2019: a dense part, and for each categorical feature an embedding with a small tower of
// dense layers; what they give is joined and goes through the top.
namespace millrace {

Model MakeRecommender(const ModelOptions& options) {
  const std::int64_t batch = options.batch.value_or(32);
  const std::int64_t layers = options.layers.value_or(3);
  const std::int64_t hidden = options.hidden.value_or(128);
  const std::int64_t features = options.towers.value_or(8);
  const std::int64_t vocabulary = options.vocabulary.value_or(1000);
  constexpr std::int64_t kDenseFeatures = 13;
  ModelBuilder builder("recommender", 13, {options.seed, options.draw_weights});
  const auto tower = [&](int x, const std::string& name) {
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      builder.BeginStage(static_cast<int>(layer) + 1, fmt::format("{}/layer{}", name, layer + 1));
      x = builder.Relu(builder.Gemm(x, hidden, kReluGain));
    }
    return x;
  };
  builder.BeginStage(0, "dense");
  std::vector<int> tops = {tower(builder.Input("dense", DataType::kFloat32, {batch, kDenseFeatures}), "dense")};
  for (std::int64_t feature = 1; feature <= features; ++feature) {
    const std::string name = fmt::format("feature{}", feature);
    builder.BeginStage(0, name);
    const int ids = builder.Input(name, DataType::kInt64, {batch});
    const int table = builder.Weight("embedding", {vocabulary, hidden}, 1, kLinearGain);
    tops.push_back(tower(builder.Gather(table, ids, 0), name));
  }
  const int end = static_cast<int>(layers) + 1;
  builder.BeginStage(end, "top");
  int x = builder.Concat(tops, 1);
  x = builder.Relu(builder.Gemm(x, hidden, kReluGain));
  builder.Output(builder.Elementwise("Sigmoid", builder.Gemm(x, 1, kLinearGain)), "click");
  return builder.Finish();
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "millrace/workloads/model_builder.h"
#include "millrace/workloads/model_families.h"

// Blocks of a mixture of experts (Jacobs, Jordan, Nowlan, Hinton: "Adaptive mixtures of local experts", 1991): every
// expert is asked, a gate weights what they say, and the block's input is added.
namespace millrace {

Model MakeMixtureOfExperts(const ModelOptions& options) {
  const std::int64_t batch = options.batch.value_or(16);
  const std::int64_t layers = options.layers.value_or(2);
  const std::int64_t hidden = options.hidden.value_or(192);
  const std::int64_t experts = options.towers.value_or(8);
  ModelBuilder builder("mixture_of_experts", 13, {options.seed, options.draw_weights});
  int x = builder.Input("tokens", DataType::kFloat32, {batch, hidden});
  for (std::int64_t layer = 1; layer <= layers; ++layer) {
    const int stage = static_cast<int>(layer) - 1;
    builder.BeginStage(stage, fmt::format("block{}/gate", layer));
    const int gate = builder.Softmax(builder.Gemm(x, experts, kLinearGain));
    int sum = x;
    for (std::int64_t expert = 0; expert < experts; ++expert) {
      builder.BeginStage(stage, fmt::format("block{}/expert{}", layer, expert + 1));
      int said = builder.Relu(builder.Gemm(x, 2 * hidden, kReluGain));
      said = builder.Gemm(said, hidden, kLinearGain);
      said = builder.Elementwise("Mul", said, builder.Slice(gate, 1, expert, expert + 1));
      sum = builder.Add(sum, said);
    }
    x = sum;
  }
  builder.Output(x, "mixed");
  return builder.Finish();
}

}  // namespace millrace

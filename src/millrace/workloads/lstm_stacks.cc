// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "millrace/workloads/model_builder.h"
#include "millrace/workloads/model_families.h"

// Several stacks of LSTM layers on one sequence, joined after the last step: a step of a small LSTM gives one core too
// little to share, but the stacks do not wait for each other.
namespace millrace {

Model MakeLstmStacks(const ModelOptions& options) {
  const std::int64_t batch = options.batch.value_or(1);
  const std::int64_t layers = options.layers.value_or(2);
  const std::int64_t hidden = options.hidden.value_or(128);
  const std::int64_t sequence = options.sequence.value_or(32);
  const std::int64_t stacks = options.towers.value_or(4);
  constexpr std::int64_t kClasses = 100;
  ModelBuilder builder("lstm_stacks", 13, {options.seed, options.draw_weights});
  const int input = builder.Input("sequence", DataType::kFloat32, {sequence, batch, hidden});
  std::vector<int> tops;
  for (std::int64_t stack = 1; stack <= stacks; ++stack) {
    int x = input;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      builder.BeginStage(static_cast<int>(layer), fmt::format("stack{}/layer{}", stack, layer + 1));
      const LstmWeights weights = builder.MakeLstmWeights(hidden, hidden);
      x = builder.Squeeze(builder.Lstm(x, weights, std::nullopt, false).sequence, 1);
    }
    tops.push_back(builder.Squeeze(builder.Slice(x, 0, sequence - 1, sequence), 0));
  }
  builder.BeginStage(static_cast<int>(layers), "joined");
  builder.Output(builder.Gemm(builder.Concat(tops, 1), kClasses, kReluGain), "logits");
  return builder.Finish();
}

}  // namespace millrace

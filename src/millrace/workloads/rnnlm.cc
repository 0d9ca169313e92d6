// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "millrace/workloads/lstm_cell.h"
#include "millrace/workloads/model_families.h"

// The recurrent language model of the GO paper (Zhou et al.: "Transferable graph optimizers for ML compilers", NeurIPS
// 2020), which gives no sizes. 35 steps and a vocabulary of 10,000 are the large model of Zaremba, Sutskever, Vinyals:
// "Recurrent neural network regularization", 2014; 2048 cells a layer those of LSTM-2048-512 in Jozefowicz et al.:
// "Exploring the limits of language modeling", 2016, without its projection; the batch of 64 is ours.
//
// Every step of every layer is its own ops, so layers of different steps can run at once. The state is handed in from
// the batch before; the output layer reads all steps at once. Embedding and output layer belong to the stage of the
// first and the last LSTM layer, as people place them.
namespace millrace {

Model MakeRnnlm(const ModelOptions& options) {
  const std::int64_t batch = options.batch.value_or(64);
  const std::int64_t layers = options.layers.value_or(2);
  const std::int64_t hidden = options.hidden.value_or(2048);
  const std::int64_t sequence = options.sequence.value_or(35);
  const std::int64_t vocabulary = options.vocabulary.value_or(10000);

  ModelBuilder builder("rnnlm", 13, {options.seed, options.draw_weights});
  builder.BeginStage(0, "embedding");
  const int ids = builder.Input("input_ids", DataType::kInt64, {sequence * batch});  // step by step
  const int table = builder.Weight("embedding", {vocabulary, hidden}, 1, kLinearGain);
  std::vector<int> steps = builder.Split(builder.Gather(table, ids, 0), 0, sequence);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string name = fmt::format("layer{}", layer + 1);
    builder.BeginStage(static_cast<int>(layer), name);
    const LstmCellWeights weights = MakeLstmCellWeights(builder, {hidden}, hidden);
    LstmCellState state = InputLstmState(builder, name, batch, hidden);
    for (int& step : steps) {
      state = LstmCell(builder, {step}, weights, state);
      step = state.hidden;
    }
  }
  builder.BeginStage(static_cast<int>(layers) - 1, "decoder");
  builder.Output(builder.Linear(builder.Concat(steps, 0), vocabulary, kReluGain), "logits");
  return builder.Finish();
}

}  // namespace millrace

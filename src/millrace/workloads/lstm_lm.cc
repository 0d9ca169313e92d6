// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "millrace/errors/errors.h"
#include "millrace/workloads/model_builder.h"
#include "millrace/workloads/model_families.h"

// A recurrent language model: embedding, LSTM layers, a linear layer onto the vocabulary. The usual sizes are those of
// the medium model of Zaremba, Sutskever, Vinyals: "Recurrent neural network regularization", 2014.
//
// With several chunks the sequence is cut into pieces and each layer is one LSTM node per piece, with shared weights,
// that hands its state to the next: layer 2 may read piece 1 while layer 1 reads piece 2.
namespace millrace {

Model MakeLstmLm(const ModelOptions& options) {
  const std::int64_t batch = options.batch.value_or(1);
  const std::int64_t layers = options.layers.value_or(2);
  const std::int64_t hidden = options.hidden.value_or(650);
  const std::int64_t sequence = options.sequence.value_or(35);
  const std::int64_t vocabulary = options.vocabulary.value_or(10000);
  const std::int64_t chunks = options.chunks.value_or(1);
  if (chunks > sequence) {
    throw InvalidInput(fmt::format("chunks: a sequence of {} steps has no {} chunks", sequence, chunks));
  }

  ModelBuilder builder("lstm_lm", 13, {options.seed, options.draw_weights});
  builder.BeginStage(0, "embedding");
  const int ids = builder.Input("input_ids", DataType::kInt64, {sequence, batch});
  const int embedded = builder.Gather(builder.Weight("embedding", {vocabulary, hidden}, 1, kLinearGain), ids, 0);
  std::vector<int> pieces;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::int64_t begin = chunk * sequence / chunks;
    const std::int64_t end = (chunk + 1) * sequence / chunks;
    pieces.push_back(chunks == 1 ? embedded : builder.Slice(embedded, 0, begin, end));
  }
  for (std::int64_t layer = 1; layer <= layers; ++layer) {
    builder.BeginStage(static_cast<int>(layer), fmt::format("layer{}", layer));
    const LstmWeights weights = builder.MakeLstmWeights(hidden, hidden);
    std::optional<LstmOutputs> before;
    for (std::size_t chunk = 0; chunk < pieces.size(); ++chunk) {
      const LstmOutputs outputs = builder.Lstm(pieces[chunk], weights, before, chunk + 1 < pieces.size());
      pieces[chunk] = builder.Squeeze(outputs.sequence, 1);
      before = outputs;
    }
  }
  builder.BeginStage(static_cast<int>(layers) + 1, "decoder");
  const int states = chunks == 1 ? pieces[0] : builder.Concat(pieces, 0);
  // An LSTM's outputs are small: a Relu's gain brings the logits back to about the size of the embedding.
  builder.Output(builder.Linear(states, vocabulary, kReluGain), "logits");
  return builder.Finish();
}

}  // namespace millrace

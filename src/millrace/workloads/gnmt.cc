// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>

#include "millrace/workloads/lstm_cell.h"
#include "millrace/workloads/model_families.h"

// Google's neural machine translation (Wu et al.: "Google's neural machine translation system: bridging the gap between
// human and machine translation", 2016), unrolled: as many decoder as encoder layers of 1024 cells, the first encoder
// layer in both directions, residual connections from the third layer on, attention by a feed-forward network of one
// hidden layer at every decoder step, read by every decoder layer; 32,000 word pieces and batches of 128. The lengths
// of source and target are ours, 80 each.
//
// Where the paper is silent: the decoder starts in the encoder's last states, and the encoder in states handed in.
// Decoder and encoder layers of one number share a stage; embeddings and attention are in the first, the output layer
// in the last, as people place them.
namespace millrace {
namespace {

class Gnmt {
 public:
  explicit Gnmt(const ModelOptions& options)
      : batch_(options.batch.value_or(128)),
        layers_(options.layers.value_or(8)),
        hidden_(options.hidden.value_or(1024)),
        sequence_(options.sequence.value_or(80)),
        vocabulary_(options.vocabulary.value_or(32000)),
        builder_("gnmt", 13, {options.seed, options.draw_weights}) {}

  Model Make() {
    Encode(Embed("source"));
    Decode(Embed("target"));
    return builder_.Finish();
  }

 private:
  // One batch x hidden for each step.
  std::vector<int> Embed(const std::string& name) {
    builder_.BeginStage(0, name);
    const int ids = builder_.Input(name + "_ids", DataType::kInt64, {sequence_ * batch_});  // step by step
    const int table = builder_.Weight("embedding", {vocabulary_, hidden_}, 1, kLinearGain);
    return builder_.Split(builder_.Gather(table, ids, 0), 0, sequence_);
  }

  // One layer over all steps, in place; returns its last state.
  LstmCellState Run(const std::string& name, std::vector<int>& steps, bool residual) {
    const LstmCellWeights weights = MakeLstmCellWeights(builder_, {builder_.ShapeOf(steps.front())[1]}, hidden_);
    LstmCellState state = InputLstmState(builder_, name, batch_, hidden_);
    for (int& step : steps) {
      state = LstmCell(builder_, {step}, weights, state);
      step = residual ? builder_.Add(state.hidden, step) : state.hidden;
    }
    return state;
  }

  void Encode(std::vector<int> steps) {
    for (std::int64_t layer = 0; layer < layers_; ++layer) {
      const std::string name = fmt::format("encoder{}", layer + 1);
      builder_.BeginStage(static_cast<int>(layer), name);
      if (layer > 0) {
        states_.push_back(Run(name, steps, layer >= 2));
        continue;
      }
      std::vector<int> backward(steps.rbegin(), steps.rend());
      states_.push_back(Run(name + "_forward", steps, false));
      Run(name + "_backward", backward, false);
      std::reverse(backward.begin(), backward.end());
      for (std::size_t t = 0; t < steps.size(); ++t) steps[t] = builder_.Concat({steps[t], backward[t]}, 1);
    }
    builder_.BeginStage(0, "attention");
    const std::int64_t width = builder_.ShapeOf(steps.front())[1];
    encoded_ = builder_.Reshape(builder_.Concat(steps, 1), {batch_, sequence_, width});
    keys_ = builder_.MatMul(encoded_, builder_.Weight("key", {width, hidden_}, width, kLinearGain));
    query_ = builder_.Weight("query", {hidden_, hidden_}, hidden_, kLinearGain);
    score_ = builder_.Weight("score", {hidden_, 1}, hidden_, kReluGain);
  }

  // What the encoder made, weighted for a decoder that is in this state: batch x features.
  int Attend(int hidden) {
    builder_.BeginStage(0, "attention");
    const int query = builder_.Reshape(builder_.MatMul(hidden, query_), {batch_, 1, hidden_});
    const int scores = builder_.MatMul(builder_.Elementwise("Tanh", builder_.Add(keys_, query)), score_);
    const int weights = builder_.Softmax(builder_.Reshape(scores, {batch_, 1, sequence_}));
    return builder_.Reshape(builder_.MatMul(weights, encoded_), {batch_, builder_.ShapeOf(encoded_)[2]});
  }

  void Decode(const std::vector<int>& steps) {
    const std::int64_t context_width = builder_.ShapeOf(encoded_)[2];
    std::vector<LstmCellWeights> weights;
    for (std::int64_t layer = 0; layer < layers_; ++layer) {
      BeginDecoder(layer);
      weights.push_back(MakeLstmCellWeights(builder_, {hidden_, context_width}, hidden_));
    }
    BeginOutput();
    const int projection = builder_.Weight("projection", {hidden_, vocabulary_}, hidden_, kReluGain);
    const int bias = builder_.UniformWeight("bias", {vocabulary_}, -0.1, 0.1);
    for (std::size_t t = 0; t < steps.size(); ++t) {
      const int context = Attend(states_[0].hidden);
      int x = steps[t];
      for (std::int64_t layer = 0; layer < layers_; ++layer) {
        BeginDecoder(layer);
        LstmCellState& state = states_[static_cast<std::size_t>(layer)];
        state = LstmCell(builder_, {x, context}, weights[static_cast<std::size_t>(layer)], state);
        x = layer >= 2 ? builder_.Add(state.hidden, x) : state.hidden;
      }
      BeginOutput();
      builder_.Output(builder_.Add(builder_.MatMul(x, projection), bias), fmt::format("logits_{}", t));
    }
  }

  void BeginDecoder(std::int64_t layer) {
    builder_.BeginStage(static_cast<int>(layer), fmt::format("decoder{}", layer + 1));
  }
  void BeginOutput() { builder_.BeginStage(static_cast<int>(layers_) - 1, "output"); }

  std::int64_t batch_, layers_, hidden_, sequence_, vocabulary_;
  ModelBuilder builder_;
  std::vector<LstmCellState> states_;  // by layer: the encoder's last, then the decoder's
  int encoded_ = -1;                   // batch x sequence x features
  int keys_ = -1;                      // batch x sequence x hidden
  int query_ = -1, score_ = -1;        // weights
};

}  // namespace

Model MakeGnmt(const ModelOptions& options) { return Gnmt(options).Make(); }

}  // namespace millrace

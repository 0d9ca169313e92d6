// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <cmath>

#include "millrace/errors/errors.h"
#include "millrace/workloads/model_builder.h"
#include "millrace/workloads/model_families.h"

// BERT (Devlin, Chang, Lee, Toutanova: "BERT: pre-training of deep bidirectional transformers for language
// understanding", NAACL 2019): embeddings, encoder layers and the pooler on the first token. There is no mask, and
// positions are an initializer of as many rows as the sequence has.
namespace millrace {
namespace {

constexpr std::int64_t kSegments = 2;

class Bert {
 public:
  explicit Bert(const ModelOptions& options)
      : batch_(options.batch.value_or(1)),
        layers_(options.layers.value_or(12)),
        hidden_(options.hidden.value_or(768)),
        heads_(options.heads.value_or(12)),
        sequence_(options.sequence.value_or(128)),
        vocabulary_(options.vocabulary.value_or(30522)),
        split_(options.split_layer_normalization),
        builder_("bert_base", split_ ? 13 : 17, {options.seed, options.draw_weights}) {
    if (hidden_ % heads_ != 0) {
      throw InvalidInput(fmt::format("hidden: {} does not split into {} heads", hidden_, heads_));
    }
  }

  Model Make() {
    builder_.BeginStage(0, "embeddings");
    int x = Embed();
    for (std::int64_t layer = 1; layer <= layers_; ++layer) {
      builder_.BeginStage(static_cast<int>(layer), fmt::format("layer{}", layer));
      x = Normalize(builder_.Add(Attend(x), x));
      x = Normalize(builder_.Add(FeedForward(x), x));
    }
    builder_.BeginStage(static_cast<int>(layers_) + 1, "pooler");
    const int first = builder_.Squeeze(builder_.Slice(x, 1, 0, 1), 1);
    const int pooled = builder_.Elementwise("Tanh", builder_.Gemm(first, hidden_, kLinearGain));
    builder_.Output(x, "last_hidden_state");
    builder_.Output(pooled, "pooler_output");
    return builder_.Finish();
  }

 private:
  int Normalize(int x) { return builder_.LayerNormalization(x, split_); }

  int Embed() {
    const int ids = builder_.Input("input_ids", DataType::kInt64, {batch_, sequence_});
    const int segments = builder_.Input("token_type_ids", DataType::kInt64, {batch_, sequence_});
    const int words = builder_.Weight("word_embeddings", {vocabulary_, hidden_}, 1, kLinearGain);
    const int kinds = builder_.Weight("token_type_embeddings", {kSegments, hidden_}, 1, kLinearGain);
    const int positions = builder_.Weight("position_embeddings", {sequence_, hidden_}, 1, kLinearGain);
    const int word = builder_.Gather(words, ids, 0);
    const int kind = builder_.Gather(kinds, segments, 0);
    return Normalize(builder_.Add(builder_.Add(word, kind), positions));
  }

  // batch x sequence x hidden -> batch x heads x sequence x features of a head, or its last two turned around.
  int SplitHeads(int x, const std::vector<std::int64_t>& permutation) {
    return builder_.Transpose(builder_.Reshape(x, {batch_, sequence_, heads_, hidden_ / heads_}), permutation);
  }

  int Attend(int x) {
    const int query = SplitHeads(builder_.Linear(x, hidden_, kLinearGain), {0, 2, 1, 3});
    const int key = SplitHeads(builder_.Linear(x, hidden_, kLinearGain), {0, 2, 3, 1});
    const int value = SplitHeads(builder_.Linear(x, hidden_, kLinearGain), {0, 2, 1, 3});
    const std::int64_t features = hidden_ / heads_;
    const int scale = builder_.Scalar("Div.scale", static_cast<float>(std::sqrt(static_cast<double>(features))));
    const int scores = builder_.Elementwise("Div", builder_.MatMul(query, key), scale);
    const int context = builder_.MatMul(builder_.Softmax(scores), value);
    const int joined = builder_.Reshape(builder_.Transpose(context, {0, 2, 1, 3}), {batch_, sequence_, hidden_});
    return builder_.Linear(joined, hidden_, kLinearGain);
  }

  int Gelu(int x) {
    const int root = builder_.Scalar("Div.root", static_cast<float>(std::sqrt(2.0)));
    const int error = builder_.Elementwise("Erf", builder_.Elementwise("Div", x, root));
    const int shifted = builder_.Add(error, builder_.Scalar("Add.one", 1));
    const int doubled = builder_.Elementwise("Mul", x, shifted);
    return builder_.Elementwise("Mul", doubled, builder_.Scalar("Mul.half", 0.5F));
  }

  int FeedForward(int x) {
    const int wide = Gelu(builder_.Linear(x, 4 * hidden_, kReluGain));
    return builder_.Linear(wide, hidden_, kLinearGain);
  }

  std::int64_t batch_, layers_, hidden_, heads_, sequence_, vocabulary_;
  bool split_;
  ModelBuilder builder_;
};

}  // namespace

Model MakeBertBase(const ModelOptions& options) { return Bert(options).Make(); }

}  // namespace millrace

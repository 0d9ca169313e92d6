// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <cmath>

#include "millrace/errors/errors.h"
#include "millrace/workloads/model_builder.h"
#include "millrace/workloads/model_families.h"

// Transformer-XL (Dai et al.: "Transformer-XL: attentive language models beyond a fixed-length context", ACL 2019),
// unrolled over segments: every layer attends to its segment and to what it read in the one before, which gradients do
// not pass, with relative positions. 1024 features, 8 heads, an inner layer of 3072 and 204 characters are the large
// model for enwik8 of the authors' code; segments of 128, eight of them (--chunks), and batches of 16 are ours.
//
// Positions (the sinusoids), the mask (0 where a token may look, very negative elsewhere) and the memory of the first
// segment are inputs. Embedding and output layer belong to the stage of the first and the last layer.
namespace millrace {
namespace {

constexpr std::int64_t kInnerFactor = 3;

struct LayerWeights {
  int query = -1, key = -1, value = -1, out = -1;  // features x features
  int content_bias = -1, position_bias = -1;       // heads x 1 x features of a head: u and v of the paper
  int wide = -1, wide_bias = -1, narrow = -1, narrow_bias = -1;
  int attention_scale = -1, attention_shift = -1, output_scale = -1, output_shift = -1;
  int positions = -1;  // heads x features of a head x 2 segment, projected once for all segments
  int memory = -1;     // batch x segment x features
};

class TransformerXl {
 public:
  explicit TransformerXl(const ModelOptions& options)
      : batch_(options.batch.value_or(16)),
        layers_(options.layers.value_or(8)),
        hidden_(options.hidden.value_or(1024)),
        heads_(options.heads.value_or(8)),
        segments_(options.chunks.value_or(8)),
        segment_(options.sequence.value_or(1024) / segments_),
        vocabulary_(options.vocabulary.value_or(204)),
        builder_("transformer_xl", 17, {options.seed, options.draw_weights}) {
    if (hidden_ % heads_ != 0) {
      throw InvalidInput(fmt::format("hidden: {} does not split into {} heads", hidden_, heads_));
    }
    if (options.sequence.value_or(1024) % segments_ != 0) {
      throw InvalidInput(fmt::format("chunks: a sequence of {} tokens does not split into {} equal segments",
                                     options.sequence.value_or(1024), segments_));
    }
  }

  Model Make() {
    builder_.BeginStage(0, "embedding");
    const int table = builder_.Weight("embedding", {vocabulary_, hidden_}, 1, kLinearGain);
    mask_ = builder_.Input("mask", DataType::kFloat32, {segment_, 2 * segment_});
    const int positions = builder_.Input("positions", DataType::kFloat32, {2 * segment_, hidden_});
    std::vector<LayerWeights> layers;
    for (std::int64_t layer = 0; layer < layers_; ++layer) layers.push_back(MakeLayer(layer, positions));
    BeginOutput();
    const int projection = builder_.Weight("projection", {hidden_, vocabulary_}, hidden_, kLinearGain);
    const int bias = builder_.UniformWeight("bias", {vocabulary_}, -0.1, 0.1);
    for (std::int64_t segment = 0; segment < segments_; ++segment) {
      builder_.BeginStage(0, "embedding");
      const int ids = builder_.Input(fmt::format("input_ids_{}", segment), DataType::kInt64, {batch_, segment_});
      int x = builder_.Gather(table, ids, 0);
      for (std::int64_t layer = 0; layer < layers_; ++layer) {
        BeginLayer(layer);
        LayerWeights& weights = layers[static_cast<std::size_t>(layer)];
        const int read = x;
        x = Layer(x, weights);
        if (segment + 1 < segments_) weights.memory = builder_.StopGradient(read);
      }
      BeginOutput();
      builder_.Output(builder_.Add(builder_.MatMul(x, projection), bias), fmt::format("logits_{}", segment));
    }
    return builder_.Finish();
  }

 private:
  void BeginLayer(std::int64_t layer) {
    builder_.BeginStage(static_cast<int>(layer), fmt::format("layer{}", layer + 1));
  }
  void BeginOutput() { builder_.BeginStage(static_cast<int>(layers_) - 1, "output"); }

  int Square(const std::string& role) { return builder_.Weight(role, {hidden_, hidden_}, hidden_, kLinearGain); }

  LayerWeights MakeLayer(std::int64_t layer, int positions) {
    BeginLayer(layer);
    const std::int64_t features = hidden_ / heads_;
    LayerWeights weights;
    weights.query = Square("query");
    weights.key = Square("key");
    weights.value = Square("value");
    weights.out = Square("out");
    weights.content_bias = builder_.UniformWeight("content_bias", {heads_, 1, features}, -0.1, 0.1);
    weights.position_bias = builder_.UniformWeight("position_bias", {heads_, 1, features}, -0.1, 0.1);
    const std::int64_t inner = kInnerFactor * hidden_;
    weights.wide = builder_.Weight("wide", {hidden_, inner}, hidden_, kReluGain);
    weights.wide_bias = builder_.UniformWeight("wide_bias", {inner}, -0.1, 0.1);
    weights.narrow = builder_.Weight("narrow", {inner, hidden_}, inner, kLinearGain);
    weights.narrow_bias = builder_.UniformWeight("narrow_bias", {hidden_}, -0.1, 0.1);
    weights.attention_scale = builder_.UniformWeight("attention_scale", {hidden_}, 0.8, 1.2);
    weights.attention_shift = builder_.UniformWeight("attention_shift", {hidden_}, -0.1, 0.1);
    weights.output_scale = builder_.UniformWeight("output_scale", {hidden_}, 0.8, 1.2);
    weights.output_shift = builder_.UniformWeight("output_shift", {hidden_}, -0.1, 0.1);
    const int projected = builder_.MatMul(positions, Square("position"));
    weights.positions = builder_.Transpose(builder_.Reshape(projected, {2 * segment_, heads_, features}), {1, 2, 0});
    weights.memory =
        builder_.Input(fmt::format("memory_{}", layer + 1), DataType::kFloat32, {batch_, segment_, hidden_});
    return weights;
  }

  // batch x tokens x features -> batch x heads x tokens x features of a head, or its last two turned around.
  int SplitHeads(int x, const std::vector<std::int64_t>& permutation) {
    const std::int64_t tokens = builder_.ShapeOf(x)[1];
    return builder_.Transpose(builder_.Reshape(x, {batch_, tokens, heads_, hidden_ / heads_}), permutation);
  }

  // Row i of scores by distance moves so that they stand at the tokens they are about (the paper's appendix B).
  int Shift(int scores) {
    const std::int64_t tokens = 2 * segment_;
    const int padded = builder_.Reshape(builder_.Pad(scores, 3, 1, 0), {batch_, heads_, tokens + 1, segment_});
    return builder_.Reshape(builder_.Slice(padded, 2, 1, tokens + 1), {batch_, heads_, segment_, tokens});
  }

  int Attend(int x, const LayerWeights& weights) {
    const int seen = builder_.Concat({weights.memory, x}, 1);
    const int query = SplitHeads(builder_.MatMul(x, weights.query), {0, 2, 1, 3});
    const int key = SplitHeads(builder_.MatMul(seen, weights.key), {0, 2, 3, 1});
    const int value = SplitHeads(builder_.MatMul(seen, weights.value), {0, 2, 1, 3});
    const int content = builder_.MatMul(builder_.Add(query, weights.content_bias), key);
    const int place = Shift(builder_.MatMul(builder_.Add(query, weights.position_bias), weights.positions));
    const std::int64_t features = hidden_ / heads_;
    const double scale = 1 / std::sqrt(static_cast<double>(features));
    const int factor = builder_.Scalar("Mul.scale", static_cast<float>(scale));
    const int scaled = builder_.Elementwise("Mul", builder_.Add(content, place), factor);
    const int context = builder_.MatMul(builder_.Softmax(builder_.Add(scaled, mask_)), value);
    const int joined = builder_.Reshape(builder_.Transpose(context, {0, 2, 1, 3}), {batch_, segment_, hidden_});
    return builder_.MatMul(joined, weights.out);
  }

  int Layer(int x, const LayerWeights& weights) {
    const int attended = builder_.LayerNormalization(builder_.Add(Attend(x, weights), x), weights.attention_scale,
                                                     weights.attention_shift);
    const int wide = builder_.Relu(builder_.Add(builder_.MatMul(attended, weights.wide), weights.wide_bias));
    const int narrow = builder_.Add(builder_.MatMul(wide, weights.narrow), weights.narrow_bias);
    return builder_.LayerNormalization(builder_.Add(narrow, attended), weights.output_scale, weights.output_shift);
  }

  std::int64_t batch_, layers_, hidden_, heads_, segments_, segment_, vocabulary_;
  ModelBuilder builder_;
  int mask_ = -1;
};

}  // namespace

Model MakeTransformerXl(const ModelOptions& options) { return TransformerXl(options).Make(); }

}  // namespace millrace

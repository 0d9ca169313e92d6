// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/encoder.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "millrace/errors/interrupt.h"
#include "millrace/go/network.h"
#include "millrace/network/row_operations.h"
#include "millrace/vector/vector_loops.h"

namespace millrace {
namespace {

using Bias = LinearLayer::Bias;
using Then = LinearLayer::Then;

constexpr std::size_t kMixInputs = kWidth + 2 * kMessage;  // h, then the maximum of either direction
constexpr std::size_t kEncodedRowsAtOnce = 1008;           // rows of one task of the loop; whole tiles of LinearLayer
constexpr std::size_t kRowsInCache = 48;

// The neighbours in one direction and their messages, without the part that the edge adds.
struct Neighbours {
  const std::int32_t* offsets;
  const std::int32_t* rows;
  const float* edges;
  const float* messages;  // by row x kMessage
  const float* edge;      // what an edge of feature 1 adds
};

// Writes the maximum of the messages to each of `rows` rows from `first` on, to `out`, kMixInputs apart. Messages pass
// a relu, so a maximum that starts at 0 is right, for rows without neighbours, too.
template <std::size_t Width>
MILLRACE_INLINE void Pool(const Neighbours& from, std::size_t first, std::size_t rows, float* out) {
  constexpr std::size_t kParts = kMessage / Width;
  const Vector<Width> zero = {};
  for (std::size_t row = 0; row < rows; ++row, out += kMixInputs) {
    Vector<Width> most[kParts];
    for (std::size_t part = 0; part < kParts; ++part) most[part] = zero;
    const auto begin = static_cast<std::size_t>(from.offsets[first + row]);
    const auto end = static_cast<std::size_t>(from.offsets[first + row + 1]);
    for (std::size_t e = begin; e < end; ++e) {
      const float* message = from.messages + static_cast<std::size_t>(from.rows[e]) * kMessage;
      for (std::size_t part = 0; part < kParts; ++part) {
        const Vector<Width> sum =
            VectorAt<Width>(message + part * Width) + from.edges[e] * VectorAt<Width>(from.edge + part * Width);
        most[part] = sum > most[part] ? sum : most[part];
      }
    }
    for (std::size_t part = 0; part < kParts; ++part) VectorAt<Width>(out + part * Width) = most[part];
  }
}

// Runs work(first row, number of rows) over all rows.
template <typename Work>
void ForRows(std::size_t rows, const ParallelLoop& loop, Work work) {
  loop(static_cast<int>((rows + kEncodedRowsAtOnce - 1) / kEncodedRowsAtOnce), [&](int task) {
    StopIfInterrupted();
    const std::size_t first = static_cast<std::size_t>(task) * kEncodedRowsAtOnce;
    work(first, std::min(kEncodedRowsAtOnce, rows - first));
  });
}

LaneArray TakeVector(const Weights& weights, const std::string& name, const std::vector<std::int64_t>& shape) {
  const WeightTensor& tensor = weights.Get(name, shape);
  LaneArray vector(tensor.values.size());
  std::copy(tensor.values.begin(), tensor.values.end(), vector.data());
  return vector;
}

}  // namespace

GoEncoder::Direction GoEncoder::TakeDirection(const Weights& weights, const std::string& name) {
  return {LinearLayer(weights, name, kWidth, kMessage, Bias::kOwn),
          TakeVector(weights, name + ".edge.weight", {kMessage, 1})};
}

GoEncoder::GoEncoder(const Weights& weights)
    : input_(weights, "input", kGoOpFeatures, kWidth, Bias::kOwn),
      condition_first_(weights, "condition.0", 2 * kWidth + kGoGlobalFeatures, kCondition, Bias::kOwn),
      condition_second_(weights, "condition.1", kCondition, kCondition, Bias::kOwn),
      norm_weight_(TakeVector(weights, "norm.weight", {kWidth})),
      norm_bias_(TakeVector(weights, "norm.bias", {kWidth})) {
  for (int l = 0; l < kSageLayers; ++l) {
    const std::string name = "sage." + std::to_string(l);
    rounds_.push_back({TakeDirection(weights, name + ".forward"), TakeDirection(weights, name + ".backward"),
                       LinearLayer(weights, name + ".mix", kWidth + 2 * kMessage, kWidth, Bias::kOwn)});
  }
  layers_.reserve(kSegmentLayers);
  for (int l = 0; l < kSegmentLayers; ++l) layers_.emplace_back(weights, "layer." + std::to_string(l));
}

void GoEncoder::Pass(const Round& round, const GoFeatures& graph, const ParallelLoop& loop, LaneArray& states) const {
  static const auto pool = BestBodyOf<&Pool<kLanesOfBaseline>, &Pool<kLanesOfAvx2>, &Pool<kLanesOfAvx512>>();
  const auto rows = static_cast<std::size_t>(graph.num_rows);
  LaneArray forward(rows * kMessage), backward(rows * kMessage);
  ForRows(rows, loop, [&](std::size_t first, std::size_t count) {
    const float* const own = states.data() + first * kWidth;
    round.forward.message.Apply(own, count, Then::kNothing, forward.data() + first * kMessage);
    round.backward.message.Apply(own, count, Then::kNothing, backward.data() + first * kMessage);
  });
  const Neighbours predecessors{graph.predecessor_offsets.data(), graph.predecessors.data(),
                                graph.predecessor_features.data(), forward.data(), round.forward.edge.data()};
  const Neighbours successors{graph.successor_offsets.data(), graph.successors.data(), graph.successor_features.data(),
                              backward.data(), round.backward.edge.data()};
  ForRows(rows, loop, [&](std::size_t begin, std::size_t count) {
    LaneArray mixed(kRowsInCache * kMixInputs), change(kRowsInCache * kWidth);
    for (std::size_t first = begin; first < begin + count; first += kRowsInCache) {
      const std::size_t here = std::min(kRowsInCache, begin + count - first);
      float* const own = states.data() + first * kWidth;
      for (std::size_t row = 0; row < here; ++row)
        std::copy_n(own + row * kWidth, kWidth, mixed.data() + row * kMixInputs);
      pool(predecessors, first, here, mixed.data() + kWidth);
      pool(successors, first, here, mixed.data() + kWidth + kMessage);
      round.mix.Apply(mixed.data(), here, Then::kRelu, change.data());
      for (std::size_t at = 0; at < here * kWidth; ++at) own[at] += change.data()[at];
    }
  });
}

LaneArray GoEncoder::Condition(const GoFeatures& graph, const LaneArray& states) const {
  const auto rows = static_cast<std::size_t>(graph.num_rows);
  LaneArray pooled(2 * kWidth + kGoGlobalFeatures), between(kCondition), condition(kCondition);
  // The sum is in doubles: in floats, over 80,000 rows, it would differ from training's by too much.
  std::vector<double> sums(kWidth, 0.0);
  float* const most = pooled.data() + kWidth;
  std::copy_n(states.data(), kWidth, most);
  for (std::size_t row = 0; row < rows; ++row) {
    const float* const own = states.data() + row * kWidth;
    for (std::size_t i = 0; i < kWidth; ++i) {
      sums[i] += own[i];
      most[i] = std::max(most[i], own[i]);
    }
  }
  for (std::size_t i = 0; i < kWidth; ++i) pooled.data()[i] = static_cast<float>(sums[i] / static_cast<double>(rows));
  std::copy(graph.global.begin(), graph.global.end(), most + kWidth);
  condition_first_.Apply(pooled.data(), 1, Then::kRelu, between.data());
  condition_second_.Apply(between.data(), 1, Then::kRelu, condition.data());
  return condition;
}

GoEmbedding GoEncoder::Encode(const GoFeatures& graph, const ParallelLoop& loop) const {
  const auto rows = static_cast<std::size_t>(graph.num_rows);
  LaneArray states(rows * kWidth);
  ForRows(rows, loop, [&](std::size_t first, std::size_t count) {
    input_.Apply(graph.ops.data() + first * kGoOpFeatures, count, Then::kRelu, states.data() + first * kWidth);
  });
  for (const Round& round : rounds_) Pass(round, graph, loop, states);
  LaneArray condition = Condition(graph, states);
  SegmentWorkspace workspace(rows);
  for (const SegmentLayer& layer : layers_) layer.Apply(condition, rows, workspace, loop, states);
  GoEmbedding embedding{LaneArray(rows * kWidth), std::move(condition)};
  Normalise(norm_weight_, norm_bias_, kWidth, rows, states.data(), embedding.states.data());
  return embedding;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/message_passing_encoder.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "millrace/errors/interrupt.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/network/row_operations.h"
#include "millrace/vector/vector_loops.h"

namespace millrace {
namespace {

using Bias = LinearLayer::Bias;
using Then = LinearLayer::Then;

constexpr std::size_t kMixInputs = kWidth + 4 * kMessage;  // h, then mean and maximum of either direction
constexpr std::size_t kRowsAtOnce = 48;                    // whole tiles of LinearLayer, few enough to stay in cache

// The neighbours in one direction and their messages, without the part that the edge adds.
struct Neighbours {
  const std::int32_t* offsets;
  const std::int32_t* groups;
  const float* edges;
  const float* messages;  // by group x kMessage
  const float* edge;      // what an edge of feature 1 adds
};

// Writes mean and maximum of the messages to each of `rows` groups from `first` on, to `out`, kMixInputs apart.
template <int Width>
MILLRACE_INLINE void Gather(const Neighbours& from, std::size_t first, std::size_t rows, float* out) {
  constexpr std::size_t kParts = kMessage / Width;
  const Vector<Width> zero = {};
  for (std::size_t row = 0; row < rows; ++row, out += kMixInputs) {
    Vector<Width> sums[kParts], most[kParts];
    for (std::size_t part = 0; part < kParts; ++part) sums[part] = most[part] = zero;
    const auto begin = static_cast<std::size_t>(from.offsets[first + row]);
    const auto end = static_cast<std::size_t>(from.offsets[first + row + 1]);
    for (std::size_t e = begin; e < end; ++e) {
      const float* message = from.messages + static_cast<std::size_t>(from.groups[e]) * kMessage;
      for (std::size_t part = 0; part < kParts; ++part) {
        const Vector<Width> sum =
            VectorAt<Width>(message + part * Width) + from.edges[e] * VectorAt<Width>(from.edge + part * Width);
        const Vector<Width> positive = sum > zero ? sum : zero;
        sums[part] += positive;
        most[part] = positive > most[part] ? positive : most[part];
      }
    }
    const float share = end > begin ? 1.0f / static_cast<float>(end - begin) : 0.0f;
    for (std::size_t part = 0; part < kParts; ++part) {
      VectorAt<Width>(out + part * Width) = share * sums[part];
      VectorAt<Width>(out + kMessage + part * Width) = most[part];
    }
  }
}

LaneArray ApplyToOne(const LinearLayer& layer, const LaneArray& input) {
  LaneArray output(static_cast<std::size_t>(layer.outputs()));
  layer.Apply(input.data(), 1, Then::kNothing, output.data());
  return output;
}

}  // namespace

MessagePassingEncoder::Direction MessagePassingEncoder::TakeDirection(const Weights& weights, const std::string& name) {
  Direction direction{LinearLayer(weights, name, kWidth, kMessage, Bias::kOwn), LaneArray(kMessage)};
  const WeightTensor& edge = weights.Get(name + ".edge.weight", {kMessage, 1});
  std::copy(edge.values.begin(), edge.values.end(), direction.edge.data());
  return direction;
}

MessagePassingEncoder::MessagePassingEncoder(const Weights& weights)
    : input_(weights, "input", kNodeFeatures, kWidth, Bias::kOwn) {
  for (int r = 0; r < kRounds; ++r) {
    const std::string name = "round." + std::to_string(r);
    rounds_.push_back({TakeDirection(weights, name + ".forward"), TakeDirection(weights, name + ".backward"),
                       LinearLayer(weights, name + ".mix", kWidth + 4 * kMessage, kWidth, Bias::kOwn),
                       LinearLayer(weights, name + ".scale", kCondition, kWidth, Bias::kNone),
                       LinearLayer(weights, name + ".shift", kCondition, kWidth, Bias::kNone),
                       LinearLayer(weights, name + ".out", kWidth, kWidth, Bias::kOwn)});
  }
}

void MessagePassingEncoder::Pass(const Round& round, const GraphFeatures& graph, const LaneArray& condition,
                                 Messages& messages, LaneArray& embeddings) const {
  static const auto gather = BestBodyOf<&Gather<kLanesOfBaseline>, &Gather<kLanesOfAvx2>, &Gather<kLanesOfAvx512>>();
  const auto groups = static_cast<std::size_t>(graph.num_groups);
  round.forward.message.Apply(embeddings.data(), groups, Then::kNothing, messages.forward.data());
  round.backward.message.Apply(embeddings.data(), groups, Then::kNothing, messages.backward.data());
  const Neighbours predecessors{graph.predecessor_offsets.data(), graph.predecessors.data(),
                                graph.predecessor_features.data(), messages.forward.data(), round.forward.edge.data()};
  const Neighbours successors{graph.successor_offsets.data(), graph.successors.data(), graph.successor_features.data(),
                              messages.backward.data(), round.backward.edge.data()};
  const LaneArray scale = ApplyToOne(round.scale, condition);
  const LaneArray shift = ApplyToOne(round.shift, condition);

  LaneArray mixed(kRowsAtOnce * kMixInputs), z(kRowsAtOnce * kWidth), change(kRowsAtOnce * kWidth);
  for (std::size_t first = 0; first < groups; first += kRowsAtOnce) {
    StopIfInterrupted();
    const std::size_t rows = std::min(kRowsAtOnce, groups - first);
    float* own = embeddings.data() + first * kWidth;
    for (std::size_t row = 0; row < rows; ++row)
      std::copy_n(own + row * kWidth, kWidth, mixed.data() + row * kMixInputs);
    gather(predecessors, first, rows, mixed.data() + kWidth);
    gather(successors, first, rows, mixed.data() + kWidth + std::size_t{2} * kMessage);
    round.mix.Apply(mixed.data(), rows, Then::kNothing, z.data());
    Modulate(scale, shift, kWidth, rows, z.data());
    round.out.Apply(z.data(), rows, Then::kNothing, change.data());
    for (std::size_t at = 0; at < rows * kWidth; ++at) own[at] += change.data()[at];
  }
}

LaneArray MessagePassingEncoder::Encode(const GraphFeatures& graph, const LaneArray& condition) const {
  const auto groups = static_cast<std::size_t>(graph.num_groups);
  LaneArray embeddings(groups * kWidth);
  input_.Apply(graph.nodes.data(), groups, Then::kRelu, embeddings.data());
  Messages messages{LaneArray(groups * kMessage), LaneArray(groups * kMessage)};
  for (const Round& round : rounds_) Pass(round, graph, condition, messages, embeddings);
  return embeddings;
}

}  // namespace millrace

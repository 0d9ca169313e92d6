// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/topoformer_encoder.h"

#include <algorithm>
#include <numeric>

#include "millrace/errors/interrupt.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/policy/relation_attention.h"
#include "millrace/gflownet/policy/topoformer.h"
#include "millrace/network/row_operations.h"

namespace millrace {
namespace {

using Bias = LinearLayer::Bias;
using Then = LinearLayer::Then;

LaneArray TakeVector(const Weights& weights, const std::string& name, int count) {
  const WeightTensor& tensor = weights.Get(name, {count});
  LaneArray vector(static_cast<std::size_t>(count));
  std::copy(tensor.values.begin(), tensor.values.end(), vector.data());
  return vector;
}

void AddTo(LaneArray& rows, const LaneArray& change, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) rows.data()[i] += change.data()[i];
}

}  // namespace

AttentionPairs::AttentionPairs(const GraphFeatures& graph, const std::vector<Relation>& relations)
    : graph_(graph), relations_(relations) {
  SetLinks({});
}

void AttentionPairs::SetLinks(const std::vector<StateFeatures::Link>& links) {
  const auto groups = static_cast<std::size_t>(graph_.num_groups);
  chain_offsets_.assign(groups + 1, 0);
  for (const StateFeatures::Link& link : links) {
    ++chain_offsets_[static_cast<std::size_t>(link.before) + 1];
    ++chain_offsets_[static_cast<std::size_t>(link.behind) + 1];
  }
  std::partial_sum(chain_offsets_.begin(), chain_offsets_.end(), chain_offsets_.begin());
  chain_pairs_.resize(2 * links.size());
  // Filling moves the offset of each group to that of the next one; afterwards they are moved back.
  const auto put = [this](std::int32_t group, std::int32_t other, int relation) {
    chain_pairs_[static_cast<std::size_t>(chain_offsets_[static_cast<std::size_t>(group)]++)] = {
        other, static_cast<std::uint8_t>(relation)};
  };
  for (const StateFeatures::Link& link : links) {
    put(link.behind, link.before, kRelations);
    put(link.before, link.behind, kRelations + 1);
  }
  std::copy_backward(chain_offsets_.begin(), chain_offsets_.end() - 1, chain_offsets_.end());
  chain_offsets_.front() = 0;
}

void AttentionPairs::AddEdges(std::size_t group, const std::vector<std::int32_t>& offsets,
                              const std::vector<std::int32_t>& ends, const std::vector<float>& features,
                              const std::vector<float>& edge_weights, Row& row) const {
  for (auto e = static_cast<std::size_t>(offsets[group]); e < static_cast<std::size_t>(offsets[group + 1]); ++e) {
    const auto other = static_cast<std::size_t>(ends[e]);
    row.scores[other] = edge_weights[row.relations[other]] * features[e];
  }
}

void AttentionPairs::Fill(int group, const std::vector<float>& edge_weights, Row& row) const {
  const auto groups = static_cast<std::size_t>(graph_.num_groups);
  const auto g = static_cast<std::size_t>(group);
  const auto begin = static_cast<std::size_t>(chain_offsets_[g]);
  const auto end = static_cast<std::size_t>(chain_offsets_[g + 1]);
  row.others.resize(groups + end - begin);
  row.relations.resize(groups + end - begin);
  row.scores.assign(groups + end - begin, 0.0f);
  std::iota(row.others.begin(), row.others.begin() + graph_.num_groups, 0);
  std::transform(relations_.begin() + static_cast<std::ptrdiff_t>(g * groups),
                 relations_.begin() + static_cast<std::ptrdiff_t>((g + 1) * groups), row.relations.begin(),
                 [](Relation relation) { return static_cast<std::uint8_t>(relation); });
  for (std::size_t i = begin; i < end; ++i) {
    row.others[groups + i - begin] = chain_pairs_[i].other;
    row.relations[groups + i - begin] = chain_pairs_[i].relation;
  }
  AddEdges(g, graph_.predecessor_offsets, graph_.predecessors, graph_.predecessor_features, edge_weights, row);
  AddEdges(g, graph_.successor_offsets, graph_.successors, graph_.successor_features, edge_weights, row);
}

TopoformerEncoder::Norm::Norm(const Weights& weights, const std::string& name)
    : weight(TakeVector(weights, name + ".weight", kWidth)), bias(TakeVector(weights, name + ".bias", kWidth)) {}

TopoformerEncoder::Layer::Layer(const Weights& weights, const std::string& name, int heads)
    : norm_before_attention(weights, name + ".norm.0"),
      norm_before_feed(weights, name + ".norm.1"),
      query(weights, name + ".query", kWidth, heads * kAttention, Bias::kNone),
      key(weights, name + ".key", kWidth, heads * kAttention, Bias::kNone),
      value(weights, name + ".value", kWidth, heads * kAttention, Bias::kNone),
      join(weights, name + ".join", heads * kAttention, kWidth, Bias::kOwn),
      first(weights, name + ".first", kWidth, kFeedForward, Bias::kOwn),
      scale(weights, name + ".scale", kCondition, kFeedForward, Bias::kNone),
      shift(weights, name + ".shift", kCondition, kFeedForward, Bias::kNone),
      out(weights, name + ".out", kFeedForward, kWidth, Bias::kOwn),
      edge(weights.Get(name + ".edge.weight", {kDirectRelations}).values) {}

TopoformerEncoder::TopoformerEncoder(const Weights& weights, int relations)
    : relations_(relations), norm_(weights, "norm") {
  for (int l = 0; l < kTopoformerLayers; ++l) layers_.emplace_back(weights, "layer." + std::to_string(l), relations);
}

TopoformerEncoder::Workspace::Workspace(const TopoformerEncoder& encoder, int groups) {
  const auto rows = static_cast<std::size_t>(groups);
  const std::size_t heads = rows * static_cast<std::size_t>(encoder.relations_) * kAttention;
  normed = change = LaneArray(rows * kWidth);
  query = key = value = attended = LaneArray(heads);
  between = LaneArray(rows * kFeedForward);
}

void TopoformerEncoder::Attend(const Layer& layer, const AttentionPairs& pairs, Workspace& workspace) const {
  AttentionPairs::Row& row = workspace.row;
  for (int group = 0; group < pairs.num_groups(); ++group) {
    StopIfInterrupted();
    pairs.Fill(group, layer.edge, row);
    const std::size_t own = static_cast<std::size_t>(group) * static_cast<std::size_t>(relations_) * kAttention;
    millrace::Attend({relations_, workspace.query.data() + own, workspace.key.data(), workspace.value.data(),
                      row.others.data(), row.relations.data(), row.others.size(), row.scores.data(),
                      workspace.attended.data() + own});
  }
}

void TopoformerEncoder::Encode(const AttentionPairs& pairs, const LaneArray& condition, Workspace& workspace,
                               LaneArray& rows) const {
  const auto groups = static_cast<std::size_t>(pairs.num_groups());
  LaneArray scale(kFeedForward), shift(kFeedForward);
  Workspace& w = workspace;
  for (const Layer& layer : layers_) {
    const Norm& before = layer.norm_before_attention;
    Normalise(before.weight, before.bias, kWidth, groups, rows.data(), w.normed.data());
    layer.query.Apply(w.normed.data(), groups, Then::kNothing, w.query.data());
    layer.key.Apply(w.normed.data(), groups, Then::kNothing, w.key.data());
    layer.value.Apply(w.normed.data(), groups, Then::kNothing, w.value.data());
    Attend(layer, pairs, w);
    layer.join.Apply(w.attended.data(), groups, Then::kNothing, w.change.data());
    AddTo(rows, w.change, groups * kWidth);

    const Norm& feed = layer.norm_before_feed;
    Normalise(feed.weight, feed.bias, kWidth, groups, rows.data(), w.normed.data());
    layer.first.Apply(w.normed.data(), groups, Then::kNothing, w.between.data());
    layer.scale.Apply(condition.data(), 1, Then::kNothing, scale.data());
    layer.shift.Apply(condition.data(), 1, Then::kNothing, shift.data());
    Modulate(scale, shift, kFeedForward, groups, w.between.data());
    layer.out.Apply(w.between.data(), groups, Then::kNothing, w.change.data());
    AddTo(rows, w.change, groups * kWidth);
  }
  Normalise(norm_.weight, norm_.bias, kWidth, groups, rows.data(), w.normed.data());
  std::swap(rows, w.normed);
}

}  // namespace millrace

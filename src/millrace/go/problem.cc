// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/problem.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "millrace/graph/index.h"
#include "millrace/plan/fusion_table.h"

namespace millrace {
namespace {

// The layer of every op. An op without one takes that of a neighbour.
std::vector<int> LayersOf(const ComputationGraph& graph, const CostedGraph& costed) {
  constexpr int kNone = std::numeric_limits<int>::min();
  std::vector<int> layers;
  layers.reserve(Index(graph.num_ops()));
  int lowest = std::numeric_limits<int>::max();
  for (const Op& op : graph.ops()) {
    layers.push_back(op.layer.value_or(kNone));
    if (op.layer) lowest = std::min(lowest, *op.layer);
  }
  const auto take = [&layers](OpId op, std::span<const GroupEdge> edges) {
    if (layers[Index(op)] != kNone) return;
    double most = -1;
    for (const GroupEdge& edge : edges) {
      const int layer = layers[Index(edge.group)];
      if (layer == kNone || edge.bytes < most || (edge.bytes == most && layer <= layers[Index(op)])) continue;
      most = edge.bytes;
      layers[Index(op)] = layer;
    }
  };
  const std::vector<std::int32_t>& order = costed.topological_order;
  for (const std::int32_t op : order) take(op, costed.Predecessors(op));
  for (auto op = order.rbegin(); op != order.rend(); ++op) take(*op, costed.Successors(*op));
  std::replace(layers.begin(), layers.end(), kNone, lowest);
  return layers;
}

// Writes where each of `rows` stands among them by value, in 0..1. Equal values stand in the middle of their places.
void SpreadEvenly(std::vector<std::pair<double, std::int32_t>> rows, std::vector<double>& places) {
  std::sort(rows.begin(), rows.end());
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    while (end < rows.size() && rows[end].first == rows[begin].first) ++end;
    const double middle = static_cast<double>(begin + end) / static_cast<double>(2 * rows.size());
    for (std::size_t i = begin; i < end; ++i) places[Index(rows[i].second)] = middle;
  }
}

}  // namespace

GoProblem::GoProblem(const CostModel& model)
    : model_(model),
      costed_(MakeCostedGraph(model, SingleOpGroups(model.graph()))),
      mean_transfer_(MeanTransferOf(costed_.topology)),
      mean_seconds_(MeanSeconds(costed_)),
      upward_ranks_(UpwardRanks(costed_, mean_seconds_, mean_transfer_)),
      downward_ranks_(DownwardRanks(costed_, mean_seconds_, mean_transfer_)) {
  const double mean =
      std::accumulate(mean_seconds_.begin(), mean_seconds_.end(), 0.0) / static_cast<double>(mean_seconds_.size());
  if (mean > 0) scale_ = mean;
  critical_path_ = *std::max_element(upward_ranks_.begin(), upward_ranks_.end());
  Order();
  Colocate();
  MeasureProgress();
  FindFusible();
  RankRows();
}

// Takes ops from a stack of ready ones, where those that became ready last lie on top. Of equal ranks the lower id
// comes first.
void GoProblem::Order() {
  const auto lower = [this](OpId a, OpId b) {
    return upward_ranks_[Index(a)] != upward_ranks_[Index(b)] ? upward_ranks_[Index(a)] < upward_ranks_[Index(b)]
                                                              : a > b;
  };
  std::vector<std::int32_t> waiting;
  std::vector<OpId> ready;
  waiting.reserve(mean_seconds_.size());
  for (OpId op = 0; op < num_rows(); ++op) {
    waiting.push_back(static_cast<std::int32_t>(costed_.Predecessors(op).size()));
    if (waiting.back() == 0) ready.push_back(op);
  }
  std::sort(ready.begin(), ready.end(), lower);
  rows_.resize(waiting.size());
  order_.reserve(waiting.size());
  while (!ready.empty()) {
    const OpId op = ready.back();
    ready.pop_back();
    rows_[Index(op)] = static_cast<std::int32_t>(order_.size());
    order_.push_back(op);
    const auto before = static_cast<std::ptrdiff_t>(ready.size());
    for (const GroupEdge& edge : costed_.Successors(op)) {
      if (--waiting[Index(edge.group)] == 0) ready.push_back(edge.group);
    }
    std::sort(ready.begin() + before, ready.end(), lower);
  }
}

void GoProblem::Colocate() {
  std::vector<std::int32_t> number_of_colocation(Index(costed_.num_colocations), -1);
  colocations_.reserve(order_.size());
  std::int32_t count = 0;
  for (const OpId op : order_) {
    const std::int32_t colocation = costed_.colocation[Index(op)];
    if (colocation < 0) {
      colocations_.push_back(count++);
      continue;
    }
    std::int32_t& number = number_of_colocation[Index(colocation)];
    if (number < 0) number = count++;
    colocations_.push_back(number);
  }
  colocation_offsets_.assign(Index(count) + 1, 0);
  for (const std::int32_t colocation : colocations_) ++colocation_offsets_[Index(colocation) + 1];
  std::partial_sum(colocation_offsets_.begin(), colocation_offsets_.end(), colocation_offsets_.begin());
  std::vector<std::int32_t> next(colocation_offsets_.begin(), colocation_offsets_.end() - 1);
  colocation_rows_.resize(colocations_.size());
  for (std::int32_t row = 0; row < num_rows(); ++row)
    colocation_rows_[Index(next[Index(colocations_[Index(row)])]++)] = row;
}

void GoProblem::MeasureProgress() {
  // Every op counts alike where nothing takes any time.
  const double total = std::accumulate(mean_seconds_.begin(), mean_seconds_.end(), 0.0);
  const auto work = [this, total](OpId op) {
    return total > 0 ? mean_seconds_[Index(op)] / total : 1.0 / static_cast<double>(mean_seconds_.size());
  };
  double before = 0;
  work_before_.reserve(order_.size());
  for (const OpId op : order_) {
    work_before_.push_back(std::min(1.0, before + work(op) / 2));
    before += work(op);
  }
  progress_ = work_before_;
  has_layers_ =
      std::any_of(graph().ops().begin(), graph().ops().end(), [](const Op& op) { return op.layer.has_value(); });
  if (!has_layers_) return;
  const std::vector<int> layers = LayersOf(graph(), costed_);
  std::map<int, double> middle_of;  // at first the work of each layer
  for (const OpId op : order_) middle_of[layers[Index(op)]] += work(op);
  before = 0;
  for (auto& [layer, middle] : middle_of) {
    const double own = middle;
    middle = std::min(1.0, before + own / 2);
    before += own;
  }
  for (std::size_t row = 0; row < order_.size(); ++row) progress_[row] = middle_of.at(layers[Index(order_[row])]);
}

void GoProblem::FindFusible() {
  std::vector<FusionRole> roles;
  roles.reserve(order_.size());
  for (const Op& op : graph().ops()) roles.push_back(FusionRoleOf(op.type));
  fusible_.reserve(order_.size());
  for (const OpId op : order_) {
    const std::span<const OpId> producers = graph().Predecessors(op);
    const bool joins = std::any_of(producers.begin(), producers.end(),
                                   [&roles](OpId producer) { return roles[Index(producer)] != FusionRole::kAlone; });
    fusible_.push_back(static_cast<char>(joins && roles[Index(op)] == FusionRole::kElementwise));
  }
}

void GoProblem::RankRows() {
  std::vector<std::pair<double, std::int32_t>> ranks, savings;
  ranks.reserve(order_.size());
  savings.reserve(order_.size());
  for (std::int32_t row = 0; row < num_rows(); ++row) {
    const OpId op = order_[Index(row)];
    ranks.emplace_back(upward_ranks_[Index(op)], row);
    if (fusible_[Index(row)] == 0) continue;
    double largest = 0;
    for (const GroupEdge& edge : costed_.Predecessors(op)) largest = std::max(largest, edge.bytes);
    savings.emplace_back(largest, row);
  }
  urgency_.assign(order_.size(), 0.0);
  saving_.assign(order_.size(), 0.0);
  SpreadEvenly(std::move(ranks), urgency_);
  SpreadEvenly(std::move(savings), saving_);
}

}  // namespace millrace

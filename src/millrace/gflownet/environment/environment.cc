// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/environment.h"

#include <algorithm>
#include <numeric>

#include "millrace/heuristics/heuristics.h"
#include "millrace/heuristics/optimistic_cost.h"

namespace millrace {

Environment::Environment(const CostedGraph& costed)
    : costed_(costed),
      reference_(std::make_unique<Reference>()),
      mean_transfer_(MeanTransferOf(costed.topology)),
      mean_seconds_(MeanSeconds(costed)),
      upward_ranks_(UpwardRanks(costed, mean_seconds_, mean_transfer_)),
      downward_ranks_(DownwardRanks(costed, mean_seconds_, mean_transfer_)),
      optimistic_costs_(OptimisticCosts(costed, mean_transfer_)),
      input_weights_(mean_seconds_.size(), 0.0),
      rank_positions_(mean_seconds_.size()) {
  const double mean =
      std::accumulate(mean_seconds_.begin(), mean_seconds_.end(), 0.0) / static_cast<double>(mean_seconds_.size());
  if (mean > 0) scale_ = mean;
  critical_path_ = *std::max_element(upward_ranks_.begin(), upward_ranks_.end());

  const std::vector<int> by_rank = ByDecreasingRank(costed, upward_ranks_);
  for (std::size_t i = 0; i < by_rank.size(); ++i)
    rank_positions_[static_cast<std::size_t>(by_rank[i])] = static_cast<std::int32_t>(i);

  rank_order_ = RankOrder(costed, rank_positions_);

  child_offsets_.reserve(mean_seconds_.size() + 1);
  child_offsets_.push_back(0);
  for (int group = 0; group < costed.num_groups; ++group) {
    for (const GroupEdge& edge : costed.Predecessors(group))
      input_weights_[static_cast<std::size_t>(group)] += EdgeWeight(edge.bytes);
    const auto rank = static_cast<std::size_t>(rank_positions_[static_cast<std::size_t>(group)]);
    const std::span<const RankOrder::Reader> readers = rank_order_.Readers(rank);
    for (const RankOrder::Reader& reader : readers.first(std::min<std::size_t>(readers.size(), kKeyChildren)))
      children_.push_back({rank_order_.groups()[static_cast<std::size_t>(reader.rank)], reader.bytes});
    child_offsets_.push_back(static_cast<std::int32_t>(children_.size()));
  }
}

double Environment::reference_makespan() const {
  std::call_once(reference_->made, [this] { reference_->makespan = HeftReferenceMakespan(costed_); });
  return reference_->makespan;
}

std::span<const GroupEdge> Environment::KeyChildren(int group) const {
  const auto begin = static_cast<std::size_t>(child_offsets_[static_cast<std::size_t>(group)]);
  const auto end = static_cast<std::size_t>(child_offsets_[static_cast<std::size_t>(group) + 1]);
  return std::span(children_).subspan(begin, end - begin);
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/fusion/fusion_problem.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "millrace/plan/fusion_table.h"

namespace millrace {

FusionProblem::FusionProblem(const CostModel& model)
    : model_(model),
      devices_(model.topology().num_devices),
      first_candidates_(static_cast<std::size_t>(graph().num_ops())),
      num_candidates_(first_candidates_.size()),
      positions_(first_candidates_.size()),
      anchors_(first_candidates_.size()),
      colocations_(first_candidates_.size()) {
  std::int32_t position = 0;
  for (const OpId op : graph().topological_order()) positions_[static_cast<std::size_t>(op)] = position++;

  std::vector<FusionRole> roles;
  for (const Op& op : graph().ops()) roles.push_back(FusionRoleOf(op.type));
  for (std::size_t op = 0; op < roles.size(); ++op) anchors_[op] = static_cast<char>(roles[op] == FusionRole::kAnchor);
  std::vector<OpId> producers;
  for (const OpId op : graph().topological_order()) {
    first_candidates_[static_cast<std::size_t>(op)] = candidates_.size();
    if (roles[static_cast<std::size_t>(op)] != FusionRole::kElementwise) continue;
    producers.assign(graph().Predecessors(op).begin(), graph().Predecessors(op).end());
    std::sort(producers.begin(), producers.end(),
              [this](OpId a, OpId b) { return this->position(a) > this->position(b); });
    for (const OpId producer : producers) {
      if (roles[static_cast<std::size_t>(producer)] != FusionRole::kAlone) candidates_.push_back({producer, op});
    }
    num_candidates_[static_cast<std::size_t>(op)] =
        candidates_.size() - first_candidates_[static_cast<std::size_t>(op)];
  }

  const auto devices = static_cast<std::size_t>(devices_);
  std::unordered_map<std::string_view, OpId> colocation_of;
  open_.assign(first_candidates_.size() * devices, 1);
  for (OpId op = 0; op < graph().num_ops(); ++op) {
    const std::string& name = graph().op(op).colocate;
    const OpId colocation = name.empty() ? op : colocation_of.emplace(name, op).first->second;
    colocations_[static_cast<std::size_t>(op)] = colocation;
    for (std::size_t device = 0; device < devices; ++device) {
      seconds_.push_back(model.GroupSeconds(std::span(&op, 1), static_cast<int>(device)));
      if (!std::isfinite(seconds_.back())) open_[static_cast<std::size_t>(colocation) * devices + device] = 0;
    }
  }

  for (const GroupTime& entry : graph().group_seconds()) {
    if (entry.ops.size() < 2 || entry.seconds.everywhere) continue;
    std::vector<OpId> ordered = entry.ops;
    std::sort(ordered.begin(), ordered.end(), [this](OpId a, OpId b) { return this->position(a) < this->position(b); });
    std::vector<char> open;
    open.reserve(static_cast<std::size_t>(devices_));
    for (int device = 0; device < devices_; ++device)
      open.push_back(static_cast<char>(std::isfinite(model.GroupSeconds(ordered, device))));
    stated_.emplace(entry.ops, std::move(open));
  }
}

const std::vector<char>* FusionProblem::StatedOpen(std::span<const OpId> ops, std::vector<OpId>& key) const {
  if (stated_.empty()) return nullptr;
  key.assign(ops.begin(), ops.end());
  std::sort(key.begin(), key.end());
  const auto found = stated_.find(key);
  return found == stated_.end() ? nullptr : &found->second;
}

}  // namespace millrace

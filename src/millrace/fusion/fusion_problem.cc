// SPDX-License-Identifier: Apache-2.0
#include "millrace/fusion/fusion_problem.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "millrace/cost/steering.h"
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
  if (model.steering() != nullptr) kept_ = model.steering()->kept;
  std::int32_t position = 0;
  for (const OpId op : graph().topological_order()) positions_[static_cast<std::size_t>(op)] = position++;
  OrderGroups();
  FindCandidates();
  FindOpenDevices();
}

// Of the groups whose producers are done, the one whose first op comes earliest goes next.
void FusionProblem::OrderGroups() {
  slots_ = positions_;
  if (kept_.empty()) return;
  std::vector<OpId> name(slots_.size());  // of each op's group: its first op
  std::iota(name.begin(), name.end(), 0);
  for (const std::vector<OpId>& group : kept_) {
    for (const OpId op : group) name[static_cast<std::size_t>(op)] = group.front();
  }
  std::vector<std::vector<OpId>> members(slots_.size());
  std::vector<int> waiting(slots_.size(), 0);
  for (OpId op = 0; op < graph().num_ops(); ++op) {
    const OpId own = name[static_cast<std::size_t>(op)];
    members[static_cast<std::size_t>(own)].push_back(op);
    for (const OpId producer : graph().Predecessors(op))
      waiting[static_cast<std::size_t>(own)] += name[static_cast<std::size_t>(producer)] != own;
  }
  using Ready = std::pair<std::int32_t, OpId>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  for (OpId op = 0; op < graph().num_ops(); ++op) {
    if (name[static_cast<std::size_t>(op)] == op && waiting[static_cast<std::size_t>(op)] == 0)
      ready.emplace(position(op), op);
  }
  for (std::int32_t slot = 0; !ready.empty(); ++slot) {
    const OpId own = ready.top().second;
    ready.pop();
    for (const OpId op : members[static_cast<std::size_t>(own)]) {
      slots_[static_cast<std::size_t>(op)] = slot;
      for (const OpId consumer : graph().Successors(op)) {
        const OpId next = name[static_cast<std::size_t>(consumer)];
        if (next != own && --waiting[static_cast<std::size_t>(next)] == 0) ready.emplace(position(next), next);
      }
    }
  }
}

std::vector<OpId> FusionProblem::ProducersBySize(OpId op) const {
  std::vector<std::pair<double, OpId>> sized;
  for (const Merge& merge : candidates().subspan(first_candidate(op), num_candidates(op))) {
    double largest = 0;
    for (const TensorId input : graph().Inputs(op)) {
      const Tensor& tensor = graph().tensor(input);
      if (tensor.producer == merge.producer) largest = std::max(largest, tensor.bytes);
    }
    sized.emplace_back(largest, merge.producer);
  }
  std::stable_sort(sized.begin(), sized.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<OpId> producers;
  producers.reserve(sized.size());
  for (const auto& [bytes, producer] : sized) producers.push_back(producer);
  return producers;
}

void FusionProblem::FindCandidates() {
  std::vector<FusionRole> roles;
  for (const Op& op : graph().ops()) roles.push_back(FusionRoleOf(op.type));
  for (std::size_t op = 0; op < roles.size(); ++op) anchors_[op] = static_cast<char>(roles[op] == FusionRole::kAnchor);
  for (const std::vector<OpId>& group : kept_) {
    for (const OpId op : group) roles[static_cast<std::size_t>(op)] = FusionRole::kAlone;
  }
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
}

void FusionProblem::FindOpenDevices() {
  const auto devices = static_cast<std::size_t>(devices_);
  std::unordered_map<std::string_view, OpId> colocation_of;
  open_.assign(first_candidates_.size() * devices, 1);
  for (OpId op = 0; op < graph().num_ops(); ++op) {
    const std::string& name = graph().op(op).colocate;
    const OpId colocation = name.empty() ? op : colocation_of.emplace(name, op).first->second;
    colocations_[static_cast<std::size_t>(op)] = colocation;
    for (std::size_t device = 0; device < devices; ++device) {
      seconds_.push_back(model_.GroupSeconds(std::span(&op, 1), static_cast<int>(device)));
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
      open.push_back(static_cast<char>(std::isfinite(model_.GroupSeconds(ordered, device))));
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

// SPDX-License-Identifier: Apache-2.0
#include "millrace/cost/steering.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"

namespace millrace {
namespace {

class SteeredCostModel final : public CostModel {
 public:
  SteeredCostModel(std::unique_ptr<CostModel> base, Steering steering)
      : base_(std::move(base)), steering_(std::move(steering)) {
    for (const std::vector<OpId>& group : steering_.kept) {
      if (group.size() < 2) continue;
      for (const OpId op : group) kept_.emplace(op, &group);
    }
  }

  double GroupSeconds(std::span<const OpId> ops, int device) const override {
    const bool elsewhere = std::any_of(ops.begin(), ops.end(), [this, device](OpId op) {
      const std::int32_t pinned = steering_.DeviceOf(op);
      return pinned >= 0 && pinned != device;
    });
    if (elsewhere) return kCannotRun;
    const double seconds = base_->GroupSeconds(ops, device);
    return seconds == kCannotRun && ops.size() == 1 ? ShareOfKept(ops.front(), device) : seconds;
  }
  const Topology& topology() const override { return base_->topology(); }
  const ComputationGraph& graph() const override { return base_->graph(); }
  const Steering* steering() const override { return &steering_; }

 private:
  // An op of a kept group never runs alone. Where it could not, as times of it alone may say, it counts as a part.
  double ShareOfKept(OpId op, int device) const {
    const auto group = kept_.find(op);
    if (group == kept_.end()) return kCannotRun;
    return base_->GroupSeconds(*group->second, device) / static_cast<double>(group->second->size());
  }

  std::unique_ptr<CostModel> base_;
  Steering steering_;
  std::unordered_map<OpId, const std::vector<OpId>*> kept_;  // of the groups that are more than an op
};

// Ops that must share a device, because they say so or because a kept group joins them, as sets by their lowest op.
class TiedOps {
 public:
  TiedOps(const ComputationGraph& graph, const FusionGroups& kept)
      : parent_(static_cast<std::size_t>(graph.num_ops())) {
    std::iota(parent_.begin(), parent_.end(), 0);
    std::unordered_map<std::string_view, OpId> first_of;
    for (OpId op = 0; op < graph.num_ops(); ++op) {
      if (!graph.op(op).colocate.empty()) Tie(first_of.emplace(graph.op(op).colocate, op).first->second, op);
    }
    for (const std::vector<OpId>& group : kept) {
      for (const OpId op : group) Tie(group.front(), op);
    }
  }

  OpId Root(OpId op) {
    while (parent_[static_cast<std::size_t>(op)] != op) {
      OpId& parent = parent_[static_cast<std::size_t>(op)];
      op = parent = parent_[static_cast<std::size_t>(parent)];
    }
    return op;
  }

 private:
  void Tie(OpId a, OpId b) {
    a = Root(a);
    b = Root(b);
    parent_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }

  std::vector<OpId> parent_;
};

std::string NameOf(const ComputationGraph& graph, OpId op) { return "op '" + Shown(graph.op(op).name) + "'"; }

}  // namespace

bool Keeps(const Steering& steering, const Plan& plan) {
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    for (const OpId op : plan.groups[group]) {
      const std::int32_t pinned = steering.DeviceOf(op);
      if (pinned >= 0 && pinned != plan.placement[group]) return false;
    }
  }
  const std::set<std::vector<OpId>> groups(plan.groups.begin(), plan.groups.end());
  return std::all_of(steering.kept.begin(), steering.kept.end(),
                     [&groups](const std::vector<OpId>& kept) { return groups.contains(kept); });
}

void CheckSteering(const CostModel& model, const Machine& machine, const Steering& steering) {
  const ComputationGraph& graph = model.graph();
  const auto device_name = [&machine](std::int32_t device) {
    return "'" + Shown(machine.devices[static_cast<std::size_t>(device)].name) + "'";
  };
  TiedOps tied(graph, steering.kept);
  std::vector<OpId> pinned(static_cast<std::size_t>(graph.num_ops()), -1);  // by root: the first pinned op of the set
  for (OpId op = 0; op < graph.num_ops(); ++op) {
    const std::int32_t device = steering.DeviceOf(op);
    if (device < 0) continue;
    OpId& first = pinned[static_cast<std::size_t>(tied.Root(op))];
    if (first < 0) first = op;
    if (steering.DeviceOf(first) != device) {
      throw InvalidInput(fmt::format("{} is held to {} and {} to {}, but the two must share a device",
                                     NameOf(graph, first), device_name(steering.DeviceOf(first)), NameOf(graph, op),
                                     device_name(device)));
    }
  }
  std::vector<char> kept(static_cast<std::size_t>(graph.num_ops()), 0);
  for (const std::vector<OpId>& group : steering.kept) {
    for (const OpId op : group) kept[static_cast<std::size_t>(op)] = 1;
  }
  for (OpId op = 0; op < graph.num_ops(); ++op) {
    const OpId holder = pinned[static_cast<std::size_t>(tied.Root(op))];
    if (holder < 0 || kept[static_cast<std::size_t>(op)] != 0 ||
        model.GroupSeconds(std::span(&op, 1), steering.DeviceOf(holder)) != kCannotRun)
      continue;
    const std::string device = device_name(steering.DeviceOf(holder));
    if (holder == op)
      throw InvalidInput(fmt::format("{} is held to {} and cannot run there", NameOf(graph, op), device));
    throw InvalidInput(fmt::format("{} is held to {}, and {}, which must share its device, cannot run there",
                                   NameOf(graph, holder), device, NameOf(graph, op)));
  }
  for (const std::vector<OpId>& group : steering.kept) {
    const std::int32_t device = steering.DeviceOf(group.front());
    if (device < 0 || model.GroupSeconds(group, device) != kCannotRun) continue;
    throw InvalidInput(
        fmt::format("the kept group of {} cannot run on {}", NameOf(graph, group.front()), device_name(device)));
  }
}

std::unique_ptr<CostModel> MakeSteeredCostModel(std::unique_ptr<CostModel> base, Steering steering) {
  if (steering.empty()) return base;
  return std::make_unique<SteeredCostModel>(std::move(base), std::move(steering));
}

FusionGroups UnfusedGroups(const CostModel& model) {
  FusionGroups groups = SingleOpGroups(model.graph());
  if (model.steering() == nullptr) return groups;
  for (const std::vector<OpId>& kept : model.steering()->kept) {
    for (const OpId op : kept) groups[static_cast<std::size_t>(op)].clear();
    groups[static_cast<std::size_t>(*std::min_element(kept.begin(), kept.end()))] = kept;
  }
  std::erase_if(groups, [](const std::vector<OpId>& group) { return group.empty(); });
  return groups;
}

}  // namespace millrace

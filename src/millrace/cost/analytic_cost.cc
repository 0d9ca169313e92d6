// SPDX-License-Identifier: Apache-2.0
#include "millrace/cost/analytic_cost.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace millrace {
namespace {

class AnalyticCostModel final : public CostModel {
 public:
  AnalyticCostModel(const ComputationGraph& graph, const Machine& machine, Proxy proxy)
      : graph_(graph), devices_(machine.devices), topology_(MakeTopology(machine)) {
    topology_.proxy = proxy;
    for (const GroupTime& entry : graph.group_seconds()) stated_groups_[entry.ops] = &entry.seconds;
  }

  double GroupSeconds(std::span<const OpId> ops, int device) const override {
    const Device& where = devices_[static_cast<std::size_t>(device)];
    for (const OpId op : ops) {
      const StatedSeconds& seconds = graph_.op(op).seconds;
      if (seconds.stated() && !seconds.On(where.kind)) return kCannotRun;
    }
    if (const StatedSeconds* stated = StatedForGroup(ops)) return stated->On(where.kind).value_or(kCannotRun);

    double seconds = 0;
    double flops = 0;
    std::vector<OpId> estimated;
    for (const OpId id : ops) {
      const Op& op = graph_.op(id);
      if (op.seconds.stated()) {
        seconds += *op.seconds.On(where.kind);
      } else {
        estimated.push_back(id);
        flops += op.flops;
      }
    }
    if (estimated.empty()) return seconds;
    const double traffic = Bytes(ops, estimated);
    const double work = std::max(flops / where.flops_per_second, traffic / where.memory_bandwidth);
    // Finite at the least rate, too: infinity says that the group cannot run there.
    return std::min(seconds + where.launch_seconds + work, std::numeric_limits<double>::max());
  }

  const Topology& topology() const override { return topology_; }
  const ComputationGraph& graph() const override { return graph_; }

 private:
  const StatedSeconds* StatedForGroup(std::span<const OpId> ops) const {
    if (stated_groups_.empty()) return nullptr;
    std::vector<OpId> key(ops.begin(), ops.end());
    std::sort(key.begin(), key.end());
    const auto found = stated_groups_.find(key);
    return found == stated_groups_.end() ? nullptr : found->second;
  }

  double Bytes(std::span<const OpId> group, const std::vector<OpId>& estimated) const {
    if (group.size() == 1 && graph_.op(group[0]).bytes_accessed) return *graph_.op(group[0]).bytes_accessed;
    const auto inside = [&group](OpId op) { return std::find(group.begin(), group.end(), op) != group.end(); };
    double bytes = 0;
    std::vector<TensorId> read;
    for (const OpId id : estimated) {
      bytes += graph_.op(id).weight_bytes;
      for (const TensorId input : graph_.Inputs(id)) {
        if (!inside(graph_.tensor(input).producer)) read.push_back(input);
      }
      for (const TensorId output : graph_.Outputs(id)) {
        const Tensor& tensor = graph_.tensor(output);
        const bool leaves =
            tensor.consumers.empty() || !std::all_of(tensor.consumers.begin(), tensor.consumers.end(), inside);
        if (leaves) bytes += tensor.bytes;
      }
    }
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    for (const TensorId tensor : read) bytes += graph_.tensor(tensor).bytes;
    return bytes;
  }

  const ComputationGraph& graph_;
  std::vector<Device> devices_;
  Topology topology_;
  std::map<std::vector<OpId>, const StatedSeconds*> stated_groups_;
};

class UnitCostModel final : public CostModel {
 public:
  UnitCostModel(const ComputationGraph& graph, const Machine& machine) : analytic_(graph, machine, Proxy::kLinear) {}
  double GroupSeconds(std::span<const OpId> ops, int device) const override {
    return analytic_.GroupSeconds(ops, device) == kCannotRun ? kCannotRun : 1.0;
  }
  const Topology& topology() const override { return analytic_.topology(); }
  const ComputationGraph& graph() const override { return analytic_.graph(); }

 private:
  AnalyticCostModel analytic_;
};

}  // namespace

std::unique_ptr<CostModel> MakeUnitCostModel(const ComputationGraph& graph, const Machine& machine) {
  return std::make_unique<UnitCostModel>(graph, machine);
}

std::unique_ptr<CostModel> MakeAnalyticCostModel(const ComputationGraph& graph, const Machine& machine, Proxy proxy) {
  return std::make_unique<AnalyticCostModel>(graph, machine, proxy);
}

}  // namespace millrace

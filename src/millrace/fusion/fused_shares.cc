// SPDX-License-Identifier: Apache-2.0
#include "millrace/fusion/fused_shares.h"

#include <cstddef>
#include <span>
#include <vector>

namespace millrace {
namespace {

class FusedSharesModel final : public CostModel {
 public:
  FusedSharesModel(const CostModel& base, const FusionGroups& groups)
      : base_(base), shares_(static_cast<std::size_t>(base.graph().num_ops()) * Devices(), 1.0) {
    for (const std::vector<OpId>& group : groups) {
      if (group.size() < 2) continue;
      for (int device = 0; device < base.topology().num_devices; ++device) Share(group, device);
    }
  }

  double GroupSeconds(std::span<const OpId> ops, int device) const override {
    const double seconds = base_.GroupSeconds(ops, device);
    return ops.size() == 1 ? seconds * shares_[Cell(ops.front(), device)] : seconds;
  }

  const Topology& topology() const override { return base_.topology(); }
  const ComputationGraph& graph() const override { return base_.graph(); }
  const Steering* steering() const override { return base_.steering(); }

 private:
  std::size_t Devices() const { return static_cast<std::size_t>(base_.topology().num_devices); }

  std::size_t Cell(OpId op, int device) const {
    return static_cast<std::size_t>(op) * Devices() + static_cast<std::size_t>(device);
  }

  void Share(const std::vector<OpId>& group, int device) {
    double apart = 0;
    for (const OpId op : group) apart += base_.GroupSeconds(std::span(&op, 1), device);
    const double together = base_.GroupSeconds(group, device);
    // An op that takes no time has no share, and of what cannot run there is none.
    if (!(apart > 0 && apart < kCannotRun && together < kCannotRun)) return;
    for (const OpId op : group) shares_[Cell(op, device)] = together / apart;
  }

  const CostModel& base_;
  std::vector<double> shares_;  // by op and device: of what it takes alone
};

}  // namespace

std::unique_ptr<CostModel> MakeFusedSharesModel(const CostModel& base, const FusionGroups& groups) {
  return std::make_unique<FusedSharesModel>(base, groups);
}

}  // namespace millrace

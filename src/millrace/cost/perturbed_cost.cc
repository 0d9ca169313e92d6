// SPDX-License-Identifier: Apache-2.0
#include "millrace/cost/perturbed_cost.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "millrace/random/random.h"

namespace millrace {
namespace {

// A kind's own stream, whatever its place among the devices.
std::uint64_t StreamOf(const std::string& kind) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : kind) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3ULL;
  return hash;
}

class PerturbedCostModel final : public CostModel {
 public:
  PerturbedCostModel(const CostModel& base, const Machine& machine, const Perturbation& perturbation)
      : base_(base), sigma_(perturbation.noise_sigma), topology_(base.topology()) {
    const Random random(perturbation.seed);
    for (const Device& device : machine.devices) streams_.push_back(random.Fork(StreamOf(device.kind)));
    if (perturbation.transfer != nullptr || perturbation.added != Perturbation::LinearTransfer{})
      SetTransfers(machine, perturbation);
  }

  double GroupSeconds(std::span<const OpId> ops, int device) const override {
    const double seconds = base_.GroupSeconds(ops, device);
    if (sigma_ == 0 || seconds == std::numeric_limits<double>::infinity()) return seconds;
    return seconds * Factor(ops, device);
  }

  const Topology& topology() const override { return topology_; }
  const ComputationGraph& graph() const override { return base_.graph(); }
  const Steering* steering() const override { return base_.steering(); }

 private:
  void SetTransfers(const Machine& machine, const Perturbation& perturbation) {
    // A machine whose pairs all have a link: what is still free there is free by sharing a unit.
    Machine joined = machine;
    joined.links.clear();
    joined.default_link = DefaultLink{0, 1};
    const Topology reachable = MakeTopology(joined);
    for (std::size_t pair = 0; pair < topology_.free.size(); ++pair) {
      if (reachable.free[pair] != 0) continue;
      topology_.free[pair] = 0;
      if (perturbation.transfer != nullptr) {
        topology_.latency[pair] = perturbation.transfer->seconds;
        topology_.seconds_per_byte[pair] = perturbation.transfer->seconds_per_byte;
      }
      topology_.latency[pair] += perturbation.added.seconds;
      topology_.seconds_per_byte[pair] += perturbation.added.seconds_per_byte;
    }
  }

  double OpFactor(OpId op, int device) const {
    return streams_[static_cast<std::size_t>(device)].Fork(static_cast<std::uint64_t>(op)).LogNormal(0, sigma_);
  }

  double Factor(std::span<const OpId> ops, int device) const {
    if (ops.size() == 1) return OpFactor(ops[0], device);
    double weighted = 0;
    double weights = 0;
    double plain = 0;
    for (const OpId& op : ops) {
      const double factor = OpFactor(op, device);
      const double alone = base_.GroupSeconds(std::span(&op, 1), device);
      weighted += alone * factor;
      weights += alone;
      plain += factor;
    }
    const bool weighable = weights > 0 && std::isfinite(weights) && std::isfinite(weighted);
    return weighable ? weighted / weights : plain / static_cast<double>(ops.size());
  }

  const CostModel& base_;
  double sigma_;
  Topology topology_;
  std::vector<Random> streams_;  // by device; equal for devices of one kind
};

}  // namespace

std::unique_ptr<CostModel> MakePerturbedCostModel(const CostModel& base, const Machine& machine,
                                                  const Perturbation& perturbation) {
  return std::make_unique<PerturbedCostModel>(base, machine, perturbation);
}

}  // namespace millrace

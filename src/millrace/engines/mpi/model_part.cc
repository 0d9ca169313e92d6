// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <numeric>

#include "millrace/engines/mpi/part.h"
#include "millrace/errors/errors.h"
#include "millrace/runtime/program.h"

namespace millrace::mpi {
namespace {

// The part as a plan of this host: a device for each set of processors that is used.
struct LocalPlan {
  Machine machine;
  Plan plan;
};

LocalPlan LocalPlanOf(const PartPlan& part, const std::vector<int>& cpus) {
  LocalPlan local;
  local.machine.name = "rank";
  for (const PartGroup& group : part.groups) {
    std::vector<int> units;
    for (const int processor : group.processors) {
      if (processor < 0 || static_cast<std::size_t>(processor) >= cpus.size()) {
        throw InvalidInput(
            fmt::format("the plan wants processor {} of a rank that has {}; start it with more, or plan anew",
                        processor, cpus.size()));
      }
      units.push_back(cpus[static_cast<std::size_t>(processor)]);
    }
    std::size_t device = 0;
    while (device < local.machine.devices.size() && local.machine.devices[device].units != units) ++device;
    if (device == local.machine.devices.size()) {
      Device added;
      added.name = fmt::format("device {}", device);
      added.kind = "cpu";
      added.units = units;
      added.flops_per_second = added.memory_bandwidth = 1;
      local.machine.devices.push_back(std::move(added));
    }
    local.plan.groups.push_back(group.ops);
    local.plan.placement.push_back(static_cast<int>(device));
  }
  local.plan.sequence.resize(part.groups.size());
  std::iota(local.plan.sequence.begin(), local.plan.sequence.end(), 0);
  return local;
}

BorderValues BorderOf(const PartPlan& part) {
  BorderValues border;
  for (const Parcel& parcel : part.arriving) border.arriving.push_back(parcel.value);
  for (const Parcel& parcel : part.leaving) border.leaving.push_back(parcel.value);
  return border;
}

class ModelPart final : public Part {
 public:
  ModelPart(const PartPlan& plan, const Model& model, const std::vector<int>& cpus, WorkerPool& pool,
            WeightCache& weights, OnFault on_fault)
      : local_(LocalPlanOf(plan, cpus)),
        program_(CompilePart(model, local_.machine, local_.plan, BorderOf(plan), &weights)),
        executor_(program_, pool, on_fault) {}

  std::span<std::byte> Arrival(std::size_t i) override { return executor_.arrival(i); }
  std::span<const std::byte> Departure(std::size_t i) override { return executor_.departure(i); }

  std::span<std::byte> Input(int value) override {
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      if (program_.inputs[i].value == value) return executor_.input(i);
    }
    return {};
  }

  std::span<const std::byte> Output(int value) override {
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      if (program_.outputs[i].value == value) return executor_.output(i);
    }
    return {};
  }

  double Run(Border& border) override { return executor_.Run(&border); }

 private:
  LocalPlan local_;
  Program program_;
  Executor executor_;
};

}  // namespace

std::unique_ptr<Part> MakeModelPart(const PartPlan& plan, const Model& model, const std::vector<int>& cpus,
                                    WorkerPool& pool, WeightCache& weights, OnFault on_fault) {
  return std::make_unique<ModelPart>(plan, model, cpus, pool, weights, on_fault);
}

}  // namespace millrace::mpi

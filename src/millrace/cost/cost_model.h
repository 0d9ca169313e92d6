// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <memory>
#include <span>

#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"
#include "millrace/machine/topology.h"

// What a cost model answers: how long a group of ops takes on a device, and what a transfer costs. Asked once per
// group, device and pair when a CostedGraph is made; never in a hot loop.
namespace millrace {

// Seconds of a group where one of its ops cannot run.
inline constexpr double kCannotRun = std::numeric_limits<double>::infinity();

struct Steering;  // cost/steering.h

class CostModel {
 public:
  virtual ~CostModel() = default;

  // Seconds the group takes on the device, or kCannotRun. `ops` in execution order.
  virtual double GroupSeconds(std::span<const OpId> ops, int device) const = 0;

  // The machine's tables, with the transfers as this model sees them.
  virtual const Topology& topology() const = 0;

  virtual const ComputationGraph& graph() const = 0;

  // What plans under this model must keep to, where a user has settled something; copies with other times have the
  // same.
  virtual const Steering* steering() const { return nullptr; }
};

// The stand-in: every group takes a second wherever it can run, transfers as the machine has them.
std::unique_ptr<CostModel> MakeUnitCostModel(const ComputationGraph& graph, const Machine& machine);

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"

namespace millrace::testing {

// Ops with stated seconds per processor p0, p1, ..., joined by tensors.
class ProblemBuilder {
 public:
  explicit ProblemBuilder(int processors, double bandwidth = 1) {
    for (int p = 0; p < processors; ++p) {
      Device device;
      device.name = device.kind = "p" + std::to_string(p);
      device.units = {p};
      device.flops_per_second = device.memory_bandwidth = 1;
      machine.devices.push_back(device);
    }
    machine.default_link = DefaultLink{0, bandwidth};
  }

  int AddOp(const std::vector<double>& seconds, const std::string& colocate = "") {
    Op op;
    op.name = "op" + std::to_string(data.ops.size());
    op.colocate = colocate;
    for (std::size_t p = 0; p < seconds.size(); ++p) {
      if (std::isfinite(seconds[p])) op.seconds.by_kind.emplace_back("p" + std::to_string(p), seconds[p]);
    }
    data.ops.push_back(op);
    return static_cast<int>(data.ops.size()) - 1;
  }

  void AddEdge(int from, int to, double bytes) {
    Tensor tensor;
    tensor.name = "t" + std::to_string(data.tensors.size());
    tensor.producer = from;
    tensor.consumers = {to};
    tensor.bytes = bytes;
    data.tensors.push_back(tensor);
  }

  CostedGraph Price() const {
    const ComputationGraph graph{data};
    return MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  }

  GraphData data;
  Machine machine;
};

}  // namespace millrace::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/graph/computation_graph.h"

// A task graph under construction: what its ops do and read, in shares of work and size without a unit.
namespace millrace {

class TaskDraft {
 public:
  // An op after all that it will read. Its result has this size, whoever reads it.
  OpId Add(std::string_view type, int layer, double work, double size = 1);

  // `to` reads the result of `from`.
  void Link(OpId from, OpId to);

  // `to` alone reads something of its own that `from` makes; only where there is none is the result left out.
  void Send(OpId from, OpId to, double size);

  // Ops with equal names share a device.
  void Colocate(OpId op, std::string name) { ops_[static_cast<std::size_t>(op)].colocate = std::move(name); }

  std::int64_t size() const { return static_cast<std::int64_t>(ops_.size()); }

  // Work of each op, above 0. Valid until Finish.
  const std::vector<double>& work() const { return work_; }

  // Ops named by type and number, and tensors with their sizes as bytes. A result that nobody reads is an output of the
  // graph, unless its op sends something else.
  GraphData Finish();

 private:
  std::vector<Op> ops_;
  std::vector<double> work_;
  std::vector<Tensor> results_;  // by op
  std::vector<Tensor> sent_;
};

// The number >= `least` whose `count`, which ascends, is nearest to `wanted`; the smaller of two.
template <typename Count>
std::int64_t NearestSize(std::int64_t wanted, std::int64_t least, const Count& count) {
  std::int64_t above = least;
  while (count(above) < wanted) ++above;
  if (above == least) return least;
  return wanted - count(above - 1) <= count(above) - wanted ? above - 1 : above;
}

}  // namespace millrace

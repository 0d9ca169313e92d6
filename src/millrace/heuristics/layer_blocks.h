// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/heuristics/colocated_groups.h"

// The layers of a graph in blocks, one per device, in the order of the devices: what people do by hand (placements.h).
namespace millrace {

// A group's layer is CostedGraph::layer, else the greatest of what it reads, else the least of what reads it; without
// any layers the depth of each group stands for them. Layers are numbered from 0 without gaps; groups that share a
// device are of the layer of their first. Gangs stay unused. The graph must outlive this, and have groups.
class LayerBlocks {
 public:
  explicit LayerBlocks(const CostedGraph& costed);

  int num_layers() const { return static_cast<int>(seconds_.front().size()); }
  int num_devices() const { return static_cast<int>(devices_.size()); }

  // By layer the number of its block, ascending, over the first so many devices: the block that takes longest takes as
  // little as can be, and the others share what is left about evenly, so that no device is idle while there are layers.
  std::vector<int> Balanced(int devices) const;

  // By group. `blocks` as above.
  std::vector<int> Placement(const std::vector<int>& blocks) const;

 private:
  const CostedGraph& costed_;
  ColocatedGroups bound_;
  std::vector<int> devices_;                  // of the blocks
  std::vector<int> layer_of_;                 // by vertex of bound_
  std::vector<std::vector<double>> seconds_;  // by device, by layer
};

}  // namespace millrace

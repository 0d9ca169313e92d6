// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/gflownet/environment/rank_order.h"
#include "millrace/heuristics/upward_rank.h"

// Building a plan for one graph on one machine as a Markov decision process: a state is a set of chains, one per unit;
// an action appends a ready group to the chains of a device; the process ends when every group is placed. An
// Environment is what all states of one problem share; state.h has the states. Seconds.
//
// Source: Zhang et al., "Robust Scheduling with GFlowNets", ICLR 2023, where devices are equal and transfers free.
// Appending reaches every plan, so an optimum of the linear proxy is among the terminal states.
namespace millrace {

// The group to place next and the device it is appended to.
struct Action {
  std::int32_t group = 0;
  std::int32_t device = 0;

  bool operator==(const Action&) const = default;
};

// Immutable once made, so threads may share it. `costed` must outlive it and have at least one group.
class Environment {
 public:
  explicit Environment(const CostedGraph& costed);

  const CostedGraph& costed() const { return costed_; }
  int num_groups() const { return costed_.num_groups; }
  int num_devices() const { return costed_.num_devices; }

  // The unit of time in features: the mean over groups of their mean seconds; 1 where all are 0.
  double scale() const { return scale_; }

  // Makespan of the better of HEFT with and without insertion: what the size-scaled reward is relative to. Worked out
  // when it is first asked for: plans are drawn without it, and it takes a seventh of the time of one.
  double reference_makespan() const;

  const MeanTransfer& mean_transfer() const { return mean_transfer_; }
  std::span<const double> mean_seconds() const { return mean_seconds_; }      // by group
  std::span<const double> upward_ranks() const { return upward_ranks_; }      // by group, communication counted
  std::span<const double> downward_ranks() const { return downward_ranks_; }  // likewise
  double critical_path() const { return critical_path_; }                     // the largest upward rank

  // The least time that must follow the group if it runs on the device (PEFT's optimistic cost table).
  double OptimisticCost(int group, int device) const {
    return optimistic_costs_[static_cast<std::size_t>(group) * static_cast<std::size_t>(costed_.num_devices) +
                             static_cast<std::size_t>(device)];
  }

  // Place of each group by decreasing upward rank, which is a topological order. Ready groups are sorted by it.
  std::span<const std::int32_t> rank_positions() const { return rank_positions_; }
  const RankOrder& rank_order() const { return rank_order_; }

  // The weight of an edge where inputs are compared: its mean transfer seconds, and a little for the edge itself.
  // input_weights() has its sum over the predecessors of each group.
  double EdgeWeight(double bytes) const { return mean_transfer_.Seconds(bytes) + 1e-3 * scale_; }
  std::span<const double> input_weights() const { return input_weights_; }

  // The kKeyChildren successors of the highest upward rank, or all if there are fewer. Look-ahead looks at these.
  static constexpr int kKeyChildren = 4;
  std::span<const GroupEdge> KeyChildren(int group) const;

 private:
  struct Reference {
    std::once_flag made;
    double makespan = 0;
  };

  const CostedGraph& costed_;
  std::unique_ptr<Reference> reference_;
  double scale_ = 1;
  double critical_path_ = 0;
  MeanTransfer mean_transfer_;
  std::vector<double> mean_seconds_, upward_ranks_, downward_ranks_, optimistic_costs_, input_weights_;
  std::vector<std::int32_t> rank_positions_;
  RankOrder rank_order_;
  std::vector<std::int32_t> child_offsets_;
  std::vector<GroupEdge> children_;
};

}  // namespace millrace

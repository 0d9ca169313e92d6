// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/plan/plan.h"

// Which ops of a graph may be merged into fusion groups, and where they can run: what every way of choosing the groups
// starts from. Candidates are the edges producer -> consumer that the fusion table lets join, consumers in topological
// order, of one consumer the latest producer first. Groups that a user keeps (cost/steering.h) stand from the
// beginning, and no candidate touches them.
namespace millrace {

struct Merge {
  OpId producer = 0;
  OpId consumer = 0;
};

// What all walks over one graph share. Immutable, so threads may share it; the model must outlive it.
class FusionProblem {
 public:
  explicit FusionProblem(const CostModel& model);

  const CostModel& model() const { return model_; }
  const ComputationGraph& graph() const { return model_.graph(); }
  int num_devices() const { return devices_; }
  std::span<const Merge> candidates() const { return candidates_; }
  // Those into the op are num_candidates(op) from first_candidate(op) on.
  std::size_t first_candidate(OpId op) const { return first_candidates_[static_cast<std::size_t>(op)]; }
  std::size_t num_candidates(OpId op) const { return num_candidates_[static_cast<std::size_t>(op)]; }
  // The producers of those into the op, that of the largest tensor first; of equal tensors the latest first.
  std::vector<OpId> ProducersBySize(OpId op) const;
  int position(OpId op) const { return positions_[static_cast<std::size_t>(op)]; }  // in topological order

  // Groups that stand from the beginning; a place for every op's group in an order of them all, where every edge
  // between groups leads upwards.
  const FusionGroups& kept() const { return kept_; }
  std::int32_t slot(OpId op) const { return slots_[static_cast<std::size_t>(op)]; }

  bool anchor(OpId op) const { return anchors_[static_cast<std::size_t>(op)] != 0; }

  // Seconds of the op alone by device; infinity: cannot run there.
  std::span<const double> Seconds(OpId op) const {
    const auto devices = static_cast<std::size_t>(devices_);
    return std::span(seconds_).subspan(static_cast<std::size_t>(op) * devices, devices);
  }

  // Ops that must share a device have one number, the id of one of them.
  OpId colocation(OpId op) const { return colocations_[static_cast<std::size_t>(op)]; }

  // By device, those open to all ops of the colocation.
  std::span<const char> Open(OpId colocation) const {
    const auto devices = static_cast<std::size_t>(devices_);
    return std::span(open_).subspan(static_cast<std::size_t>(colocation) * devices, devices);
  }

  // Devices open to a group of several ops for which seconds are stated by kind; null where none are. Overwrites `key`.
  const std::vector<char>* StatedOpen(std::span<const OpId> ops, std::vector<OpId>& key) const;

 private:
  void FindCandidates();
  void OrderGroups();
  void FindOpenDevices();

  const CostModel& model_;
  int devices_;
  FusionGroups kept_;
  std::vector<Merge> candidates_;
  std::vector<std::size_t> first_candidates_, num_candidates_;
  std::vector<std::int32_t> positions_, slots_;
  std::vector<char> anchors_;
  std::vector<double> seconds_;
  std::vector<OpId> colocations_;
  std::vector<char> open_;
  std::map<std::vector<OpId>, std::vector<char>> stated_;
};

}  // namespace millrace

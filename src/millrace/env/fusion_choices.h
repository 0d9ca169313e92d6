// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/plan/plan.h"

// The fusion groups of a graph as a row of yes-or-no choices: the first phase of building a plan, before any group is
// placed. Candidates are the edges producer -> consumer that the fusion table lets join, consumers in topological
// order, of one consumer the latest producer first. Each is offered only if the groups of its two ends may become one
// now: the union is legal (plan/fusion_table.h), the groups keep an order, some device is left to it and to all that
// must share its device, and no pair declined before would end up in one group.
//
// What was declined stays apart, so two different rows of answers end in two different partitions, and a partition
// tells the answers that lead to it: the backward probability of this phase is 1. Every legal partition is among them:
// taken consumer by consumer, what it has of a group so far is itself legal. Two exceptions, both for the sake of cost:
// a group whose stated time (group_seconds) would close a device to its ops is neither offered nor built upon, and a
// merge is not offered where more than kMostLooks edges would have to be looked at to know that the groups keep an
// order.
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
  int position(OpId op) const { return positions_[static_cast<std::size_t>(op)]; }  // in topological order
  bool anchor(OpId op) const { return anchors_[static_cast<std::size_t>(op)] != 0; }

  // Seconds of the op alone by device; infinity: cannot run there.
  std::span<const double> Seconds(OpId op) const {
    const auto devices = static_cast<std::size_t>(devices_);
    return std::span(seconds_).subspan(static_cast<std::size_t>(op) * devices, devices);
  }

  // Ops that must share a device have one number, the id of one of them.
  OpId tie(OpId op) const { return ties_[static_cast<std::size_t>(op)]; }

  // By device, those open to all ops of the tie.
  std::span<const char> Open(OpId tie) const {
    const auto devices = static_cast<std::size_t>(devices_);
    return std::span(open_).subspan(static_cast<std::size_t>(tie) * devices, devices);
  }

  // Devices open to a group of several ops for which seconds are stated by kind; null where none are. Overwrites `key`.
  const std::vector<char>* StatedOpen(std::span<const OpId> ops, std::vector<OpId>& key) const;

 private:
  const CostModel& model_;
  int devices_;
  std::vector<Merge> candidates_;
  std::vector<std::size_t> first_candidates_, num_candidates_;
  std::vector<std::int32_t> positions_;
  std::vector<char> anchors_;
  std::vector<double> seconds_;
  std::vector<OpId> ties_;
  std::vector<char> open_;
  std::map<std::vector<OpId>, std::vector<char>> stated_;
};

// One walk over the candidates. Groups are named by one of their ops. One state serves one thread; only the
// constructor, copying and groups() allocate. An answer takes time by the edges of the ops around the next offer, never
// by the size of the graph.
class FusionState {
 public:
  static constexpr int kMostLooks = 1024;

  // No choice made, every op single. The problem must outlive the state.
  explicit FusionState(const FusionProblem& problem);

  void Clear();

  const FusionProblem& problem() const { return *problem_; }
  bool done() const { return next_ == problem_->candidates().size(); }

  // The merge to be decided now. Not once done().
  Merge offer() const { return problem_->candidates()[next_]; }
  std::size_t candidates_passed() const { return next_; }

  // Joins the two groups of the offer, under the name of the producer's, or keeps its two ops apart for good.
  void Accept();
  void Decline();

  // The answers so far, by offer: 1 accepted.
  const std::vector<char>& answers() const { return answers_; }

  OpId GroupOf(OpId op) const { return group_[static_cast<std::size_t>(op)]; }
  int Size(OpId group) const { return sizes_[static_cast<std::size_t>(group)]; }

  // The ops of the offer's two groups together, in execution order. Valid until the next answer.
  std::span<const OpId> union_ops() const { return union_; }

  // By first op in topological order, ops in execution order: valid groups that have an order.
  FusionGroups groups() const;

 private:
  template <typename Visit>
  void ForEachOp(OpId group, Visit visit) const;
  std::int32_t& Slot(OpId group) { return slots_[static_cast<std::size_t>(group)]; }
  OpId TieRoot(OpId op);
  void Skip();
  bool MayMerge(OpId first, OpId second);
  bool JoinsDeclined() const;
  bool HidesAnOutput() const;
  bool LeavesADevice(OpId first, OpId second);
  bool KeepsAnOrder(OpId first, OpId second);
  template <bool kForward>
  bool Look(OpId group, OpId from, OpId to);
  void Reorder(OpId first, OpId second);

  const FusionProblem* problem_;
  std::size_t next_ = 0;
  std::vector<char> answers_;
  std::vector<OpId> group_;            // by op
  std::vector<OpId> ring_;             // by op: the next of its group, around
  std::vector<std::int32_t> sizes_;    // by group
  std::vector<OpId> anchor_;           // by group; -1: none
  std::vector<std::int32_t> slots_;    // by group: its place in an order of all groups
  std::vector<OpId> tie_parent_;       // by op
  std::vector<char> open_;             // by tie * devices + device
  std::vector<char> declined_;         // by candidate
  std::vector<OpId> union_, sorted_;   // of the offer
  std::vector<OpId> later_, earlier_;  // groups that an accepted offer moves up and down the order
  std::vector<std::int32_t> marks_, pool_;
  std::int32_t mark_ = 0;
  int looks_ = 0;
};

// The answers that lead to these groups, listed in any order; nothing where no answers do. They must satisfy
// WhyNotGroups.
std::optional<std::vector<char>> AnswersFor(const FusionProblem& problem, const FusionGroups& groups);

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "millrace/fusion/fusion_problem.h"
#include "millrace/fusion/merged_groups.h"
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

// One walk over the candidates. Groups are named by one of their ops. One state serves one thread; only the
// constructor, copying and groups() allocate. An answer takes time by the edges of the ops around the next offer, never
// by the size of the graph.
class FusionState {
 public:
  static constexpr int kMostLooks = MergedGroups::kMostLooks;

  // No choice made, every op single. The problem must outlive the state.
  explicit FusionState(const FusionProblem& problem);

  void Clear();

  const FusionProblem& problem() const { return groups_.problem(); }
  bool done() const { return next_ == problem().candidates().size(); }

  // The merge to be decided now. Not once done().
  Merge offer() const { return problem().candidates()[next_]; }
  std::size_t candidates_passed() const { return next_; }

  // Joins the two groups of the offer, under the name of the producer's, or keeps its two ops apart for good.
  void Accept();
  void Decline();

  // The answers so far, by offer: 1 accepted.
  const std::vector<char>& answers() const { return answers_; }

  OpId GroupOf(OpId op) const { return groups_.GroupOf(op); }
  int Size(OpId group) const { return groups_.Size(group); }

  // The ops of the offer's two groups together, in execution order. Valid until the next answer.
  std::span<const OpId> union_ops() const { return groups_.union_ops(); }

  // By first op in topological order, ops in execution order: valid groups that have an order.
  FusionGroups groups() const { return groups_.groups(); }

 private:
  void Skip();
  bool JoinsDeclined() const;

  MergedGroups groups_;
  std::size_t next_ = 0;
  std::vector<char> answers_;
  std::vector<char> declined_;  // by candidate
};

// The answers that lead to these groups, listed in any order; nothing where no answers do. They must satisfy
// WhyNotGroups.
std::optional<std::vector<char>> AnswersFor(const FusionProblem& problem, const FusionGroups& groups);

}  // namespace millrace

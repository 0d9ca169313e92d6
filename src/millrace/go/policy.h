// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "millrace/go/decision_features.h"
#include "millrace/go/decisions.h"
#include "millrace/go/problem.h"
#include "millrace/network/weights.h"

// GO's policy, which decides a whole graph at once: y[t] ~ pi(. | graph, y[t-1]). All choices of a task are independent
// given y[t-1] and the tasks before it. The network and its formulas are in network.h.
namespace millrace {

// Calls work(0) .. work(count - 1), each once, in any order, perhaps on several threads.
using ParallelLoop = std::function<void(int count, const std::function<void(int)>& work)>;

// The plain loop, on the calling thread.
void RunInTurn(int count, const std::function<void(int)>& work);

struct GoGraphTables;

// Scores one iteration after the other. Holds the workspace. One object serves one thread; its loop may use more, and
// the logits do not depend on the loop.
class GoPass {
 public:
  GoPass(std::shared_ptr<const GoGraphTables> tables, ParallelLoop loop);
  ~GoPass();
  GoPass(GoPass&&) noexcept;
  GoPass& operator=(GoPass&&) noexcept;

  // Begins an iteration. `before` is what ObserveDecisions says of y[t-1] and must outlive the calls of Score.
  void Begin(const DecisionObservation& before);

  // Logits of the next task. Tasks come in order of kTasks, and any may be left out. `chosen` has the decisions of the
  // tasks before it. The logits are colocations x devices for placement, else rows x kLevels, and valid until the next
  // call.
  std::span<const float> Score(Task task, const Decisions& chosen);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

// A policy made ready for one problem, whose graph is encoded. Immutable, so threads may share it.
class PreparedGoPolicy {
 public:
  explicit PreparedGoPolicy(std::shared_ptr<const GoGraphTables> tables) : tables_(std::move(tables)) {}

  GoPass MakePass(ParallelLoop loop = RunInTurn) const { return {tables_, std::move(loop)}; }

 private:
  std::shared_ptr<const GoGraphTables> tables_;
};

struct GoNetwork;

// Immutable, so threads may share it.
class GoPolicy {
 public:
  // Throws InvalidInput for weights of another architecture, version or shape. Weights that were fine-tuned to one graph
  // have logits of its own (own_logits.h). Tensors of other names are ignored.
  explicit GoPolicy(const Weights& weights);

  // `problem` must outlive what is returned. Throws InvalidInput for a policy of another graph alone, and Interrupted.
  PreparedGoPolicy Prepare(const GoProblem& problem, const ParallelLoop& loop = RunInTurn) const;

 private:
  friend GoPolicy ReadGoPolicy(const std::string& path);

  std::shared_ptr<const GoNetwork> network_;
  std::string file_;  // that it was read from; empty: none
};

// Reads the policy from a file. Throws InvalidInput, naming the file, as ReadWeights and the constructor do.
GoPolicy ReadGoPolicy(const std::string& path);

}  // namespace millrace

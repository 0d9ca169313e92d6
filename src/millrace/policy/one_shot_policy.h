// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "millrace/env/decision_features.h"
#include "millrace/env/decisions.h"
#include "millrace/env/one_shot_problem.h"
#include "millrace/policy/weights.h"

// The policy that decides a whole graph at once, GO's: y[t] ~ pi(. | graph, y[t-1]), all choices of a task independent
// given y[t-1] and the tasks before it. The network and its formulas are in sage.h.
namespace millrace {

// Runs work(0) .. work(count - 1), each once, in any order, perhaps on several threads.
using ParallelLoop = std::function<void(int count, const std::function<void(int)>& work)>;

// A plain loop: the stand-in.
void RunInTurn(int count, const std::function<void(int)>& work);

struct SageTables;

// One iteration after the other. Holds the workspace; one object serves one thread, which may hand it a loop that uses
// more: the logits do not depend on it.
class OneShotPass {
 public:
  OneShotPass(std::shared_ptr<const SageTables> tables, ParallelLoop loop);
  ~OneShotPass();
  OneShotPass(OneShotPass&&) noexcept;
  OneShotPass& operator=(OneShotPass&&) noexcept;

  // Begins an iteration. `before`: what ObserveDecisions says of y[t-1]; it must outlive the iteration's scores.
  void Begin(const DecisionObservation& before);

  // Logits of the next task, the tasks in order of kTasks, any of them left out. `chosen`: the decisions of the tasks
  // scored since Begin. Placement: ties x devices; else rows x kLevels. Valid until the next call.
  std::span<const float> Score(Task task, const Decisions& chosen);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

// A policy made ready for one problem: the graph is encoded. Immutable and shared between threads.
class PreparedOneShot {
 public:
  explicit PreparedOneShot(std::shared_ptr<const SageTables> tables) : tables_(std::move(tables)) {}

  OneShotPass MakePass(ParallelLoop loop = RunInTurn) const { return {tables_, std::move(loop)}; }

 private:
  std::shared_ptr<const SageTables> tables_;
};

struct SageNetwork;

// Immutable and shared between threads.
class OneShotPolicy {
 public:
  // Throws InvalidInput for weights of another architecture, version or shape. Tensors of other names are let be.
  explicit OneShotPolicy(const Weights& weights);

  // `problem` must outlive what is returned. Throws Interrupted.
  PreparedOneShot Prepare(const OneShotProblem& problem, const ParallelLoop& loop = RunInTurn) const;

 private:
  std::shared_ptr<const SageNetwork> network_;
};

// From a file, which every complaint names. Throws InvalidInput as ReadWeights does, too.
OneShotPolicy ReadOneShotPolicy(const std::string& path);

}  // namespace millrace

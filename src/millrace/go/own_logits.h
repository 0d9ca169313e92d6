// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "millrace/go/decisions.h"
#include "millrace/go/problem.h"
#include "millrace/network/weights.h"

// What fine-tuning has learned of one graph alone: a logit of its own for every choice, which is added to what the
// network says of it. A network tells apart only what differs in its features, and good plans of one graph differ in
// more than these; a table tells all choices apart, and knows nothing of any other graph.
//
// Source: Hottung, Kwon, Tierney, "Efficient Active Search for Combinatorial Optimization Problems", 2022: a policy
// stays as it is, and parameters that belong to one instance are learned beside it.
namespace millrace {

// Plain data.
struct OwnLogits {
  std::string graph;  // plan/hash.h
  // By task of kTasks, as GoPass::Score gives them: colocations x devices, then rows x kLevels.
  std::array<std::vector<float>, kTasks.size()> of_task;

  const std::vector<float>& of(Task task) const { return of_task[static_cast<std::size_t>(task)]; }
  bool operator==(const OwnLogits&) const = default;
};

// All 0, which changes nothing.
OwnLogits NoOwnLogits(const GoProblem& problem);

// How many choices a task has in all: the size of its table.
std::size_t NumChoices(const GoProblem& problem, Task task);

// Throws InvalidInput where they are those of another graph, or of a machine with more or fewer devices.
void CheckOwnLogits(const OwnLogits& own, const GoProblem& problem);

// The tensors own.placement, own.priority and own.fusion of a file of weights, and the entry own_graph of its metadata.
// Nothing where there are none. Throws InvalidInput where a part of them is missing.
void PutOwnLogits(const OwnLogits& own, Weights& weights);
std::optional<OwnLogits> TakeOwnLogits(const Weights& weights);

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/own_logits.h"

#include <cstddef>
#include <cstdint>

#include "millrace/errors/errors.h"
#include "millrace/network/network_layout.h"
#include "millrace/plan/hash.h"

namespace millrace {
namespace {

constexpr char kGraph[] = "own_graph";
constexpr std::array kTensors = {"own.placement", "own.priority", "own.fusion"};
static_assert(kTensors.size() == kTasks.size());

}  // namespace

std::size_t NumChoices(const GoProblem& problem, Task task) {
  if (task == Task::kPlacement)
    return static_cast<std::size_t>(problem.num_colocations()) * static_cast<std::size_t>(problem.num_devices());
  return static_cast<std::size_t>(problem.num_rows()) * kLevels;
}

OwnLogits NoOwnLogits(const GoProblem& problem) {
  OwnLogits own{.graph = GraphHash(problem.graph()), .of_task = {}};
  for (const Task task : kTasks) own.of_task[static_cast<std::size_t>(task)].assign(NumChoices(problem, task), 0.0F);
  return own;
}

void CheckOwnLogits(const OwnLogits& own, const GoProblem& problem) {
  if (own.graph != GraphHash(problem.graph()))
    throw InvalidInput("these weights were fine-tuned to another graph; fine-tune to this one, or leave them out");
  for (const Task task : kTasks) {
    if (own.of(task).size() != NumChoices(problem, task)) {
      throw InvalidInput(
          "these weights were fine-tuned to this graph on a machine with more or fewer devices; fine-tune to this one, "
          "or leave them out");
    }
  }
}

void PutOwnLogits(const OwnLogits& own, Weights& weights) {
  weights.metadata[kGraph] = own.graph;
  for (const Task task : kTasks) {
    const std::vector<float>& values = own.of(task);
    weights.tensors[kTensors[static_cast<std::size_t>(task)]] = {.shape = {static_cast<std::int64_t>(values.size())},
                                                                 .values = values};
  }
}

std::optional<OwnLogits> TakeOwnLogits(const Weights& weights) {
  if (!weights.metadata.contains(kGraph)) return std::nullopt;
  OwnLogits own{.graph = StatedBy(weights, kGraph), .of_task = {}};
  for (const Task task : kTasks) {
    const auto found = weights.tensors.find(kTensors[static_cast<std::size_t>(task)]);
    if (found == weights.tensors.end())
      throw InvalidInput(std::string("tensor ") + kTensors[static_cast<std::size_t>(task)] + " is missing");
    own.of_task[static_cast<std::size_t>(task)] = found->second.values;
  }
  return own;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/mpi/model_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "millrace/errors/errors.h"
#include "millrace/runtime/group_values.h"

namespace millrace::mpi {

void CheckRanks(const std::vector<Seat>& seats, int ranks) {
  const int wanted = RanksOf(seats);
  if (wanted <= ranks) return;
  throw InvalidInput(fmt::format("the machine takes {} ranks, and there {} {}; start it with mpirun -n {}", wanted,
                                 ranks == 1 ? "is" : "are", ranks, wanted));
}

std::vector<PartPlan> PartsOfModel(const Model& model, const Machine& machine, const Plan& plan, int ranks) {
  const std::vector<Seat> seats = SeatsOf(machine);
  CheckRanks(seats, ranks);
  std::map<int, std::vector<int>> readers;  // groups, by value
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    for (const int value : GroupInputs(model, plan.groups[group])) readers[value].push_back(static_cast<int>(group));
  }
  std::vector<MadeTensor> tensors;
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    for (const int value : GroupOutputs(model, plan.groups[group])) {
      const auto read = readers.find(value);
      if (read == readers.end()) continue;
      tensors.push_back({value, SpecOf(model, value).bytes(), static_cast<int>(group), read->second});
    }
  }
  return DividePlan(plan, seats, ranks, tensors, {});
}

std::vector<std::vector<std::byte>> OutputsOf(Leader& ranks, int number, const Model& model, const Machine& machine,
                                              const Plan& plan, const std::vector<std::vector<std::byte>>& inputs) {
  const std::vector<Seat> seats = SeatsOf(machine);
  std::vector<int> rank_of(model.nodes.size(), 0);
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    for (const int node : plan.groups[group])
      rank_of[static_cast<std::size_t>(node)] = seats[static_cast<std::size_t>(plan.placement[group])].rank;
  }
  std::vector<std::vector<std::byte>> outputs;
  for (const int output : model.outputs) {
    const Value& value = model.values[static_cast<std::size_t>(output)];
    std::vector<std::byte> content(SpecOf(model, output).bytes());
    if (value.constant) {
      value.constant->CopyTo(content.data());
    } else if (value.producer < 0) {
      const auto input = std::find(model.inputs.begin(), model.inputs.end(), output);
      content = inputs[static_cast<std::size_t>(input - model.inputs.begin())];
    } else if (!ranks.Read(number, output, rank_of[static_cast<std::size_t>(value.producer)], content)) {
      throw WorkFailed(fmt::format("no rank has the output '{}'", value.name));
    }
    outputs.push_back(std::move(content));
  }
  return outputs;
}

}  // namespace millrace::mpi

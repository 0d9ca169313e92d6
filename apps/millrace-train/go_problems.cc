// SPDX-License-Identifier: Apache-2.0
#include "go_problems.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/machine/preset.h"
#include "millrace/workloads/go_workloads.h"

namespace millrace::cli {
namespace {

std::vector<GoWorkload> Named(const std::string& words) {
  if (words == "short") return ShortGoWorkloads();
  if (words == "standard") return GoWorkloads();
  for (const std::vector<GoWorkload>& workloads : {GoWorkloads(), ShortGoWorkloads()}) {
    for (const GoWorkload& workload : workloads) {
      if (workload.name == words) return {workload};
    }
  }
  throw InvalidInput("workloads: there is no '" + words +
                     "'; there are short, standard and single ones, such as gnmt-4");
}

Machine MachineNamed(const std::string& words) {
  if (std::optional<Machine> machine = MachinePreset(words)) return *std::move(machine);
  throw InvalidInput("machines: there is no preset '" + words + "'");
}

}  // namespace

std::vector<GoTrainingProblem> MakeGoProblems(const std::vector<std::string>& workloads,
                                              const std::vector<std::string>& machines,
                                              const std::vector<std::string>& without) {
  std::vector<GoTrainingProblem> problems;
  for (const std::string& words : workloads) {
    for (const GoWorkload& workload : Named(words)) {
      if (std::find(without.begin(), without.end(), workload.family) != without.end()) continue;
      const ComputationGraph graph = MakeGoWorkload(workload);
      const std::vector<std::string> own = {"p100x" + std::to_string(workload.devices)};
      for (const std::string& machine : machines.empty() ? own : machines) {
        problems.emplace_back(workload.name + " on " + machine, graph, MachineNamed(machine));
      }
    }
  }
  return problems;
}

void AddGoCases(GoCasePurpose purpose, int count, const GoCaseLimits& limits,
                std::vector<GoTrainingProblem>& problems) {
  TakeGoCases(0, purpose, count, limits, [&](GoCase drawn) {
    StopIfInterrupted();
    GoTrainingProblem problem(drawn.name, MakeGoWorkload(drawn.workload), std::move(drawn.machine));
    if (!problem.has_plan()) return false;
    problems.push_back(std::move(problem));
    return true;
  });
}

}  // namespace millrace::cli

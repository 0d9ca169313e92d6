// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/experts.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/graph/index.h"
#include "millrace/network/weights.h"
#include "millrace/plan/hash.h"
#include "millrace/search/placement_search.h"
#include "millrace/train/torch/checkpoint.h"

namespace millrace {
namespace {

constexpr const char* kFormat = "millrace.go-experts";

GoExpertPlan ByOps(const CostedGraph& costed, const FoundPlacement& found, int ops) {
  GoExpertPlan plan{found.makespan, std::vector<std::int32_t>(Index(ops)), std::vector<std::int32_t>(Index(ops))};
  for (std::size_t turn = 0; turn < found.assignment.sequence.size(); ++turn) {
    const auto group = Index(found.assignment.sequence[turn]);
    for (const OpId op : costed.groups[group]) {
      plan.device[Index(op)] = found.assignment.placement[group];
      plan.turn[Index(op)] = static_cast<std::int32_t>(turn);
    }
  }
  return plan;
}

// Op and device numbers are small: a float holds them exactly.
WeightTensor AsTensor(const std::vector<std::int32_t>& values) {
  return {{static_cast<std::int64_t>(values.size())}, {values.begin(), values.end()}};
}

std::vector<std::int32_t> NumbersBelow(const WeightTensor& tensor, int bound) {
  std::vector<std::int32_t> numbers;
  numbers.reserve(tensor.values.size());
  for (const float value : tensor.values) {
    if (!(value >= 0 && value < static_cast<float>(bound))) throw InvalidInput("a number is out of range");
    numbers.push_back(static_cast<std::int32_t>(value));
  }
  return numbers;
}

std::string NameOf(const char* what, std::size_t plan) { return fmt::format("{}.{}", what, plan); }

}  // namespace

GoExpertise FindExpertise(std::uint64_t seed, GoCasePurpose purpose, int number, const GoExpertOptions& options) {
  const GoCase drawn = DrawGoCase(seed, purpose, number);
  const ComputationGraph graph = MakeGoWorkload(drawn.workload);
  const auto model = MakeAnalyticCostModel(graph, drawn.machine, Proxy::kContended);
  const CostedGraph costed = MakeCostedGraph(*model, GreedyFusion(graph));
  GoExpertise plans;
  for (int search = 0; search < options.searches; ++search) {
    PlacementSearchOptions searching;
    searching.evaluations = options.evaluations;
    Random random = Random(seed).Fork(static_cast<std::uint64_t>(number)).Fork(static_cast<std::uint64_t>(search));
    if (std::optional<FoundPlacement> found = SearchPlacement(costed, searching, random))
      plans.push_back(ByOps(costed, *found, graph.num_ops()));
  }
  std::stable_sort(plans.begin(), plans.end(),
                   [](const GoExpertPlan& a, const GoExpertPlan& b) { return a.seconds < b.seconds; });
  return plans;
}

std::string ExpertiseFile(const std::string& folder, GoCasePurpose purpose, int number) {
  return fmt::format("{}/{}-{:06}.safetensors", folder, purpose == GoCasePurpose::kTraining ? "training" : "validation",
                     number);
}

void WriteExpertise(const std::string& path, const GoCase& of, const GoExpertise& plans) {
  Weights file;
  file.metadata = {{"format", kFormat},
                   {"graph", GraphHash(MakeGoWorkload(of.workload))},
                   {"machine", MachineHash(of.machine)},
                   {"plans", std::to_string(plans.size())}};
  for (std::size_t i = 0; i < plans.size(); ++i) {
    file.metadata[NameOf("seconds", i)] = NumberText(plans[i].seconds);
    file.tensors[NameOf("device", i)] = AsTensor(plans[i].device);
    file.tensors[NameOf("turn", i)] = AsTensor(plans[i].turn);
  }
  WriteWeights(path, file);
}

GoExpertise ReadExpertise(const std::string& path, const GoCase& of, const ComputationGraph& graph) {
  const Weights file = ReadWeights(path);
  try {
    if (EntryOf(file, "format") != kFormat) throw InvalidInput("it keeps no plans of experts");
    if (EntryOf(file, "graph") != GraphHash(graph) || EntryOf(file, "machine") != MachineHash(of.machine))
      throw InvalidInput("it is of another graph or machine than " + of.name + "; find its experts again");
    const std::int64_t count = IntegerOf(file, "plans");
    const std::vector<std::int64_t> shape = {graph.num_ops()};
    GoExpertise plans;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      plans.push_back({RealOf(file, NameOf("seconds", i)),
                       NumbersBelow(file.Get(NameOf("device", i), shape), static_cast<int>(of.machine.devices.size())),
                       NumbersBelow(file.Get(NameOf("turn", i), shape), graph.num_ops())});
    }
    return plans;
  } catch (const InvalidInput& error) {
    throw InvalidInput(path + ": " + error.what());
  }
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/memory.h"

#include <cmath>
#include <cstddef>
#include <string>

#include "millrace/cost/cost_model.h"
#include "millrace/train/torch/checkpoint.h"

namespace millrace {
namespace {

constexpr const char* kNothing = "nothing";  // JSON knows no infinity

// Device numbers and levels are small: a float holds them exactly.
template <typename Integer>
WeightTensor AsTensor(const std::vector<Integer>& values) {
  return {.shape = {static_cast<std::int64_t>(values.size())}, .values = {values.begin(), values.end()}};
}

template <typename Integer>
std::vector<Integer> FromTensor(const Weights& all, const std::string& name) {
  std::vector<Integer> values;
  const auto found = all.tensors.find(name);
  if (found == all.tensors.end()) return values;
  values.reserve(found->second.values.size());
  for (const float value : found->second.values) values.push_back(static_cast<Integer>(value));
  return values;
}

std::string ProblemPrefix(std::size_t index) { return "memory." + std::to_string(index) + "."; }

}  // namespace

Weights ProblemPart(const GoProblemMemory& memory) {
  Weights part;
  const Decisions& decisions = memory.best.decisions;
  if (!decisions.device.empty()) part.tensors["device"] = AsTensor(decisions.device);
  if (!decisions.priority.empty()) part.tensors["priority"] = AsTensor(decisions.priority);
  if (!decisions.fusion.empty()) part.tensors["fusion"] = AsTensor(decisions.fusion);
  if (memory.own) PutOwnLogits(*memory.own, part);
  part.metadata["seconds"] = std::isfinite(memory.best.seconds) ? NumberText(memory.best.seconds) : kNothing;
  part.metadata["searches"] = std::to_string(memory.searches);
  part.metadata["deviation"] = NumberText(memory.deviation);
  part.metadata["iterations"] = std::to_string(memory.baselines.size());
  for (std::size_t i = 0; i < memory.baselines.size(); ++i) {
    part.metadata["baseline." + std::to_string(i)] = NumberText(memory.baselines[i]);
  }
  return part;
}

GoProblemMemory ProblemMemoryOf(const Weights& part) {
  GoProblemMemory memory;
  memory.best.decisions.device = FromTensor<std::int32_t>(part, "device");
  memory.best.decisions.priority = FromTensor<std::uint8_t>(part, "priority");
  memory.best.decisions.fusion = FromTensor<std::uint8_t>(part, "fusion");
  memory.best.seconds = EntryOf(part, "seconds") == kNothing ? kCannotRun : RealOf(part, "seconds");
  memory.searches = IntegerOf(part, "searches");
  memory.own = TakeOwnLogits(part);
  memory.deviation = RealOf(part, "deviation");
  const std::int64_t iterations = IntegerOf(part, "iterations");
  for (std::int64_t i = 0; i < iterations; ++i) {
    memory.baselines.push_back(RealOf(part, "baseline." + std::to_string(i)));
  }
  return memory;
}

Weights MemoryPart(const GoMemory& memory) {
  Weights part;
  part.metadata = {{"evaluations", std::to_string(memory.evaluations)},
                   {"memories", std::to_string(memory.problems.size())}};
  for (std::size_t i = 0; i < memory.problems.size(); ++i) {
    PutPart(ProblemPart(memory.problems[i]), ProblemPrefix(i), part);
  }
  return part;
}

GoMemory MemoryOf(const Weights& part) {
  GoMemory memory;
  memory.evaluations = IntegerOf(part, "evaluations");
  const std::int64_t problems = IntegerOf(part, "memories");
  for (std::int64_t i = 0; i < problems; ++i) {
    memory.problems.push_back(ProblemMemoryOf(TakePart(part, ProblemPrefix(static_cast<std::size_t>(i)))));
  }
  return memory;
}

}  // namespace millrace

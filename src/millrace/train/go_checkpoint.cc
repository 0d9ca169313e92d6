// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go_checkpoint.h"

#include <cmath>
#include <limits>

#include "millrace/errors/errors.h"
#include "millrace/train/checkpoint_parts.h"

namespace millrace {
namespace {

constexpr const char* kFormat = "millrace.go-checkpoint";
constexpr const char* kVersion = "1";
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

std::string MemoryPrefix(std::size_t index) { return "memory." + std::to_string(index) + "."; }

Weights MemoryPart(const GoMemory& memory) {
  Weights part;
  const Decisions& decisions = memory.best.decisions;
  if (!decisions.device.empty()) part.tensors["device"] = AsTensor(decisions.device);
  if (!decisions.priority.empty()) part.tensors["priority"] = AsTensor(decisions.priority);
  if (!decisions.fusion.empty()) part.tensors["fusion"] = AsTensor(decisions.fusion);
  part.metadata["seconds"] = std::isfinite(memory.best.seconds) ? NumberText(memory.best.seconds) : kNothing;
  part.metadata["searches"] = std::to_string(memory.searches);
  part.metadata["deviation"] = NumberText(memory.deviation);
  part.metadata["iterations"] = std::to_string(memory.baselines.size());
  for (std::size_t i = 0; i < memory.baselines.size(); ++i) {
    part.metadata["baseline." + std::to_string(i)] = NumberText(memory.baselines[i]);
  }
  return part;
}

GoMemory MemoryOf(const Weights& part) {
  GoMemory memory;
  memory.best.decisions.device = FromTensor<std::int32_t>(part, "device");
  memory.best.decisions.priority = FromTensor<std::uint8_t>(part, "priority");
  memory.best.decisions.fusion = FromTensor<std::uint8_t>(part, "fusion");
  memory.best.seconds =
      EntryOf(part, "seconds") == kNothing ? std::numeric_limits<double>::infinity() : RealOf(part, "seconds");
  memory.searches = IntegerOf(part, "searches");
  memory.deviation = RealOf(part, "deviation");
  const std::int64_t iterations = IntegerOf(part, "iterations");
  for (std::int64_t i = 0; i < iterations; ++i) {
    memory.baselines.push_back(RealOf(part, "baseline." + std::to_string(i)));
  }
  return memory;
}

}  // namespace

void WriteGoCheckpoint(const std::string& path, const GoCheckpoint& checkpoint) {
  Weights all;
  all.metadata = {{"format", kFormat},
                  {"format_version", kVersion},
                  {"settings", GoSettingsJson(checkpoint.settings)},
                  {"seed", std::to_string(checkpoint.seed)},
                  {"update", std::to_string(checkpoint.update)},
                  {"evaluations", std::to_string(checkpoint.evaluations)},
                  {"seconds", NumberText(checkpoint.seconds)},
                  {"time_limit", NumberText(checkpoint.time_limit)},
                  {"problems", checkpoint.problems},
                  {"memories", std::to_string(checkpoint.memories.size())},
                  {"best_score", NumberText(checkpoint.best_score)}};
  PutPart(checkpoint.learner, "learner.", all);
  PutPart(checkpoint.best, "best.", all);
  for (std::size_t i = 0; i < checkpoint.memories.size(); ++i) {
    PutPart(MemoryPart(checkpoint.memories[i]), MemoryPrefix(i), all);
  }
  WriteWeights(path, all);
}

GoCheckpoint ReadGoCheckpoint(const std::string& path) {
  const Weights all = ReadWeights(path);
  try {
    if (EntryOf(all, "format") != kFormat || EntryOf(all, "format_version") != kVersion) {
      throw InvalidInput("no checkpoint of GO of this version; start the training again");
    }
    GoCheckpoint checkpoint;
    checkpoint.settings = ParseGoSettings(EntryOf(all, "settings"));
    checkpoint.seed = SeedOf(all, "seed");
    checkpoint.update = IntegerOf(all, "update");
    checkpoint.evaluations = IntegerOf(all, "evaluations");
    checkpoint.seconds = RealOf(all, "seconds");
    checkpoint.time_limit = RealOf(all, "time_limit");
    checkpoint.problems = EntryOf(all, "problems");
    checkpoint.best_score = RealOf(all, "best_score");
    checkpoint.learner = TakePart(all, "learner.");
    checkpoint.best = TakePart(all, "best.");
    const std::int64_t memories = IntegerOf(all, "memories");
    for (std::int64_t i = 0; i < memories; ++i) {
      checkpoint.memories.push_back(MemoryOf(TakePart(all, MemoryPrefix(static_cast<std::size_t>(i)))));
    }
    return checkpoint;
  } catch (const InvalidInput& error) {
    throw error.InFile(path);
  }
}

}  // namespace millrace

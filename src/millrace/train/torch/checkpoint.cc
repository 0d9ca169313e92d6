// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/torch/checkpoint.h"

#include <charconv>

#include "millrace/errors/errors.h"
#include "millrace/formats/json_write.h"

namespace millrace {
namespace {

constexpr const char* kVersion = "1";
constexpr const char* kLearner = "learner.";
constexpr const char* kBest = "best.";

template <typename Number>
Number NumberOf(const Weights& all, const std::string& name) {
  const std::string& text = EntryOf(all, name);
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw InvalidInput("its '" + name + "' is '" + text + "', which is no number");
  }
  return number;
}

// The entries that every kind of training has.
std::map<std::string, std::string> Entries(const CheckpointKind& kind, const Checkpoint& checkpoint) {
  return {{"format", kind.format},
          {"format_version", kVersion},
          {"settings", checkpoint.settings},
          {"seed", std::to_string(checkpoint.seed)},
          {"update", std::to_string(checkpoint.update)},
          {"seconds", NumberText(checkpoint.seconds)},
          {"time_limit", NumberText(checkpoint.time_limit)},
          {kind.trained_on, checkpoint.trained_on},
          {"best_score", NumberText(checkpoint.best_score)}};
}

// What is left of a file without the learner, the best weights and the entries above.
Weights MemoryOf(const Weights& all, const CheckpointKind& kind) {
  Weights memory = all;
  for (const auto& [name, text] : Entries(kind, {})) memory.metadata.erase(name);
  for (const char* prefix : {kLearner, kBest}) {
    std::erase_if(memory.tensors, [&](const auto& entry) { return entry.first.starts_with(prefix); });
    std::erase_if(memory.metadata, [&](const auto& entry) { return entry.first.starts_with(prefix); });
  }
  return memory;
}

}  // namespace

void WriteCheckpoint(const std::string& path, const CheckpointKind& kind, const Checkpoint& checkpoint) {
  Weights all = checkpoint.memory;
  all.metadata.merge(Entries(kind, checkpoint));
  PutPart(checkpoint.learner, kLearner, all);
  PutPart(checkpoint.best, kBest, all);
  WriteWeights(path, all);
}

Checkpoint ReadCheckpoint(const std::string& path, const CheckpointKind& kind) {
  const Weights all = ReadWeights(path);
  try {
    if (EntryOf(all, "format") != kind.format || EntryOf(all, "format_version") != kVersion) {
      throw InvalidInput("no checkpoint of this training and version; start the training again");
    }
    Checkpoint checkpoint;
    checkpoint.settings = EntryOf(all, "settings");
    checkpoint.seed = NumberOf<std::uint64_t>(all, "seed");
    checkpoint.update = IntegerOf(all, "update");
    checkpoint.seconds = RealOf(all, "seconds");
    checkpoint.time_limit = RealOf(all, "time_limit");
    checkpoint.trained_on = EntryOf(all, kind.trained_on);
    checkpoint.best_score = RealOf(all, "best_score");
    checkpoint.learner = TakePart(all, kLearner);
    checkpoint.best = TakePart(all, kBest);
    checkpoint.memory = MemoryOf(all, kind);
    kind.check(checkpoint);
    return checkpoint;
  } catch (const InvalidInput& error) {
    throw error.InFile(path);
  }
}

void PutPart(const Weights& part, const std::string& prefix, Weights& all) {
  for (const auto& [name, tensor] : part.tensors) all.tensors[prefix + name] = tensor;
  for (const auto& [name, text] : part.metadata) all.metadata[prefix + name] = text;
}

Weights TakePart(const Weights& all, const std::string& prefix) {
  Weights part;
  for (const auto& [name, tensor] : all.tensors) {
    if (name.starts_with(prefix)) part.tensors[name.substr(prefix.size())] = tensor;
  }
  for (const auto& [name, text] : all.metadata) {
    if (name.starts_with(prefix)) part.metadata[name.substr(prefix.size())] = text;
  }
  return part;
}

std::string NumberText(double number) {
  std::string text;
  AppendJsonNumber(text, number);
  return text;
}

const std::string& EntryOf(const Weights& all, const std::string& name) {
  const auto found = all.metadata.find(name);
  if (found == all.metadata.end()) throw InvalidInput("no checkpoint of a training: it has no '" + name + "'");
  return found->second;
}

double RealOf(const Weights& all, const std::string& name) { return NumberOf<double>(all, name); }
std::int64_t IntegerOf(const Weights& all, const std::string& name) { return NumberOf<std::int64_t>(all, name); }

}  // namespace millrace

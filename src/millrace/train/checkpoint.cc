// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/checkpoint.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/formats/json_write.h"

namespace millrace {
namespace {

constexpr const char* kFormat = "millrace.checkpoint";
constexpr const char* kVersion = "1";
constexpr std::string_view kLearner = "learner.";
constexpr std::string_view kBest = "best.";

std::string Text(double number) {
  std::string text;
  AppendJsonNumber(text, number);
  return text;
}

void Put(const Weights& part, std::string_view prefix, Weights& all) {
  for (const auto& [name, tensor] : part.tensors) all.tensors[std::string(prefix) + name] = tensor;
  for (const auto& [name, value] : part.metadata) all.metadata[std::string(prefix) + name] = value;
}

Weights Take(const Weights& all, std::string_view prefix) {
  Weights part;
  for (const auto& [name, tensor] : all.tensors) {
    if (name.starts_with(prefix)) part.tensors[name.substr(prefix.size())] = tensor;
  }
  for (const auto& [name, value] : all.metadata) {
    if (name.starts_with(prefix)) part.metadata[name.substr(prefix.size())] = value;
  }
  return part;
}

const std::string& Entry(const Weights& all, const std::string& name) {
  const auto found = all.metadata.find(name);
  if (found == all.metadata.end()) throw InvalidInput("no checkpoint of a training: it has no '" + name + "'");
  return found->second;
}

template <typename Number>
Number NumberOf(const Weights& all, const std::string& name) {
  const std::string& text = Entry(all, name);
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw InvalidInput("its '" + name + "' is '" + text + "', which is no number");
  }
  return number;
}

}  // namespace

void WriteCheckpoint(const std::string& path, const Checkpoint& checkpoint) {
  Weights all;
  all.metadata = {{"format", kFormat},
                  {"format_version", kVersion},
                  {"settings", SettingsJson(checkpoint.settings)},
                  {"seed", std::to_string(checkpoint.seed)},
                  {"update", std::to_string(checkpoint.update)},
                  {"seconds", Text(checkpoint.seconds)},
                  {"time_limit", Text(checkpoint.time_limit)},
                  {"graphs", checkpoint.graphs},
                  {"best_score", Text(checkpoint.best_score)}};
  Put(checkpoint.learner, kLearner, all);
  Put(checkpoint.best, kBest, all);
  WriteWeights(path, all);
}

Checkpoint ReadCheckpoint(const std::string& path) {
  const Weights all = ReadWeights(path);
  try {
    if (Entry(all, "format") != kFormat || Entry(all, "format_version") != kVersion) {
      throw InvalidInput("no checkpoint of this version; start the training again");
    }
    Checkpoint checkpoint;
    checkpoint.settings = ParseSettings(Entry(all, "settings"));
    checkpoint.seed = NumberOf<std::uint64_t>(all, "seed");
    checkpoint.update = NumberOf<std::int64_t>(all, "update");
    checkpoint.seconds = NumberOf<double>(all, "seconds");
    checkpoint.time_limit = NumberOf<double>(all, "time_limit");
    checkpoint.graphs = Entry(all, "graphs");
    checkpoint.best_score = NumberOf<double>(all, "best_score");
    checkpoint.learner = Take(all, kLearner);
    checkpoint.best = Take(all, kBest);
    return checkpoint;
  } catch (const InvalidInput& error) {
    throw error.InFile(path);
  }
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/checkpoint_parts.h"

#include <charconv>

#include "millrace/errors/errors.h"
#include "millrace/formats/json_write.h"

namespace millrace {
namespace {

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

}  // namespace

void PutPart(const Weights& part, std::string_view prefix, Weights& all) {
  for (const auto& [name, tensor] : part.tensors) all.tensors[std::string(prefix) + name] = tensor;
  for (const auto& [name, value] : part.metadata) all.metadata[std::string(prefix) + name] = value;
}

Weights TakePart(const Weights& all, std::string_view prefix) {
  Weights part;
  for (const auto& [name, tensor] : all.tensors) {
    if (name.starts_with(prefix)) part.tensors[name.substr(prefix.size())] = tensor;
  }
  for (const auto& [name, value] : all.metadata) {
    if (name.starts_with(prefix)) part.metadata[name.substr(prefix.size())] = value;
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
std::uint64_t SeedOf(const Weights& all, const std::string& name) { return NumberOf<std::uint64_t>(all, name); }

}  // namespace millrace

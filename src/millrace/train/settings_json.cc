// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/settings_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "millrace/errors/errors.h"
#include "millrace/formats/json_write.h"

namespace millrace {
namespace {

template <typename Elements, typename Append>
void AppendAll(std::string& out, char open, char close, const Elements& elements, Append append) {
  out += open;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i > 0) out += ", ";
    append(elements[i]);
  }
  out += close;
}

}  // namespace

SettingsReader::SettingsReader(std::string_view text) : json_(ParseJson(text)) {}

void SettingsReader::operator()(const char* name, std::string& value) {
  known_.emplace_back(name);
  const JsonPlace root(json_);
  if (const std::optional<JsonPlace> place = root.Optional(name)) value = place->Text();
}

void SettingsReader::operator()(const char* name, int& value) {
  known_.emplace_back(name);
  const JsonPlace root(json_);
  if (const std::optional<JsonPlace> place = root.Optional(name)) value = place->Integer();
}

void SettingsReader::operator()(const char* name, double& value) {
  known_.emplace_back(name);
  const JsonPlace root(json_);
  if (const std::optional<JsonPlace> place = root.Optional(name)) value = place->Number();
}

void SettingsReader::operator()(const char* name, std::vector<double>& value) {
  known_.emplace_back(name);
  const JsonPlace root(json_);
  const std::optional<JsonPlace> place = root.Optional(name);
  if (!place) return;
  value.clear();
  for (std::size_t i = 0; i < place->Size(); ++i) value.push_back(place->Element(i).Number());
}

void SettingsReader::operator()(const char* name, std::vector<std::string>& value) {
  known_.emplace_back(name);
  const JsonPlace root(json_);
  const std::optional<JsonPlace> place = root.Optional(name);
  if (!place) return;
  value.clear();
  for (std::size_t i = 0; i < place->Size(); ++i) value.push_back(place->Element(i).Text());
}

void SettingsReader::operator()(const char* name, WeightsByName& value) {
  known_.emplace_back(name);
  const JsonPlace root(json_);
  const std::optional<JsonPlace> place = root.Optional(name);
  if (!place) return;
  value.clear();
  for (const JsonMember& member : place->Object()) {
    value.emplace_back(member.name, place->Member(member.name).Number());
  }
}

void SettingsReader::RefuseOthers() const {
  const JsonPlace root(json_);
  for (const JsonMember& member : root.Object()) {
    if (std::find(known_.begin(), known_.end(), member.name) == known_.end()) {
      throw InvalidInput("'" + member.name + "' is no setting of a training");
    }
  }
}

void SettingsWriter::Name(const char* name) {
  text_ += text_.empty() ? "\n  " : ",\n  ";
  AppendJsonText(text_, name);
  text_ += ": ";
}

void SettingsWriter::operator()(const char* name, const std::string& value) {
  Name(name);
  AppendJsonText(text_, value);
}

void SettingsWriter::operator()(const char* name, int value) {
  Name(name);
  text_ += std::to_string(value);
}

void SettingsWriter::operator()(const char* name, double value) {
  Name(name);
  AppendJsonNumber(text_, value);
}

void SettingsWriter::operator()(const char* name, const std::vector<double>& value) {
  Name(name);
  AppendAll(text_, '[', ']', value, [&](double number) { AppendJsonNumber(text_, number); });
}

void SettingsWriter::operator()(const char* name, const std::vector<std::string>& value) {
  Name(name);
  AppendAll(text_, '[', ']', value, [&](const std::string& text) { AppendJsonText(text_, text); });
}

void SettingsWriter::operator()(const char* name, const WeightsByName& value) {
  Name(name);
  AppendAll(text_, '{', '}', value, [&](const std::pair<std::string, double>& weight) {
    AppendJsonText(text_, weight.first);
    text_ += ": ";
    AppendJsonNumber(text_, weight.second);
  });
}

void CheckSettingRange(const char* name, double value, double least, double most) {
  if (!(value >= least && value <= most)) {
    throw InvalidInput(fmt::format("{}: it is a number from {} to {}, not {}", name, least, most, value));
  }
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/torch/settings_table.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "millrace/formats/json_value.h"
#include "millrace/formats/json_write.h"

namespace millrace {
namespace {

// Sets the value of a row to what stands at a place.
struct ReadValue {
  const JsonPlace& place;

  void operator()(std::string* value) const { *value = place.Text(); }
  void operator()(int* value) const { *value = place.Integer(); }
  void operator()(double* value) const { *value = place.Number(); }
  void operator()(std::vector<double>* value) const {
    value->clear();
    for (std::size_t i = 0; i < place.Size(); ++i) value->push_back(place.Element(i).Number());
  }
  void operator()(std::vector<std::string>* value) const {
    value->clear();
    for (std::size_t i = 0; i < place.Size(); ++i) value->push_back(place.Element(i).Text());
  }
  void operator()(WeightsByName* value) const {
    value->clear();
    for (const JsonMember& member : place.Object()) {
      value->emplace_back(member.name, place.Member(member.name).Number());
    }
  }
};

// Appends the value of a row as JSON.
struct AppendValue {
  std::string& out;

  void operator()(const std::string* value) const { AppendJsonText(out, *value); }
  void operator()(const int* value) const { out += std::to_string(*value); }
  void operator()(const double* value) const { AppendJsonNumber(out, *value); }
  void operator()(const std::vector<double>* value) const {
    List('[', ']', *value, [&](double number) { AppendJsonNumber(out, number); });
  }
  void operator()(const std::vector<std::string>* value) const {
    List('[', ']', *value, [&](const std::string& text) { AppendJsonText(out, text); });
  }
  void operator()(const WeightsByName* value) const {
    List('{', '}', *value, [&](const std::pair<std::string, double>& weight) {
      AppendJsonText(out, weight.first);
      out += ": ";
      AppendJsonNumber(out, weight.second);
    });
  }

  template <typename Elements, typename Append>
  void List(char open, char close, const Elements& elements, Append append) const {
    out += open;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (i > 0) out += ", ";
      append(elements[i]);
    }
    out += close;
  }
};

// Throws InvalidInput where the value of a row is not allowed.
struct CheckValue {
  const Setting& row;

  void operator()(const std::string* value) const { Word(*value); }
  void operator()(const int* value) const { Number(*value); }
  void operator()(const double* value) const { Number(*value); }
  void operator()(const std::vector<double>* value) const {
    for (const double number : *value) Number(number);
    Some(!value->empty(), "is needed");
  }
  void operator()(const std::vector<std::string>* value) const {
    for (const std::string& word : *value) Word(word);
    Some(!value->empty(), "is needed");
  }
  void operator()(const WeightsByName* value) const {
    bool any = false;
    for (const auto& [name, weight] : *value) {
      Word(name);
      Number(weight);
      any = any || weight > 0;
    }
    Some(any, "needs a weight > 0");
  }

  void Number(double number) const {
    if (number >= row.allowed.least && number <= row.allowed.most) return;
    const Allowed& allowed = row.allowed;
    throw InvalidInput(fmt::format("{}: it is a number from {:g}{} to {:g}, not {}", row.name, allowed.least,
                                   allowed.least_of.empty() ? "" : " (" + allowed.least_of + ")", allowed.most,
                                   number));
  }

  void Word(const std::string& word) const {
    const std::vector<std::string>& words = row.allowed.words;
    if (words.empty() || std::find(words.begin(), words.end(), word) != words.end()) return;
    throw InvalidInput(fmt::format("{}: there is no '{}'; there are {}", row.name, word, fmt::join(words, ", ")));
  }

  void Some(bool any, const char* needed) const {
    if (!any && !row.allowed.empty) throw InvalidInput(fmt::format("{}: at least one {}", row.name, needed));
  }
};

bool HasNumbers(const Setting& setting) {
  return !std::holds_alternative<std::string*>(setting.value) &&
         !std::holds_alternative<std::vector<std::string>*>(setting.value);
}

}  // namespace

Allowed AnyText() { return {}; }
Allowed Between(double least, double most) { return {.least = least, .most = most}; }

Allowed From(const std::string& setting, double value, double most) {
  return {.least = value, .most = most, .least_of = setting};
}

Allowed OneOf(std::vector<std::string> words) { return {.words = std::move(words)}; }

Allowed NotEmpty(Allowed elements) {
  elements.empty = false;
  return elements;
}

void ReadRows(std::string_view json, const SettingsTable& table) {
  const JsonValue value = ParseJson(json);
  const JsonPlace root(value);
  for (const JsonMember& member : root.Object()) {
    const auto row = std::find_if(table.begin(), table.end(), [&](const Setting& s) { return s.name == member.name; });
    if (row == table.end()) throw InvalidInput("'" + member.name + "' is no setting of a training");
    if (const std::optional<JsonPlace> place = root.Optional(member.name)) std::visit(ReadValue{*place}, row->value);
  }
}

void CheckRows(const SettingsTable& table) {
  for (const Setting& row : table) std::visit(CheckValue{row}, row.value);
}

std::string RowsJson(const SettingsTable& table) {
  std::string text;
  for (const Setting& row : table) {
    text += text.empty() ? "{\n  " : ",\n  ";
    AppendJsonText(text, row.name);
    text += ": " + ValueText(row);
  }
  return text.empty() ? "{}\n" : text + "\n}\n";
}

std::string RowsHelp(const SettingsTable& table) {
  std::string text;
  for (const Setting& row : table) {
    const std::string allowed = AllowedText(row);
    text += fmt::format("  {:34} {} ({}{}default {})\n", row.name, row.meaning, allowed, allowed.empty() ? "" : "; ",
                        ValueText(row));
  }
  return text;
}

std::string ValueText(const Setting& setting) {
  std::string text;
  std::visit(AppendValue{text}, setting.value);
  return text;
}

std::string AllowedText(const Setting& setting) {
  std::string text;
  if (!setting.allowed.words.empty()) text = fmt::format("{}", fmt::join(setting.allowed.words, ", "));
  if (HasNumbers(setting)) {
    const std::string& other = setting.allowed.least_of;
    text += fmt::format("{}{} to {:g}", text.empty() ? "" : ": ",
                        other.empty() ? fmt::format("{:g}", setting.allowed.least) : other, setting.allowed.most);
  }
  return text;
}

const Setting& RowNamed(const SettingsTable& table, std::string_view name) {
  for (const Setting& row : table) {
    if (row.name == name) return row;
  }
  throw std::logic_error("there is no setting '" + std::string(name) + "'");
}

void AppendRows(const SettingsTable& rows, SettingsTable& table) {
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace millrace

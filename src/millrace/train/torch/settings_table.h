// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"

// The settings of a training as one table with a row per setting. Reading, writing, checking, help and flags are made
// from the rows.
//
// A kind of settings has two functions: TableOf, which makes its table, and CheckSettings, which checks the rows and
// what holds between several settings. A table refers to the settings it was made of; they must outlive it. Where a
// range depends on another setting, the row has the value of when the table was made: make the table anew after
// reading.
namespace millrace {

// Weights by name, in JSON {"a": 1, "b": 0.5}.
using WeightsByName = std::vector<std::pair<std::string, double>>;

// The values that a setting may have, and for a list or weights by name each of its elements.
struct Allowed {
  double least = 0, most = 0;           // of numbers, both included
  std::vector<std::string> words = {};  // of texts and of names; empty: any
  std::string least_of = {};            // the setting that `least` is the value of; empty: a fixed number
  bool empty = true;                    // whether a list may have no elements, and weights by name no weight > 0
};

Allowed AnyText();
Allowed Between(double least, double most);
Allowed From(const std::string& setting, double value, double most);  // from the value of that setting
Allowed OneOf(std::vector<std::string> words);
Allowed NotEmpty(Allowed elements);

struct Setting {
  std::string_view name;  // the key in JSON
  std::variant<std::string*, int*, double*, std::vector<double>*, std::vector<std::string>*, WeightsByName*> value;
  Allowed allowed;
  std::string_view meaning;  // part of a line, in lower case
};

using SettingsTable = std::vector<Setting>;

// Sets the values that the text, one JSON object, has; the others stay. Throws InvalidInput: no JSON object, a key that
// is no row's name, a value of another type.
void ReadRows(std::string_view json, const SettingsTable& table);

// Throws InvalidInput, naming the setting, where a value is not allowed.
void CheckRows(const SettingsTable& table);

// One JSON object with a line per row.
std::string RowsJson(const SettingsTable& table);

// A line per row for people: name, meaning, what is allowed, the value in JSON.
std::string RowsHelp(const SettingsTable& table);

// `value` as JSON, and what is allowed in words: "0 to 1", "one of mpnn, topoformer"; empty: anything.
std::string ValueText(const Setting& setting);
std::string AllowedText(const Setting& setting);

// The row of this name, which must be there.
const Setting& RowNamed(const SettingsTable& table, std::string_view name);

void AppendRows(const SettingsTable& rows, SettingsTable& table);

// CheckRows of a copy.
template <typename Settings>
void CheckRowsOf(Settings settings) {
  CheckRows(TableOf(settings));
}

// Throws InvalidInput as ReadRows and CheckSettings do.
template <typename Settings>
Settings ParseSettings(std::string_view text) {
  Settings settings;
  ReadRows(text, TableOf(settings));
  CheckSettings(settings);
  return settings;
}

// Throws InvalidInput, naming the file.
template <typename Settings>
Settings ReadSettings(const std::string& path) {
  const std::string text = ReadWholeFile(path, std::size_t{1} << 20);
  try {
    return ParseSettings<Settings>(text);
  } catch (const InvalidInput& error) {
    throw error.InFile(path);
  }
}

template <typename Settings>
std::string SettingsJson(Settings settings) {
  return RowsJson(TableOf(settings));
}

}  // namespace millrace

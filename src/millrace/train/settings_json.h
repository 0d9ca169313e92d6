// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/formats/json_value.h"

// Settings as one JSON object: visitors that read and write every member shown to them by name, so that one list of
// names serves both ways.
namespace millrace {

// Weights by name, as {"a": 1, "b": 0.5}.
using WeightsByName = std::vector<std::pair<std::string, double>>;

// Reads the members there are; the others keep what they have.
class SettingsReader {
 public:
  explicit SettingsReader(std::string_view text);

  void operator()(const char* name, std::string& value);
  void operator()(const char* name, int& value);
  void operator()(const char* name, double& value);
  void operator()(const char* name, std::vector<double>& value);
  void operator()(const char* name, std::vector<std::string>& value);
  void operator()(const char* name, WeightsByName& value);

  // Throws InvalidInput for a member that was not asked for.
  void RefuseOthers() const;

 private:
  JsonValue json_;
  std::vector<std::string> known_;
};

class SettingsWriter {
 public:
  void operator()(const char* name, const std::string& value);
  void operator()(const char* name, int value);
  void operator()(const char* name, double value);
  void operator()(const char* name, const std::vector<double>& value);
  void operator()(const char* name, const std::vector<std::string>& value);
  void operator()(const char* name, const WeightsByName& value);

  std::string Text() const { return text_.empty() ? "{}\n" : "{" + text_ + "\n}\n"; }

 private:
  void Name(const char* name);

  std::string text_;
};

// Throws InvalidInput, naming the setting, for a value outside.
void CheckSettingRange(const char* name, double value, double least, double most);

}  // namespace millrace

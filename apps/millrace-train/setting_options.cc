// SPDX-License-Identifier: Apache-2.0
#include "setting_options.h"
#include "command_line/limits.h"

#include <algorithm>
#include <cctype>

namespace millrace::cli {

void AddSettingOptions(CLI::App& app, const SettingsTable& table) {
  for (const Setting& row : table) {
    std::string flag = "--" + std::string(row.name);
    std::replace(flag.begin(), flag.end(), '_', '-');
    CLI::Option* option = nullptr;
    if (int* const* whole = std::get_if<int*>(&row.value)) option = app.add_option(flag, **whole, HelpOf(row));
    if (double* const* real = std::get_if<double*>(&row.value)) option = app.add_option(flag, **real, HelpOf(row));
    if (option != nullptr) option->check(AllowedBy(row))->capture_default_str();
  }
}

std::string HelpOf(const Setting& row) {
  std::string help(row.meaning);
  help.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(help.front())));
  return help;
}

CLI::Validator AllowedBy(const Setting& row) {
  if (!row.allowed.words.empty()) return CLI::IsMember(row.allowed.words);
  // Another option may change the value of another setting: CheckSettings holds this one to it.
  const double least = row.allowed.least_of.empty() ? row.allowed.least : 0;
  if (std::holds_alternative<int*>(row.value)) {
    return WholeFrom(static_cast<int>(least), static_cast<int>(row.allowed.most));
  }
  return NumberFrom(least, row.allowed.most);
}

}  // namespace millrace::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

// The verbs with their flags as plain data, for whatever is made of them: manual pages, completion.
namespace millrace::cli {

struct VerbFlag {
  std::vector<std::string> names;  // with their dashes, the long ones first
  std::string meaning;
  bool takes_value = false;
};

struct VerbPage {
  std::vector<std::string> path;  // "bench", "quality"; empty: the command itself
  std::string meaning;
  std::vector<VerbFlag> flags;
  std::vector<VerbFlag> arguments;    // those without dashes, in order
  std::vector<std::string> children;  // verbs below it

  std::string Words() const;  // of the path, with spaces between
};

// The command, then each verb, then what is below that verb, in the order of --help.
std::vector<VerbPage> PagesOf(const CLI::App& app);

}  // namespace millrace::cli

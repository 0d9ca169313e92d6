// SPDX-License-Identifier: Apache-2.0
#include "millrace/bench/flags.h"
#include "command_line/limits.h"

namespace millrace::cli {
namespace {

constexpr double kLeast = 1e-9;
constexpr double kMost = 1e9;

}  // namespace

void AddQuick(CLI::App& flags, bool& quick, const std::string& what) { flags.add_flag("--quick", quick, what); }

CLI::Option* AddMethods(CLI::App& flags, std::vector<std::string>& methods) {
  return AddList(flags, "--methods", methods, "Only these methods");
}

CLI::Option* AddSeconds(CLI::App& flags, const std::string& name, double& seconds, const std::string& what) {
  return flags.add_option(name, seconds, what)->check(NumberFrom(kLeast, kMost));
}

CLI::Option* AddData(CLI::App& flags, std::string& folder, const std::string& what) {
  return flags.add_option("--data", folder, "Folder of graphs made by others: " + what);
}

CLI::Option* AddWeights(CLI::App& flags, std::string& file) {
  return flags.add_option("--weights", file, "Weights of the gflownet; without it the ones that came with Millrace");
}

CLI::Option* AddTemperatures(CLI::App& flags, const std::string& name, std::vector<double>& temperatures,
                             const std::string& what) {
  return AddList(flags, name, temperatures, what)->check(NumberFrom(kLeast, kMost));
}

}  // namespace millrace::cli

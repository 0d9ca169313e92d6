// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

// Flags that several experiments have.
namespace millrace::cli {

// --quick; `what` is what is left of the experiment.
void AddQuick(CLI::App& flags, bool& quick, const std::string& what);

// A list with commas between its words or numbers.
template <typename Value>
CLI::Option* AddList(CLI::App& flags, const std::string& name, std::vector<Value>& values, const std::string& what) {
  return flags.add_option(name, values, what + ", with commas between")->delimiter(',');
}

// --methods: only these.
CLI::Option* AddMethods(CLI::App& flags, std::vector<std::string>& methods);

// Wall time above 0.
CLI::Option* AddSeconds(CLI::App& flags, const std::string& name, double& seconds, const std::string& what);

// --data: folder of graphs made by others.
CLI::Option* AddData(CLI::App& flags, std::string& folder, const std::string& what);

// --weights, of the gflownet.
CLI::Option* AddWeights(CLI::App& flags, std::string& file);

// A list of reward temperatures.
CLI::Option* AddTemperatures(CLI::App& flags, const std::string& name, std::vector<double>& temperatures,
                             const std::string& what);

}  // namespace millrace::cli

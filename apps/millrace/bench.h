// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "millrace/verb.h"

// The experiments, each a subcommand of `bench` in the file bench/NAME.cc, with the tables that it prints.
namespace millrace::cli {

// What an experiment does once its flags are read; the exit code.
using ExperimentRun = std::function<int()>;

// Each registers the flags of its experiment, and nobody else's, and says what it does with them. `line` outlives the
// run.
ExperimentRun AddAblation(const CommandLine& line, CLI::App& flags);
ExperimentRun AddDiversity(const CommandLine& line, CLI::App& flags);
ExperimentRun AddEngines(const CommandLine& line, CLI::App& flags);
ExperimentRun AddExactness(const CommandLine& line, CLI::App& flags);
ExperimentRun AddGeneralization(const CommandLine& line, CLI::App& flags);
ExperimentRun AddGoConvergence(const CommandLine& line, CLI::App& flags);
ExperimentRun AddGoMultitask(const CommandLine& line, CLI::App& flags);
ExperimentRun AddGoPlacement(const CommandLine& line, CLI::App& flags);
ExperimentRun AddGoTransfer(const CommandLine& line, CLI::App& flags);
ExperimentRun AddGoWorkloads(const CommandLine& line, CLI::App& flags);
ExperimentRun AddMemory(const CommandLine& line, CLI::App& flags);
ExperimentRun AddNetworks(const CommandLine& line, CLI::App& flags);
ExperimentRun AddOptimality(const CommandLine& line, CLI::App& flags);
ExperimentRun AddPortfolio(const CommandLine& line, CLI::App& flags);
ExperimentRun AddProxies(const CommandLine& line, CLI::App& flags);
ExperimentRun AddQuality(const CommandLine& line, CLI::App& flags);
ExperimentRun AddRealGraphs(const CommandLine& line, CLI::App& flags);
ExperimentRun AddRobustness(const CommandLine& line, CLI::App& flags);
ExperimentRun AddScale(const CommandLine& line, CLI::App& flags);
ExperimentRun AddSearch(const CommandLine& line, CLI::App& flags);
ExperimentRun AddTemperature(const CommandLine& line, CLI::App& flags);

}  // namespace millrace::cli

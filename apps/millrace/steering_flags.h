// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "millrace/cost/steering.h"
#include "millrace/verb.h"

// --pin, --keep and --keep-ops: what a user settles before anybody plans. --objective: what plans are to be good at.
namespace millrace::cli {

struct SteeringFlags {
  std::vector<std::string> pins;
  std::string keep;  // a plan file; empty: none
  std::vector<std::string> keep_ops;
};

void AddObjectiveOption(CLI::App& verb, std::string& objective);
void AddSteeringOptions(CLI::App& verb, SteeringFlags& flags);

// What they mean for this graph and machine. Throws InvalidInput.
Steering SteeringOf(const CommandLine& line, const SteeringFlags& flags, const ComputationGraph& graph,
                    const Machine& machine);

}  // namespace millrace::cli

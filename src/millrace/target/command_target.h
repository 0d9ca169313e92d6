// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/target/target.h"

// Any hardware as a target: a command is given the path of a plan.json and prints the seconds a run took on the last
// line of its standard output that is not blank. Seconds.
namespace millrace {

struct Command {
  std::vector<std::string> words;  // the program, looked up in PATH unless it has a slash, and its arguments
  bool append_plan = true;         // the plan's path is the last argument; else it takes the place of every {plan}
};

// A command by its words; no shell sees them. Words are separated by blanks; 'single' and "double" quotes keep blanks,
// and a backslash outside single quotes keeps the next character. Throws InvalidInput: no words, a quote left open.
Command SplitCommand(std::string_view words);

// A line for /bin/sh, which finds the plan's path in $1. Throws InvalidInput for a blank one.
Command ShellCommand(std::string_view line);

struct CommandOptions {
  double timeout_seconds = 300;               // one run; then its whole process group is killed
  std::size_t most_output_bytes = 16U << 20;  // on either stream; more is a failure
};

struct NamedCommand {
  Command command;
  CommandOptions options;
};

// The target as the user names it: cmd:WORDS or cmd-sh:LINE. Its option stands before the colon, so that no command can
// be mistaken for it: cmd,timeout=SECONDS:WORDS. Throws InvalidInput: no command, another option, a timeout that is no
// finite number > 0.
NamedCommand ParseCommandTarget(std::string_view words);

// Load writes the plan into a private folder that goes with the loaded plan. Run starts the command in its own process
// group, with standard input empty, and waits; whatever of the group outlives the command is killed. MeasurementFailed,
// with the end of its standard error: it cannot be started, exits other than 0, is killed, takes too long, says too
// much, or its last line is not a finite number > 0. On Ctrl-C the group is killed and Interrupted thrown.
//
// `name` is what the user typed. The context needs a graph and a machine, and a cost model for the plan's proxy time.
std::unique_ptr<Target> MakeCommandTarget(Command command, std::string_view name, const TargetContext& context,
                                          const CommandOptions& options = {});

}  // namespace millrace

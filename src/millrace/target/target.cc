// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/target.h"

#include "millrace/errors/errors.h"
#include "millrace/target/command_target.h"
#include "millrace/target/cpu_target.h"
#include "millrace/target/simulated_target.h"

namespace millrace {

std::unique_ptr<Target> MakeTarget(std::string_view words, const TargetContext& context) {
  const auto after = [words](std::string_view prefix) { return words.substr(prefix.size()); };
  if (words == "cpu") return MakeCpuTarget(context);
  if (words.starts_with("sim:")) return MakeSimulatedTarget(after("sim:"), context);
  if (words.starts_with("cmd:")) return MakeCommandTarget(SplitCommand(after("cmd:")), words, context);
  if (words.starts_with("cmd-sh:")) return MakeCommandTarget(ShellCommand(after("cmd-sh:")), words, context);
  throw InvalidInput("there is no target '" + std::string(words) +
                     "'; targets are cpu, sim:noise, sim:bandwidth, sim:latency, sim:contention (joined by +), "
                     "cmd:PROGRAM ARGUMENTS, cmd-sh:SHELL LINE");
}

}  // namespace millrace

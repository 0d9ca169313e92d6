// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/target.h"

#include "millrace/errors/errors.h"
#include "millrace/target/command_target.h"
#include "millrace/target/cpu_target.h"
#include "millrace/target/mpi_target.h"
#include "millrace/target/ort_target.h"
#include "millrace/target/simulated_target.h"

namespace millrace {
namespace {

constexpr std::string_view kSimulated = "sim:";

}  // namespace

std::unique_ptr<Target> MakeTarget(std::string_view words, const TargetContext& context) {
  if (words == "cpu") return MakeCpuTarget(context);
  if (words.starts_with(kSimulated)) return MakeSimulatedTarget(words.substr(kSimulated.size()), context);
  const std::string_view kind = words.substr(0, words.find_first_of(",:"));
  if (kind == "ort") return MakeOrtTarget(words, context);
  if (kind == "cmd" || kind == "cmd-sh") {
    const NamedCommand named = ParseCommandTarget(words);
    return MakeCommandTarget(named.command, words, context, named.options);
  }
  if (NamesMpi(words)) return MakeMpiTarget(words, context);
  throw InvalidInput(
      "there is no target '" + std::string(words) +
      "'; targets are cpu, ort, ort,library=PATH, sim:noise, sim:bandwidth, sim:latency, sim:contention (joined by +), "
      "cmd:PROGRAM ARGUMENTS, cmd-sh:SHELL LINE (cmd,timeout=SECONDS: for another limit than 300), mpi, mpi,emulate");
}

}  // namespace millrace

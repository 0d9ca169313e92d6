// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/machine_json.h"
#include "millrace/machine/preset.h"
#include "millrace/rank_session.h"
#include "millrace/verb.h"

namespace millrace::cli {
namespace {

constexpr double kLinkSeconds = 5;

struct MachineOptions {
  std::string words = "detect";
  std::string output;
};

int ShowMachine(const CommandLine& line, const MachineOptions& options) {
  RankSession ranks(options.words == "ranks" ? "mpi" : "");
  if (ranks.follows()) return ranks.Follow(line, "");
  const bool joined = ranks.Lead(line, "", LoadedGraph()) != nullptr;
  const std::string text = MachineJson(joined ? ranks.MeasuredMachine("this", kLinkSeconds)
                                              : LoadMachine(options.words == "detect" ? "this" : options.words));
  if (options.output.empty() || options.output == "-") {
    WriteOut(text);
    return 0;
  }
  WriteFileAtomically(options.output, text);
  if (line.common.json) PrintJson({{"output", options.output}});
  return 0;
}

}  // namespace

void AddMachine(CommandLine& line) {
  const auto options = std::make_shared<MachineOptions>();
  CLI::App* verb = AddVerb(line, "machine",
                           "Print a machine as JSON: this host's, the ranks of mpirun, one known by name, or a file's",
                           [&line, options] { return ShowMachine(line, *options); });
  verb->add_option("MACHINE", options->words,
                   "detect, ranks (of mpirun, with their links measured), a preset or a file")
      ->capture_default_str();
  verb->add_option("-o,--output", options->output, "Write it to this file instead of stdout");
  std::string footer = "Presets:\n";
  for (const std::string& preset : MachinePresetNames()) footer += "  " + preset + "\n";
  verb->footer(footer);
}

}  // namespace millrace::cli

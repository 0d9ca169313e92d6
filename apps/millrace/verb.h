// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "command_line/output.h"
#include "millrace/formats/load.h"
#include "millrace/machine/proxy.h"

// What every verb shares: its flags, how it prints, how it ends.
namespace millrace::cli {

struct CommonOptions {
  bool json = false;
  bool quiet = false;
  std::uint64_t seed = 0;
  int threads = 0;  // 0: as many as this process may use
  std::map<std::string, std::int64_t> dimensions;
};

// The command line being parsed, and what it asks for.
struct CommandLine {
  CLI::App app{
      "Millrace plans how an ML model runs on a machine: which op on which device, in which order, fused with what."};
  CommonOptions common;
  std::function<int()> action;  // set by the verb that was named; returns the exit code
};

// Gives a subcommand the flags that every verb has, and what it does: `action` runs once parsing has succeeded, unless
// a subcommand of its own was named.
void MakeVerb(CommandLine& line, CLI::App& subcommand, std::function<int()> action);

// Such a subcommand of the command itself.
CLI::App* AddVerb(CommandLine& line, const std::string& name, const std::string& description,
                  std::function<int()> action);

// --threads, or as many as this process may use where it is 0.
int ThreadsOf(const CommonOptions& common);

// One per verb, in a file of its name.
void AddBench(CommandLine& line);
void AddCompare(CommandLine& line);
void AddCompletion(CommandLine& line);
void AddConvert(CommandLine& line);
void AddExplain(CommandLine& line);
void AddExport(CommandLine& line);
void AddGenerate(CommandLine& line);
void AddInspect(CommandLine& line);
void AddMachine(CommandLine& line);
void AddManual(CommandLine& line);
void AddMeasure(CommandLine& line);
void AddOptimize(CommandLine& line);
void AddReport(CommandLine& line);
void AddRun(CommandLine& line);
void AddSchedule(CommandLine& line);
void AddSimulate(CommandLine& line);
void AddTrain(CommandLine& line);

// All of the above, in the order help lists them.
void AddVerbs(CommandLine& line);

// Help and version go to stdout with exit code 0; a usage error is one line on stderr and exit code 2.
int ExplainUsage(const CommandLine& line, const CLI::ParseError& error);

// The flag --proxy; empty where it is not given.
void AddProxyOption(CLI::App& verb, std::optional<Proxy>& proxy);

// Loads a graph and prints its warnings to stderr.
LoadedGraph LoadWithWarnings(const CommandLine& line, const std::string& path);

}  // namespace millrace::cli

// SPDX-License-Identifier: Apache-2.0
#include "millrace/verb.h"

#include <fmt/core.h>

#include <limits>
#include <string_view>

#include "command_line/ending.h"
#include "command_line/limits.h"
#include "millrace/errors/shown.h"
#include "millrace/formats/text_lines.h"
#include "millrace/machine/detect.h"
#include "millrace/version_line.h"

namespace millrace::cli {
namespace {

void AddDimension(CommonOptions& common, const std::string& words) {
  const std::size_t equals = words.find('=');
  const std::optional<std::int64_t> size =
      equals == std::string::npos ? std::nullopt : NumberIn<std::int64_t>(std::string_view(words).substr(equals + 1));
  if (!size || *size <= 0) {
    throw CLI::ValidationError("--dim", fmt::format("'{}' is not NAME=SIZE with a size from 1 to {}", Shown(words),
                                                    std::numeric_limits<std::int64_t>::max()));
  }
  common.dimensions[words.substr(0, equals)] = *size;
}

}  // namespace

void MakeVerb(CommandLine& line, CLI::App& subcommand, std::function<int()> action) {
  CommonOptions& common = line.common;
  subcommand.option_defaults()->group("Every verb");
  subcommand.add_flag("--json", common.json, "Print one JSON object on stdout");
  subcommand.add_flag("-q,--quiet", common.quiet, "Say nothing but the result and errors");
  AddSeed(subcommand, common.seed, "Same seed, same answer");
  subcommand.add_option("--threads", common.threads, "Threads to use; 0: all that this process may")
      ->check(WholeFrom(0, 4096));
  subcommand
      .add_option_function<std::vector<std::string>>(
          "--dim",
          [&common](const std::vector<std::string>& all) {
            for (const std::string& words : all) AddDimension(common, words);
          },
          "NAME=SIZE binds a symbolic dimension of an ONNX model (repeatable)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  subcommand.option_defaults()->group("Options");
  subcommand.callback([&line, &subcommand, action = std::move(action)] {
    if (subcommand.get_subcommands().empty()) line.action = action;
  });
}

CLI::App* AddVerb(CommandLine& line, const std::string& name, const std::string& description,
                  std::function<int()> action) {
  CLI::App* verb = line.app.add_subcommand(name, description);
  MakeVerb(line, *verb, std::move(action));
  return verb;
}

void AddProxyOption(CLI::App& verb, std::optional<Proxy>& proxy) {
  verb.add_option_function<std::string>(
          "--proxy", [&proxy](const std::string& name) { proxy = ProxyNamed(name); },
          "What plans are judged by: linear, or contended, where links that share a channel wait for each other "
          "(without it contended where the machine names channels; where a plan is given, its own)")
      ->check(CLI::IsMember({"linear", "contended"}));
}

int ThreadsOf(const CommonOptions& common) { return common.threads > 0 ? common.threads : UsableProcessors(); }

void AddVerbs(CommandLine& line) {
  line.app.name("millrace");
  line.app.set_version_flag("--version", VersionLine());
  line.app.require_subcommand(1);
  AddBench(line);
  AddCompare(line);
  AddCompletion(line);
  AddConvert(line);
  AddExplain(line);
  AddExport(line);
  AddGenerate(line);
  AddInspect(line);
  AddMachine(line);
  AddManual(line);
  AddMeasure(line);
  AddOptimize(line);
  AddReport(line);
  AddRun(line);
  AddSchedule(line);
  AddSimulate(line);
  AddTrain(line);
}

int ExplainUsage(const CommandLine& line, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return line.app.exit(error);
  const CLI::App* named = &line.app;  // the innermost subcommand that was
  std::string words = named->get_name();
  while (!named->get_subcommands().empty()) {
    named = named->get_subcommands().front();
    words += " " + named->get_name();
  }
  const bool has_subcommands = !named->get_subcommands([](const CLI::App*) { return true; }).empty();
  const std::vector<std::string> strangers = named->remaining();
  const bool misnamed = has_subcommands && !strangers.empty() && strangers.front().front() != '-';
  const char* kind = named == &line.app ? "verb" : named->get_name() == "export" ? "engine" : "experiment";
  const std::string what =
      misnamed ? fmt::format("there is no {} '{}'", kind, strangers.front()) : std::string(error.what());
  return ComplainOfUsage("millrace", fmt::format("{}; {} --help lists {}", what, words,
                                                 has_subcommands ? fmt::format("the {}s", kind) : "its flags"));
}

LoadedGraph LoadWithWarnings(const CommandLine& line, const std::string& path) {
  LoadedGraph loaded = LoadGraph(path, line.common.dimensions);
  if (!line.common.quiet) {
    for (const std::string& warning : loaded.warnings) Warn(fmt::format("{}: {}", path, warning));
  }
  return loaded;
}

}  // namespace millrace::cli

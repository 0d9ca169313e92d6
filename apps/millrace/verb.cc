// SPDX-License-Identifier: Apache-2.0
#include "millrace/verb.h"

#include <fmt/core.h>

#include <cstdio>

#include "millrace/errors/errors.h"
#include "millrace/machine/detect.h"

namespace millrace::cli {
namespace {

void AddDimension(CommonOptions& common, const std::string& words) {
  const std::size_t equals = words.find('=');
  std::int64_t size = 0;
  if (equals == std::string::npos || !CLI::detail::lexical_cast(words.substr(equals + 1), size) || size <= 0) {
    throw CLI::ValidationError("--dim", "'" + words + "' is not NAME=SIZE with a size > 0");
  }
  common.dimensions[words.substr(0, equals)] = size;
}

}  // namespace

CLI::App* AddVerb(CommandLine& line, const std::string& name, const std::string& description,
                  std::function<int()> action) {
  CLI::App* verb = line.app.add_subcommand(name, description);
  CommonOptions& common = line.common;
  verb->add_flag("--json", common.json, "Print one JSON object on stdout");
  verb->add_flag("-q,--quiet", common.quiet, "Say nothing but the result and errors");
  verb->add_flag("-v,--verbose", common.verbose, "Say more on stderr");
  verb->add_option("--seed", common.seed, "Same seed, same answer")->capture_default_str();
  verb->add_option("--threads", common.threads, "Threads to use; 0: all that this process may")
      ->check(CLI::Range(0, 4096));
  verb->add_option_function<std::vector<std::string>>(
          "--dim",
          [&common](const std::vector<std::string>& all) {
            for (const std::string& words : all) AddDimension(common, words);
          },
          "NAME=SIZE binds a symbolic dimension of an ONNX model (repeatable)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->callback([&line, action = std::move(action)] { line.action = action; });
  return verb;
}

int ThreadsOf(const CommonOptions& common) { return common.threads > 0 ? common.threads : UsableProcessors(); }

void AddVerbs(CommandLine& line) {
  line.app.name("millrace");
  line.app.set_version_flag("--version", "millrace " MILLRACE_VERSION);
  line.app.require_subcommand(1);
  AddBench(line);
  AddConvert(line);
  AddGenerate(line);
  AddInspect(line);
  AddMachine(line);
  AddMeasure(line);
  AddOptimize(line);
  AddRun(line);
  AddSchedule(line);
  AddSimulate(line);
  AddTrain(line);
}

int ExplainUsage(const CommandLine& line, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return line.app.exit(error);
  const std::vector<std::string> strangers = line.app.remaining();
  const bool no_verb = line.app.get_subcommands().empty() && !strangers.empty();
  const std::string what = no_verb ? "there is no verb '" + strangers.front() + "'" : error.what();
  fmt::print(stderr, "millrace: {}; millrace --help lists the verbs, millrace VERB --help its flags\n", what);
  return 2;
}

LoadedGraph LoadWithWarnings(const CommandLine& line, const std::string& path) {
  LoadedGraph loaded = LoadGraph(path, line.common.dimensions);
  if (!line.common.quiet) {
    for (const std::string& warning : loaded.warnings) fmt::print(stderr, "millrace: warning: {}: {}\n", path, warning);
  }
  return loaded;
}

void PrintJson(const nlohmann::ordered_json& object) {
  const std::string text = object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw WorkFailed("stdout: could not write the result");
  }
}

}  // namespace millrace::cli

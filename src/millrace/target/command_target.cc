// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/command_target.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "millrace/cost/costed_graph.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/plan_json.h"
#include "millrace/formats/text_lines.h"
#include "millrace/plan/hash.h"
#include "millrace/simulate/timeline.h"
#include "millrace/target/child_process.h"

namespace millrace {
namespace {

constexpr std::string_view kPlanPlace = "{plan}";
constexpr std::size_t kMostQuoted = 200;
constexpr std::string_view kBlank = " \t\r\n\v\f";

// The last line that is not blank, without the blanks around it.
std::string_view LastLine(std::string_view text) {
  const std::size_t last = text.find_last_not_of(kBlank);
  if (last == std::string_view::npos) return {};
  text = text.substr(0, last + 1);
  const std::size_t before = text.find_last_of('\n');
  if (before != std::string_view::npos) text.remove_prefix(before + 1);
  text.remove_prefix(text.find_first_not_of(kBlank));
  return text;
}

std::string Quoted(std::string_view text) { return "'" + Shown(text, kMostQuoted) + "'"; }

// A folder nobody else can enter, gone with this object.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::error_code error;
    path_ = (std::filesystem::temp_directory_path(error) / "millrace-XXXXXX").string();
    if (error || mkdtemp(path_.data()) == nullptr) {
      throw WorkFailed("cannot make a temporary folder for a plan: " +
                       std::string(error ? error.message() : std::strerror(errno)) + "; does TMPDIR name a folder?");
    }
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

double SecondsOf(const ChildResult& result, const std::string& name, const ChildLimits& limits) {
  std::string problem;
  switch (result.ending) {
    case ChildEnding::kNotStarted:
      throw MeasurementFailed(fmt::format("{}: it cannot be started: {}", name, std::strerror(result.code)));
    case ChildEnding::kTimedOut:
      problem = fmt::format("it did not end within {} seconds and was killed", limits.seconds);
      break;
    case ChildEnding::kTooMuchOutput:
      problem = fmt::format("it wrote more than {} bytes and was killed", limits.output_bytes);
      break;
    case ChildEnding::kKilled:
      problem = fmt::format("it was killed by signal {} ({})", result.code, strsignal(result.code));
      break;
    case ChildEnding::kExited:
      if (result.code != 0) problem = fmt::format("it ended with exit status {}", result.code);
      break;
  }
  if (problem.empty()) {
    const std::string_view line = LastLine(result.output);
    if (const std::optional<double> seconds = TimeIn(line)) return *seconds;
    problem = line.empty() ? "it printed nothing; the last line must be the seconds a run took"
                           : fmt::format("its last line, {}, is not a number of seconds > 0 (at least {:g})",
                                         Quoted(line), kLeastTime);
  }
  const std::string_view said = LastLine(result.errors);
  throw MeasurementFailed(
      fmt::format("{}: {}{}", name, problem, said.empty() ? "" : "; its last words: " + Quoted(said)));
}

double TimeoutIn(std::string_view options, std::string_view head) {
  constexpr std::string_view kOption = ",timeout=";
  if (options.starts_with(kOption)) {
    if (const double seconds = CostIn(options.substr(kOption.size())).value_or(0); seconds > 0) return seconds;
  }
  throw InvalidInput(fmt::format(
      "target {}: what may stand between a comma and the colon is timeout=SECONDS, a number > 0: {},timeout=60:...",
      head, head.substr(0, head.find(','))));
}

class CommandPlan final : public LoadedPlan {
 public:
  CommandPlan(const Command& command, std::string name, const CommandOptions& options, const PlanRecord& record)
      : name_(std::move(name)),
        words_(command.words),
        limits_{.seconds = options.timeout_seconds, .output_bytes = options.most_output_bytes} {
    const std::string path = folder_.path() + "/plan.json";
    WriteFileAtomically(path, PlanJson(record));
    if (command.append_plan) {
      words_.push_back(path);
      return;
    }
    for (std::string& word : words_) {
      for (std::size_t at = word.find(kPlanPlace); at != std::string::npos;
           at = word.find(kPlanPlace, at + path.size()))
        word.replace(at, kPlanPlace.size(), path);
    }
  }

  double Run() override { return SecondsOf(RunChild(words_, limits_), name_, limits_); }

 private:
  std::string name_;
  PrivateFolder folder_;
  std::vector<std::string> words_;
  ChildLimits limits_;
};

class CommandTarget final : public Target {
 public:
  CommandTarget(Command command, std::string_view name, const TargetContext& context, const CommandOptions& options)
      : command_(std::move(command)),
        name_(name),
        context_(context),
        options_(options),
        graph_hash_(GraphHash(*context.graph)) {}

  std::string name() const override { return name_; }
  bool deterministic() const override { return false; }

  std::unique_ptr<LoadedPlan> Load(const Plan& plan) override {
    PlanRecord record;
    record.plan = plan;
    record.graph_name = context_.graph->name();
    record.graph_hash = graph_hash_;
    record.machine = *context_.machine;
    record.method = "candidate";
    record.seed = context_.seed;
    if (context_.cost != nullptr) {
      record.proxy_seconds =
          MakeTimeline(MakeCostedGraph(*context_.cost, plan.groups), {plan.placement, plan.sequence}).makespan;
    }
    try {
      return std::make_unique<CommandPlan>(command_, name_, options_, record);
    } catch (const Interrupted&) {
      throw;
    } catch (const WorkFailed& failure) {
      throw MeasurementFailed(name_ + ": " + failure.what());
    }
  }

 private:
  Command command_;
  std::string name_;
  TargetContext context_;
  CommandOptions options_;
  std::string graph_hash_;
};

}  // namespace

Command SplitCommand(std::string_view words) {
  Command command;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const char c = words[i];
    const bool blank = kBlank.find(c) != std::string_view::npos;
    if (quote == 0 && blank) {
      if (in_word) command.words.push_back(std::exchange(word, {}));
      in_word = false;
      continue;
    }
    in_word = true;
    if (c == '\\' && quote != '\'' && i + 1 < words.size()) {
      word += words[++i];
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else {
      word += c;
    }
  }
  if (quote != 0) throw InvalidInput(fmt::format("target cmd:{}: a quote {} is left open", words, quote));
  if (in_word) command.words.push_back(word);
  if (command.words.empty() || command.words.front().empty())
    throw InvalidInput("target cmd: names no program; write cmd:PROGRAM ARGUMENTS");
  command.append_plan = std::none_of(command.words.begin(), command.words.end(), [](const std::string& each) {
    return each.find(kPlanPlace) != std::string::npos;
  });
  return command;
}

Command ShellCommand(std::string_view line) {
  if (line.find_first_not_of(kBlank) == std::string_view::npos)
    throw InvalidInput("target cmd-sh: has no shell line; write cmd-sh:LINE, which finds the plan's path in $1");
  return {{"/bin/sh", "-c", std::string(line), "millrace"}, true};
}

NamedCommand ParseCommandTarget(std::string_view words) {
  const std::size_t colon = words.find(':');
  const std::string_view head = words.substr(0, colon);
  const std::string_view command = colon == std::string_view::npos ? std::string_view() : words.substr(colon + 1);
  const std::size_t comma = head.find(',');
  NamedCommand named;
  if (comma != std::string_view::npos) named.options.timeout_seconds = TimeoutIn(head.substr(comma), head);
  named.command = head.substr(0, comma) == "cmd-sh" ? ShellCommand(command) : SplitCommand(command);
  return named;
}

std::unique_ptr<Target> MakeCommandTarget(Command command, std::string_view name, const TargetContext& context,
                                          const CommandOptions& options) {
  if (context.graph == nullptr || context.machine == nullptr)
    throw InvalidInput("a command target needs a graph and a machine");
  return std::make_unique<CommandTarget>(std::move(command), name, context, options);
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/go/go_record.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "millrace/formats/atomic_file.h"
#include "millrace/formats/json_lines.h"
#include "millrace/formats/json_write.h"

namespace millrace {
namespace {

constexpr std::string_view kRecordFormat = "millrace.go-record";

void AppendFlag(std::string& out, std::string_view name, bool flag) {
  AppendJsonName(out, name);
  out += flag ? "true" : "false";
}

void AppendOutcome(std::string& out, const GoQuestion& question, const GoOutcome& outcome) {
  out += '{';
  AppendJsonMember(out, "workload", question.workload);
  AppendJsonMember(out, "method", question.method);
  AppendJsonMember(out, "budget", question.budget);
  AppendJsonName(out, "seed");
  out += fmt::format("{}", question.seed);
  AppendFlag(out, "planned", outcome.planned);
  AppendFlag(out, "fits", outcome.fits);
  AppendJsonMember(out, "seconds", outcome.seconds);
  AppendJsonMember(out, "wall_seconds", outcome.wall_seconds);
  out += "}\n";
}

GoOutcome ReadOutcome(const JsonPlace& line) {
  GoOutcome outcome;
  outcome.planned = line.Member("planned").Boolean();
  outcome.fits = line.Member("fits").Boolean();
  if (outcome.fits && !outcome.planned) line.Member("fits").Refuse("true where there is no plan");
  outcome.seconds = outcome.fits ? line.Member("seconds").Time() : line.Member("seconds").Cost();
  outcome.wall_seconds = line.Member("wall_seconds").Cost();
  return outcome;
}

}  // namespace

GoRecord::GoRecord(std::string file, std::string settings) : file_(std::move(file)), settings_(std::move(settings)) {
  if (std::filesystem::exists(file_)) {
    Read(ReadWholeFile(file_));
  } else {
    Write();  // a folder that is not there is better known before the first hour than after it
  }
}

void GoRecord::Read(std::string_view text) {
  bool begun = false;
  ReadJsonLines(text, file_, [this, &begun](const JsonPlace& line) {
    if (!begun || line.Optional("format")) {
      CheckFormat(line, kRecordFormat);
      const JsonPlace settings = line.Member("settings");
      if (settings.Text() != settings_) {
        settings.Refuse(fmt::format("'{}', where this run has '{}'; give another file", settings.Text(), settings_));
      }
      begun = true;
      return;
    }
    const GoQuestion question = {line.Member("workload").Text(), line.Member("method").Text(),
                                 line.Member("budget").Text(), line.Member("seed").Unsigned()};
    outcomes_[question] = ReadOutcome(line);
  });
}

void GoRecord::Write() const {
  std::string text = "{";
  AppendJsonMember(text, "format", kRecordFormat);
  AppendJsonMember(text, "version", std::int32_t{1});
  AppendJsonMember(text, "settings", settings_);
  text += "}\n";
  for (const auto& [question, outcome] : outcomes_) AppendOutcome(text, question, outcome);
  WriteFileAtomically(file_, text);
}

std::optional<GoOutcome> GoRecord::Find(const GoQuestion& question) const {
  const auto found = outcomes_.find(question);
  if (found == outcomes_.end()) return std::nullopt;
  return found->second;
}

void GoRecord::Add(const GoQuestion& question, const GoOutcome& outcome) {
  outcomes_[question] = outcome;
  if (!file_.empty()) Write();
}

}  // namespace millrace

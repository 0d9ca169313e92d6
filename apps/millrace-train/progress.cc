// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

#include "millrace/errors/errors.h"
#include "millrace/formats/json_write.h"

namespace millrace::cli {
namespace {

constexpr double kSecondsBetweenLines = 0.5;
constexpr int kUpdatesBetweenRecords = 10;

std::string Number(double value) {
  std::string text;
  AppendJsonNumber(text, value);
  return text;
}

}  // namespace

Progress::Progress(const std::string& log, bool quiet)
    : log_path_(log), quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {
  if (log.empty()) return;
  log_.open(log, std::ios::app);
  if (!log_) throw InvalidInput(log + ": cannot be opened to write the log to");
}

void Progress::OnUpdate(const UpdateReport& report) {
  if (log_.is_open() && report.update % kUpdatesBetweenRecords == 0) {
    Log(fmt::format(
        R"({{"update":{},"seconds":{},"loss":{},"best":{},"mean":{},"gradient_norm":{},"expert_log_probability":{},)"
        R"("learning_rate":{},"plans_per_second":{},"updates_per_second":{},"rollout_share":{},"learner_share":{}}})",
        report.update, Number(report.seconds), Number(report.loss), Number(report.best), Number(report.mean),
        Number(report.gradient_norm), Number(report.expert_log_probability), Number(report.learning_rate),
        Number(report.plans_per_second), Number(report.updates_per_second), Number(report.rollout_share),
        Number(report.learner_share)));
  }
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || quiet_ || std::chrono::duration<double>(now - shown_).count() < kSecondsBetweenLines) return;
  shown_ = now;
  fmt::print(stderr,
             "\rupdate {}: loss {:.4g}, best {:.3f} and mean {:.3f} x HEFT, {:.1f} updates/s, {:.0f} plans/s   ",
             report.update, report.loss, report.best, report.mean, report.updates_per_second, report.plans_per_second);
  std::fflush(stderr);
  line_shown_ = true;
}

void Progress::OnValidation(const UpdateReport& report, const std::vector<ValidationScore>& scores, bool best) {
  for (const ValidationScore& score : scores) {
    if (!log_.is_open()) break;
    std::string cell;
    AppendJsonText(cell, score.cell.empty() ? "all" : score.cell);
    Log(fmt::format(
        R"({{"validation":{},"update":{},"seconds":{},"temperature":{},"best":{},"mean":{},"greedy":{},"wins":{},)"
        R"("different":{},"distance":{}}})",
        cell, report.update, Number(report.seconds), Number(score.temperature), Number(score.best), Number(score.mean),
        Number(score.greedy), Number(score.wins), Number(score.different), Number(score.distance)));
  }
  if (quiet_) return;
  ClearLine();
  const ValidationScore& overall = Overall(scores);
  fmt::print(stderr,
             "update {}, {:.0f} s: unseen graphs at temperature {:g}: best {:.4f}, mean {:.4f}, greedy {:.4f} x HEFT, "
             "better on {:.0f} %; {:.1f} updates/s{}\n",
             report.update, report.seconds, overall.temperature, overall.best, overall.mean, overall.greedy,
             100 * overall.wins, report.updates_per_second, best ? " (kept)" : "");
}

void Progress::ClearLine() {
  if (line_shown_) fmt::print(stderr, "\r{:110}\r", "");
  line_shown_ = false;
}

void Progress::Log(const std::string& line) {
  log_ << line << '\n' << std::flush;
  if (!log_) throw WorkFailed(log_path_ + ": the log cannot be written");
}

}  // namespace millrace::cli

// SPDX-License-Identifier: Apache-2.0
#include "gflownet_progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

#include "millrace/formats/json_write.h"

namespace millrace::cli {
namespace {

constexpr double kSecondsBetweenLines = 0.5;
constexpr int kUpdatesBetweenRecords = 10;

}  // namespace

GFlowNetProgress::GFlowNetProgress(const std::string& log, bool quiet)
    : log_(log), quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

void GFlowNetProgress::OnUpdate(const GFlowNetReport& report) {
  if (report.update % kUpdatesBetweenRecords == 0) {
    log_.Write(fmt::format(
        R"({{"update":{},"seconds":{},"loss":{},"best":{},"mean":{},"gradient_norm":{},)"
        R"("demonstration_log_probability":{},"learning_rate":{},"plans_per_second":{},"updates_per_second":{},)"
        R"("rollout_share":{},"learner_share":{}}})",
        report.update, JsonNumberOrNull(report.seconds), JsonNumberOrNull(report.loss), JsonNumberOrNull(report.best),
        JsonNumberOrNull(report.mean), JsonNumberOrNull(report.gradient_norm),
        JsonNumberOrNull(report.demonstration_log_probability), JsonNumberOrNull(report.learning_rate),
        JsonNumberOrNull(report.plans_per_second), JsonNumberOrNull(report.updates_per_second),
        JsonNumberOrNull(report.rollout_share), JsonNumberOrNull(report.learner_share)));
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

void GFlowNetProgress::OnValidation(const GFlowNetReport& report, const std::vector<ValidationScore>& scores,
                                    bool kept) {
  for (const ValidationScore& score : scores) {
    std::string cell;
    AppendJsonText(cell, score.cell.empty() ? "all" : score.cell);
    log_.Write(fmt::format(
        R"({{"validation":{},"update":{},"seconds":{},"temperature":{},"best":{},"mean":{},"greedy":{},"resampled":{},"wins":{},)"
        R"("different":{},"distance":{}}})",
        cell, report.update, JsonNumberOrNull(report.seconds), JsonNumberOrNull(score.temperature),
        JsonNumberOrNull(score.best), JsonNumberOrNull(score.mean), JsonNumberOrNull(score.greedy),
        JsonNumberOrNull(score.resampled), JsonNumberOrNull(score.wins), JsonNumberOrNull(score.different),
        JsonNumberOrNull(score.distance)));
  }
  if (quiet_) return;
  ClearLine();
  const ValidationScore& overall = Overall(scores);
  fmt::print(stderr,
             "update {}, {:.0f} s: unseen graphs at temperature {:g}: best {:.4f}, mean {:.4f}, greedy {:.4f}, "
             "resampled {:.4f} x HEFT, better on {:.0f} %; {:.1f} updates/s{}\n",
             report.update, report.seconds, overall.temperature, overall.best, overall.mean, overall.greedy,
             overall.resampled, 100 * overall.wins, report.updates_per_second, kept ? " (kept)" : "");
}

void GFlowNetProgress::OnExactness(const GFlowNetReport& report, const std::vector<ExactnessScore>& scores, bool kept) {
  std::string shown;
  for (const ExactnessScore& score : scores) {
    log_.Write(fmt::format(
        R"({{"validation":"exactness","update":{},"seconds":{},"temperature":{},"total_variation":{},"worst":{},"divergence":{}}})",
        report.update, JsonNumberOrNull(report.seconds), JsonNumberOrNull(score.temperature),
        JsonNumberOrNull(score.mean), JsonNumberOrNull(score.worst), JsonNumberOrNull(score.divergence)));
    shown +=
        fmt::format("{} {:.3f} ({:.3f}) at {:g}", shown.empty() ? "" : ",", score.mean, score.worst, score.temperature);
  }
  if (quiet_) return;
  ClearLine();
  fmt::print(stderr, "update {}, {:.0f} s: unseen graphs, total variation, mean (worst):{}; {:.1f} updates/s{}\n",
             report.update, report.seconds, shown, report.updates_per_second, kept ? " (kept)" : "");
}

void GFlowNetProgress::ClearLine() {
  if (line_shown_) fmt::print(stderr, "\r{:110}\r", "");
  line_shown_ = false;
}

}  // namespace millrace::cli

// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "millrace/report/readable.h"

namespace millrace {

ProgressBar::ProgressBar(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() { Clear(); }

bool ProgressBar::Begin(std::string_view stage, bool anew) {
  if (quiet_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (stage != stage_) {
    anew = true;
    stage_ = stage;
    stage_start_ = now;
    if (!terminal_) fmt::print(stderr, "millrace: {}\n", stage);
  }
  if (!terminal_) return false;
  if (!anew && now - last_drawn_ < std::chrono::milliseconds(50)) return false;
  last_drawn_ = now;
  return true;
}

void ProgressBar::Draw(std::string_view words, double share, std::string_view numbers) {
  constexpr int kCells = 30;
  const int filled = std::clamp(static_cast<int>(kCells * share), 0, kCells);
  fmt::print(stderr, "\r\x1b[K{:<8} [{:#<{}}{:.<{}}] {}", words, "", filled, "", kCells - filled, numbers);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::Show(std::string_view stage, int done, int total) {
  if (!Begin(stage, done >= total)) return;
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - stage_start_).count();
  Draw(stage, total > 0 ? static_cast<double>(done) / total : 0, fmt::format("{}/{} {:.1f} s", done, total, elapsed));
}

void ProgressBar::Show(const OptimizeStep& step) {
  if (!Begin(step.stage, step.method != method_)) return;
  method_ = step.method;
  const std::string words = method_.empty() ? std::string(step.stage) : fmt::format("{}: {}", step.stage, method_);
  std::string numbers = fmt::format("{:.0f} %", 100 * step.done);
  if (step.seconds_left) numbers += fmt::format(", {} s left", ReadableNumber(*step.seconds_left, 0));
  Draw(words, step.done, numbers);
}

void ProgressBar::Clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace millrace

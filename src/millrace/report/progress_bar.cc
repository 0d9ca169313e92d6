// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace millrace {

ProgressBar::ProgressBar(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() { Clear(); }

void ProgressBar::Show(std::string_view stage, int done, int total) {
  if (quiet_) return;
  const auto now = std::chrono::steady_clock::now();
  const bool new_stage = stage != stage_;
  if (new_stage) {
    stage_ = stage;
    stage_start_ = now;
    if (!terminal_) fmt::print(stderr, "millrace: {}\n", stage);
  }
  if (!terminal_) return;
  if (!new_stage && done < total && now - last_drawn_ < std::chrono::milliseconds(50)) return;
  last_drawn_ = now;
  constexpr int kCells = 30;
  const int filled = total > 0 ? std::clamp(kCells * done / total, 0, kCells) : 0;
  const double elapsed = std::chrono::duration<double>(now - stage_start_).count();
  fmt::print(stderr, "\r\x1b[K{:<8} [{:#<{}}{:.<{}}] {}/{} {:.1f} s", stage, "", filled, "", kCells - filled, done,
             total, elapsed);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::Clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace millrace

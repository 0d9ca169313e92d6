// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "millrace/optimize/optimize.h"

// Progress on stderr: a bar that redraws itself on a terminal; elsewhere one line when a stage begins.
namespace millrace {

class ProgressBar {
 public:
  // Silent where `quiet`.
  explicit ProgressBar(bool quiet);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Redraws at most some twenty times a second, so it may be called after every run.
  void Show(std::string_view stage, int done, int total);

  // The same of an optimisation, whose bar is that of the whole run.
  void Show(const OptimizeStep& step);

  // Wipes the bar, so that what is printed next stands on a clean line.
  void Clear();

 private:
  // Is it time to draw? Says so elsewhere than on a terminal when the stage begins.
  bool Begin(std::string_view stage, bool anew);
  void Draw(std::string_view words, double share, std::string_view numbers);

  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  std::string stage_;
  std::string method_;
  std::chrono::steady_clock::time_point stage_start_;
  std::chrono::steady_clock::time_point last_drawn_;
};

}  // namespace millrace

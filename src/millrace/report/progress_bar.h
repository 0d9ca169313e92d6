// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

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

  // Wipes the bar, so that what is printed next stands on a clean line.
  void Clear();

 private:
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  std::string stage_;
  std::chrono::steady_clock::time_point stage_start_;
  std::chrono::steady_clock::time_point last_drawn_;
};

}  // namespace millrace

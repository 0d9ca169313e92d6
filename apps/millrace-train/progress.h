// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "millrace/train/trainer.h"

// What a training says while it runs: one line that is written over on a terminal, a line per validation, and a log of
// JSON lines where one is asked for.
namespace millrace::cli {

class Progress : public TrainingObserver {
 public:
  // Lines are appended to `log` (empty: none). Throws InvalidInput where it cannot be opened.
  Progress(const std::string& log, bool quiet);

  void OnUpdate(const UpdateReport& report) override;
  void OnValidation(const UpdateReport& report, const std::vector<ValidationScore>& scores, bool best) override;

 private:
  void ClearLine();
  void Log(const std::string& line);

  std::ofstream log_;
  std::string log_path_;
  bool quiet_;
  bool terminal_;
  bool line_shown_ = false;
  std::chrono::steady_clock::time_point shown_{};
};

}  // namespace millrace::cli

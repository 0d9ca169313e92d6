// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "json_lines.h"
#include "millrace/train/gflownet/trainer.h"

// What a training of the GFlowNet says while it runs: one line that is written over on a terminal, a line per
// validation, and a log of JSON lines where one is asked for.
namespace millrace::cli {

class GFlowNetProgress : public GFlowNetObserver {
 public:
  // Lines are appended to `log` (empty: none). Throws InvalidInput where it cannot be opened.
  GFlowNetProgress(const std::string& log, bool quiet);

  void OnUpdate(const GFlowNetReport& report) override;
  void OnValidation(const GFlowNetReport& report, const std::vector<ValidationScore>& scores, bool kept) override;
  void OnExactness(const GFlowNetReport& report, const std::vector<ExactnessScore>& scores, bool kept) override;

 private:
  void ClearLine();

  JsonLog log_;
  bool quiet_;
  bool terminal_;
  bool line_shown_ = false;
  std::chrono::steady_clock::time_point shown_{};
};

}  // namespace millrace::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/engines/llama/llama_bench.h"
#include "millrace/target/records.h"

// Runs of llama-bench with a memory: what was measured is kept in a records file after each run, and found there by a
// later one. Seconds.
namespace millrace {

struct LlamaTimes {
  std::vector<double> token_seconds;
  std::vector<double> prompt_seconds;
};

class LlamaRuns {
 public:
  // `hosts` names the machines that times hold for. Throws InvalidInput for a records file that cannot be read.
  LlamaRuns(std::string records, std::string graph_hash, std::string hosts);

  // What is known of these devices under this setting, from records too. Times for one purpose are not taken for
  // another.
  LlamaTimes Known(const std::string& purpose, const LlamaBenchSetting& setting, const LlamaDevices& devices) const;

  // Runs once more, and again once if that fails; keeps the times under `method`. Throws MeasurementFailed for the
  // second failure, WorkFailed where the records cannot be written.
  LlamaBenchAnswer Run(const std::string& purpose, const LlamaBenchSetting& setting, const LlamaDevices& devices,
                       bool log, const std::string& method);

  int recalled() const { return recalled_; }  // times taken from the records of an earlier run
  const std::vector<std::string>& warnings() const { return records_.warnings(); }

 private:
  void Add(const std::string& target, const std::string& plan, const std::vector<double>& times,
           const std::string& method);

  Records records_;
  std::string graph_hash_, hosts_;
  int recalled_ = 0;
};

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/experiments/table.h"
#include "millrace/target/disturbance.h"
#include "millrace/verb.h"

// How experiments print: what was run where and when, then tables.
namespace millrace::cli {

// Processors this process may use, or fewer where --threads says so.
int ThreadsOf(const CommandLine& line);

// Notes what any table has to name. Made when the experiment begins.
class BenchAccount {
 public:
  BenchAccount(const CommandLine& line, int threads);

  // One more line, "64 samples each".
  void Note(const std::string& words) { notes_.push_back(words); }

  // All of them, a space between.
  std::string Notes() const;

  // Markdown, or with --json one object: command, processor, processors, threads, date, seed, notes, wall_seconds,
  // share_of_others (of the processors' time, that went to other processes) and tables by name, each a list of objects.
  void Print(const std::vector<Table>& tables) const;

 private:
  const CommandLine& line_;
  int threads_;
  std::string date_;
  double begin_ = 0;
  DisturbanceWatch watch_;
  std::vector<std::string> notes_;
};

}  // namespace millrace::cli

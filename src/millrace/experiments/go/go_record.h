// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

// What a method's plan for a workload came to, and a file of such outcomes: an experiment of hours that is stopped goes
// on where it was, and parts of it that ran side by side are put together by joining their files. Seconds.
namespace millrace {

struct GoOutcome {
  bool planned = false;  // false: the method found no plan
  bool fits = false;     // in memory; false with a plan: OOM
  double seconds = 0;    // under contention
  double wall_seconds = 0;
};

// Which outcome it is.
struct GoQuestion {
  std::string workload;
  std::string method;
  std::string budget;      // of the method, in words
  std::uint64_t seed = 0;  // that the method was given

  friend bool operator<(const GoQuestion& a, const GoQuestion& b) {
    return std::tie(a.workload, a.method, a.budget, a.seed) < std::tie(b.workload, b.method, b.budget, b.seed);
  }
};

// JSON lines: {"format": "millrace.go-record", "version": 1, "settings": TEXT}, then {"workload", "method",
// "budget", "seed", "planned", "fits", "seconds", "wall_seconds"} for each outcome. The first may come again, as it
// does in files that were joined; of two lines for one question the later counts.
class GoRecord {
 public:
  // Kept nowhere but in memory.
  GoRecord() = default;

  // Reads the file, if there is one. `settings` say what else outcomes depend on, for people and for comparing; the
  // build and its weights are the caller's to keep the same. Throws InvalidInput, naming the line: not such a file, or
  // one of other settings.
  GoRecord(std::string file, std::string settings);

  std::optional<GoOutcome> Find(const GoQuestion& question) const;

  // The file holds it afterwards. Throws WorkFailed where it cannot be written; it is then as before.
  void Add(const GoQuestion& question, const GoOutcome& outcome);

  std::size_t size() const { return outcomes_.size(); }

 private:
  void Read(std::string_view text);
  void Write() const;

  std::string file_;  // empty: none
  std::string settings_;
  std::map<GoQuestion, GoOutcome> outcomes_;
};

}  // namespace millrace

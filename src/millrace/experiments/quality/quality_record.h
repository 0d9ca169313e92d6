// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

// What a run over the quality grid has found so far, in a file, so that a run that was cut off goes on where it was.
namespace millrace {

struct QualityOutcome {
  double makespan = 0;  // seconds
  double seconds = 0;   // that the method took
};

// Of one instance, by method; nothing where the method was not run.
using QualityOutcomes = std::vector<std::optional<QualityOutcome>>;

// The file is replaced as a whole whenever an instance is added: JSON with "format" millrace.quality, "version" 1,
// "settings" and "instances", each with its "seed" and its "outcomes": by method, makespan and seconds, or an empty
// list where it was not run. Several threads may use an object; one process a file.
class QualityRecord {
 public:
  // Reads the file if there is one. `settings`: all that outcomes depend on beside the instance and the program.
  // Throws InvalidInput: an unreadable file, or one of other settings.
  QualityRecord(std::string path, std::string settings, std::size_t num_methods);

  // Of the instance of this seed; nothing if it is not here.
  std::optional<QualityOutcomes> Find(std::uint64_t seed) const;

  // Throws WorkFailed naming the file, which is then as before.
  void Add(std::uint64_t seed, const QualityOutcomes& outcomes);

  std::size_t Size() const;

 private:
  std::string path_;
  std::string settings_;
  std::map<std::uint64_t, QualityOutcomes> outcomes_;
  mutable std::mutex mutex_;
};

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Measured times of groups on this kind of CPU, kept between runs so that each is measured once. Seconds.
namespace millrace {

// The CPU model and widest vector instruction set of this host, "Intel(R) Xeon(R) Processor, avx512f": times measured
// on another are not believed.
std::string HostProcessor();

// Reads what the file holds for this processor and runtime and remembers what is added until Save. The file is JSON
// lines: a header that names format, version, processor (HostProcessor) and runtime (RuntimeRevision of
// runtime/revision.h) and says that disturbed times are left out, then one entry a line. A missing file is an empty
// cache; one of another processor, runtime or version, or with torn lines, loses those lines with a warning, never the
// run. One object serves one thread.
class ProfileCache {
 public:
  // In memory only.
  ProfileCache() = default;
  explicit ProfileCache(std::string path);

  // What a hand-over between units takes now (the latency of target/hand_over.h; 0 until told). What several units take
  // together depends on it: Find passes over times of theirs that were measured while it was less than half or more
  // than twice that (AlikeHandOvers). They are kept beside those that were measured now, for hosts that move processors.
  void SetHandOver(double seconds) { hand_over_ = seconds; }

  // Key: what the group is (target/profile_groups.h) and on how many units it ran.
  std::optional<double> Find(const std::string& signature, int units) const;
  void Add(const std::string& signature, int units, double seconds);

  // For as long as this object lives: a time that Save leaves out, and with it what the file held, so that the next run
  // measures it again.
  void AddForNow(const std::string& signature, int units, double seconds);

  // Find passes over what the file held. Save keeps those of it that were not measured anew.
  void MeasureAnew() { anew_ = true; }

  // Writes the file anew, whole. Does nothing without a path or news. Throws WorkFailed.
  void Save();

  const std::string& path() const { return path_; }
  const std::string& warning() const { return warning_; }  // what was wrong with the file; empty if nothing

 private:
  struct Entry {
    double seconds = 0;
    bool from_file = false;
    bool kept = true;      // by Save
    double hand_over = 0;  // when it was measured
  };

  void Load(const std::string& text);
  void Put(const std::string& signature, int units, const Entry& entry);

  std::string path_;
  std::string warning_;
  std::map<std::pair<std::string, int>, std::vector<Entry>> entries_;  // one of each kind of hand-over
  double hand_over_ = 0;
  bool anew_ = false;
  bool changed_ = false;
};

// Where the cache lies unless told otherwise: $XDG_CACHE_HOME/millrace or ~/.cache/millrace; empty where neither is
// set.
std::string DefaultProfileCachePath();

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "millrace/machine/machine.h"
#include "millrace/optimize/candidate.h"
#include "millrace/target/records.h"
#include "millrace/target/target.h"

// Picking up where an earlier run was stopped: what the records know of a candidate is not measured again.
namespace millrace {

class Resume {
 public:
  // `path` empty: nothing is recalled and nothing noted. Throws InvalidInput where the file cannot be read.
  Resume(const std::string& path, std::string graph_hash, const Machine& machine, const Target& target,
         std::uint64_t seed);

  // Fills in times, target_seconds or failure of the candidates that were measured on this target before. Returns how
  // many.
  int Recall(std::vector<Candidate>& candidates) const;

  // Adds what was measured since, one record a candidate, and another where it was measured anew. Throws WorkFailed.
  void Note(const std::vector<Candidate>& candidates);

  std::vector<std::string> warnings() const;

 private:
  const Record* Find(const Candidate& candidate) const;

  std::unique_ptr<Records> records_;
  std::string graph_hash_;
  std::string machine_hash_;
  std::string target_;  // its name; with the seed where times depend on it
  std::uint64_t seed_ = 0;
};

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/resume.h"

#include <algorithm>

#include "millrace/plan/hash.h"

namespace millrace {
namespace {

// Whether the candidate has what was recorded, and perhaps more of it: not where it was measured anew.
bool GoesOnFrom(const Measurement& recorded, const Candidate& candidate) {
  const std::vector<double>& times = candidate.times;
  return recorded.failed == !candidate.failure.empty() && recorded.times.size() <= times.size() &&
         std::equal(recorded.times.begin(), recorded.times.end(), times.begin());
}

}  // namespace

Resume::Resume(const std::string& path, std::string graph_hash, const Machine& machine, const Target& target,
               std::uint64_t seed)
    : graph_hash_(std::move(graph_hash)), machine_hash_(MachineHash(machine)), target_(target.name()), seed_(seed) {
  // What a simulated machine is like depends on the seed; a real one does not.
  if (target.deterministic()) target_ += " (seed " + std::to_string(seed) + ")";
  if (!path.empty()) records_ = std::make_unique<Records>(path);
}

const Record* Resume::Find(const Candidate& candidate) const {
  return records_ == nullptr ? nullptr : records_->Find(graph_hash_, machine_hash_, PlanHash(candidate.plan), target_);
}

int Resume::Recall(std::vector<Candidate>& candidates) const {
  int recalled = 0;
  for (Candidate& candidate : candidates) {
    const Record* const record = Find(candidate);
    if (record == nullptr) continue;
    ++recalled;
    candidate.disturbed = record->measurement.disturbed;
    if (record->measurement.failed) {
      candidate.failure = record->measurement.error;
    } else {
      candidate.times = record->measurement.times;
      candidate.target_seconds = record->measurement.median;
    }
  }
  return recalled;
}

void Resume::Note(const std::vector<Candidate>& candidates) {
  if (records_ == nullptr) return;
  for (const Candidate& candidate : candidates) {
    const Record* const known = Find(candidate);
    if (known != nullptr && GoesOnFrom(known->measurement, candidate)) continue;
    Record record;
    record.graph_hash = graph_hash_;
    record.machine_hash = machine_hash_;
    record.plan_hash = PlanHash(candidate.plan);
    record.target = target_;
    record.method = candidate.method;
    record.seed = seed_;
    record.proxy_seconds = candidate.proxy_seconds;
    record.measurement.failed = !candidate.failure.empty();
    record.measurement.error = candidate.failure;
    record.measurement.disturbed = candidate.disturbed;
    record.measurement.times = candidate.times;
    if (!record.measurement.failed) Summarise(&record.measurement);
    records_->Append(std::move(record));
  }
}

std::vector<std::string> Resume::warnings() const {
  return records_ == nullptr ? std::vector<std::string>() : records_->warnings();
}

}  // namespace millrace

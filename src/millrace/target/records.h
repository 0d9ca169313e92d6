// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "millrace/target/measurement.h"

// What was measured, kept in records.jsonl: one JSON object a line, only ever added to, so that a second run resumes
// where the first was stopped and later work learns from all of them. Seconds.
namespace millrace {

struct Record {
  std::string graph_hash;    // GraphHash
  std::string machine_hash;  // MachineHash
  std::string plan_hash;     // PlanHash
  std::string target;        // Target::name
  std::string method;        // what proposed the plan
  std::uint64_t seed = 0;
  double proxy_seconds = 0;
  Measurement measurement;
  std::string date;  // UTC, "2024-05-31T12:00:00Z"; Append fills in an empty one
};

// One line of the file, without its end.
std::string RecordLine(const Record& record);

// Throws InvalidInput, naming the place in the line: not a record of this version, or times that no run takes.
Record ParseRecordLine(std::string_view line);

// The records of one file. A record is added by one write, under a lock and synced, so a crash can tear only the last
// line and two processes do not mix theirs. Lines that are no records, a torn one for instance, are passed over with a
// warning each, of the first ten, and stay where they are; what is added after a torn line starts on a new one.
class Records {
 public:
  // Reads the file; none is an empty one, and it is made by the first Append. Throws InvalidInput: unreadable, a
  // folder.
  explicit Records(std::string path);

  // Throws WorkFailed naming the file: it cannot be opened, the disk is full. The file is then as before.
  void Append(Record record);

  // The newest record of this measurement; null where there is none. Valid until the next Append.
  const Record* Find(std::string_view graph_hash, std::string_view machine_hash, std::string_view plan_hash,
                     std::string_view target) const;

  const std::vector<Record>& all() const { return records_; }
  const std::vector<std::string>& warnings() const { return warnings_; }  // one line each, with file and line

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string>;

  void Keep(Record record);

  std::string path_;
  std::vector<Record> records_;  // oldest first
  std::map<Key, std::size_t> newest_;
  std::vector<std::string> warnings_;
};

}  // namespace millrace

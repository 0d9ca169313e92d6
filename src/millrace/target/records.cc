// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/records.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/json_value.h"
#include "millrace/formats/json_write.h"

namespace millrace {
namespace {

constexpr std::string_view kRecordFormat = "millrace.record";
constexpr std::size_t kMostWarnings = 10;

void AppendText(std::string& out, std::string_view name, std::string_view text) {
  out += fmt::format(",\"{}\":", name);
  AppendJsonText(out, text);
}

// A number that is none, as the median of nothing, is left out.
void AppendSeconds(std::string& out, std::string_view name, double seconds) {
  if (!std::isfinite(seconds)) return;
  out += fmt::format(",\"{}\":", name);
  AppendJsonNumber(out, seconds);
}

double CostAt(const JsonPlace& root, std::string_view name) {
  const auto place = root.Optional(name);
  return place ? place->Cost() : 0.0;
}

// Nothing takes no time at all, but a graph without costs on a simulated machine.
double TimeAt(const JsonPlace& place, bool may_be_nothing) {
  return may_be_nothing && place.Number() == 0 ? 0.0 : place.Time();
}

std::string Now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// The file, locked for us until this object goes.
class LockedFile {
 public:
  explicit LockedFile(const std::string& path)
      : path_(path), descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) Fail("opened");
    while (flock(descriptor_, LOCK_EX) != 0) {
      const int error = errno;
      if (error == EINTR && !InterruptRequested()) continue;
      close(descriptor_);
      StopIfInterrupted();
      errno = error;
      Fail("locked");
    }
  }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
  ~LockedFile() { close(descriptor_); }

  // All of it or nothing. A line somebody left without an end gets one first.
  void AppendLine(std::string line) {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) Fail("read");
    char last = '\n';
    if (status.st_size > 0 && pread(descriptor_, &last, 1, status.st_size - 1) != 1) Fail("read");
    if (last != '\n') line.insert(line.begin(), '\n');
    line += '\n';
    ssize_t written = write(descriptor_, line.data(), line.size());
    while (written < 0 && errno == EINTR) written = write(descriptor_, line.data(), line.size());
    if (written == static_cast<ssize_t>(line.size()) && fsync(descriptor_) == 0) return;
    const int error = written >= 0 && written < static_cast<ssize_t>(line.size()) ? ENOSPC : errno;
    if (ftruncate(descriptor_, status.st_size) != 0) errno = error;
    errno = error;
    Fail("written");
  }

 private:
  [[noreturn]] void Fail(const char* what) const {
    throw WorkFailed(path_ + ": the records file cannot be " + what + ": " + std::strerror(errno));
  }

  const std::string& path_;
  int descriptor_;
};

void SyncFolderOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const int descriptor = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

std::string RecordLine(const Record& record) {
  const Measurement& measured = record.measurement;
  std::string out = fmt::format("{{\"format\":\"{}\",\"version\":1", kRecordFormat);
  AppendText(out, "date", record.date);
  AppendText(out, "graph_hash", record.graph_hash);
  AppendText(out, "machine_hash", record.machine_hash);
  AppendText(out, "plan_hash", record.plan_hash);
  AppendText(out, "target", record.target);
  AppendText(out, "method", record.method);
  out += fmt::format(",\"seed\":{}", record.seed);
  AppendSeconds(out, "proxy_seconds", record.proxy_seconds);
  AppendSeconds(out, "min_seconds", measured.min);
  AppendSeconds(out, "median_seconds", measured.median);
  AppendSeconds(out, "p95_seconds", measured.p95);
  out += fmt::format(",\"disturbed\":{},\"failed\":{}", measured.disturbed, measured.failed);
  if (!measured.error.empty()) AppendText(out, "error", measured.error);
  out += ",\"times\":[";
  const char* separator = "";
  for (const double time : measured.times) {
    out += separator;
    AppendJsonNumber(out, time);
    separator = ",";
  }
  return out + "]}";
}

Record ParseRecordLine(std::string_view line) {
  const JsonValue value = ParseJson(line);
  const JsonPlace root(value);
  CheckFormat(root, kRecordFormat);
  Record record;
  record.date = root.Member("date").Text();
  record.graph_hash = root.Member("graph_hash").Text();
  record.machine_hash = root.Member("machine_hash").Text();
  record.plan_hash = root.Member("plan_hash").Text();
  record.target = root.Member("target").Text();
  record.method = root.Member("method").Text();
  record.seed = root.Member("seed").Unsigned();
  record.proxy_seconds = CostAt(root, "proxy_seconds");
  record.measurement.disturbed = root.Member("disturbed").Boolean();
  record.measurement.failed = root.Member("failed").Boolean();
  if (const auto error = root.Optional("error")) record.measurement.error = error->Text();
  const JsonPlace times = root.Member("times");
  if (times.Size() == 0 && !record.measurement.failed) times.Refuse("is empty, and the measurement did not fail");
  for (std::size_t i = 0; i < times.Size(); ++i)
    record.measurement.times.push_back(TimeAt(times.Element(i), record.proxy_seconds == 0));
  // What else the line says of the times is for other readers: here they are counted again.
  Summarise(&record.measurement);
  return record;
}

Records::Records(std::string path) : path_(std::move(path)) {
  std::error_code error;
  if (!std::filesystem::exists(path_, error) && !error) return;
  const std::string text = ReadWholeFile(path_);
  std::size_t line_number = 0, passed_over = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    ++line_number;
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    try {
      Keep(ParseRecordLine(line));
    } catch (const InvalidInput& complaint) {
      if (++passed_over <= kMostWarnings)
        warnings_.push_back(fmt::format("{}:{}: no record, passed over: {}", path_, line_number, complaint.what()));
    }
  }
  if (passed_over > kMostWarnings)
    warnings_.push_back(fmt::format("{}: {} more lines are no records", path_, passed_over - kMostWarnings));
}

void Records::Append(Record record) {
  if (record.date.empty()) record.date = Now();
  const std::string line = RecordLine(record);
  std::error_code ignored;
  const bool existed = std::filesystem::exists(path_, ignored);
  LockedFile(path_).AppendLine(line);
  if (!existed) SyncFolderOf(path_);
  Keep(std::move(record));
}

const Record* Records::Find(std::string_view graph_hash, std::string_view machine_hash, std::string_view plan_hash,
                            std::string_view target) const {
  const auto found = newest_.find(
      Key(std::string(graph_hash), std::string(machine_hash), std::string(plan_hash), std::string(target)));
  return found == newest_.end() ? nullptr : &records_[found->second];
}

void Records::Keep(Record record) {
  newest_[Key(record.graph_hash, record.machine_hash, record.plan_hash, record.target)] = records_.size();
  records_.push_back(std::move(record));
}

}  // namespace millrace

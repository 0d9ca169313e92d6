// SPDX-License-Identifier: Apache-2.0
#include "millrace/inspect_kept.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <tuple>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/json_lines.h"
#include "millrace/network/weights.h"
#include "millrace/report/readable.h"
#include "millrace/report/result_json.h"
#include "millrace/runtime/revision.h"
#include "millrace/target/profile_cache.h"
#include "millrace/target/records.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 24;  // of a table for people; the JSON has them all

void PrintMore(std::size_t all, const char* what) {
  if (all > kMostRows) Print("  ... and {} more {}\n", all - kMostRows, what);
}

void InspectWeights(bool json, const std::string& path, const std::string& content) {
  const Weights weights = ParseWeights(content, path);
  Json tensors = Json::array();
  std::size_t numbers = 0;
  for (const auto& [name, tensor] : weights.tensors) {
    double squares = 0;
    for (const float value : tensor.values) squares += static_cast<double>(value) * value;
    const double size = static_cast<double>(std::max<std::size_t>(1, tensor.values.size()));
    tensors.push_back({{"name", name}, {"shape", tensor.shape}, {"root_mean_square", std::sqrt(squares / size)}});
    numbers += tensor.values.size();
  }
  if (json) {
    PrintJson({{"kind", "weights"}, {"metadata", weights.metadata}, {"numbers", numbers}, {"tensors", tensors}});
    return;
  }
  Print("weights: {} tensors, {} numbers, {}\n", tensors.size(), numbers,
        ReadableBytes(static_cast<double>(numbers * sizeof(float))));
  for (const auto& [name, value] : weights.metadata) Print("  {}: {}\n", name, value);
  Print("\n  {:<40} {:<16} {:>16}\n", "tensor", "shape", "root mean square");
  for (std::size_t i = 0; i < std::min(kMostRows, tensors.size()); ++i)
    Print("  {:<40} {:<16} {:>16.4g}\n", tensors[i]["name"].get<std::string>(), tensors[i]["shape"].dump(),
          tensors[i]["root_mean_square"].get<double>());
  PrintMore(tensors.size(), "tensors");
}

// Measurements of one graph on one machine and target.
struct Measured {
  std::size_t plans = 0, failed = 0;
  const Record* fastest = nullptr;
  std::string first, last;  // dates
};

void InspectRecords(const CommandLine& line, const std::string& path) {
  const Records records(path);
  if (!line.common.quiet) {
    for (const std::string& warning : records.warnings()) Warn(warning);
  }
  std::map<std::tuple<std::string, std::string, std::string>, Measured> by_problem;
  for (const Record& record : records.all()) {
    Measured& measured = by_problem[{record.graph_hash, record.machine_hash, record.target}];
    ++measured.plans;
    if (measured.first.empty()) measured.first = record.date;
    measured.last = record.date;
    if (record.measurement.failed) {
      ++measured.failed;
    } else if (measured.fastest == nullptr || record.measurement.median < measured.fastest->measurement.median) {
      measured.fastest = &record;
    }
  }
  Json problems = Json::array();
  for (const auto& [problem, measured] : by_problem) {
    const Record* const fastest = measured.fastest;
    problems.push_back({{"graph_hash", std::get<0>(problem)},
                        {"machine_hash", std::get<1>(problem)},
                        {"target", std::get<2>(problem)},
                        {"records", measured.plans},
                        {"failed", measured.failed},
                        {"fastest_seconds", fastest != nullptr ? Json(fastest->measurement.median) : Json()},
                        {"fastest_method", fastest != nullptr ? Json(fastest->method) : Json()},
                        {"first_date", measured.first},
                        {"last_date", measured.last}});
  }
  if (line.common.json) {
    PrintJson({{"kind", "records"},
               {"records", records.all().size()},
               {"problems", problems},
               {"warnings", records.warnings()}});
    return;
  }
  Print("records: {} measurements of {} graphs on machines and targets\n", records.all().size(), problems.size());
  for (std::size_t i = 0; i < std::min(kMostRows, problems.size()); ++i) {
    const Json& problem = problems[i];
    Print("\n  graph {} on machine {}, target {}\n", problem["graph_hash"].get<std::string>(),
          problem["machine_hash"].get<std::string>(), problem["target"].get<std::string>());
    Print("    {} plans measured, {} of them failed; {} to {}\n", problem["records"].get<std::size_t>(),
          problem["failed"].get<std::size_t>(), problem["first_date"].get<std::string>(),
          problem["last_date"].get<std::string>());
    if (!problem["fastest_seconds"].is_null())
      Print("    the fastest takes {}, by {}\n", ReadableSeconds(problem["fastest_seconds"].get<double>()),
            problem["fastest_method"].get<std::string>());
  }
  PrintMore(problems.size(), "of such");
}

void InspectProfile(bool json, const std::string& path, const std::string& content) {
  struct Entry {
    std::string signature;
    int units;
    double seconds;
  };
  std::string processor, runtime;
  std::vector<Entry> entries;
  ReadJsonLines(content, path, [&](const JsonPlace& place) {
    if (processor.empty()) {
      CheckFormat(place, "millrace.profile");
      processor = place.Member("processor").Text();
      runtime = place.Member("runtime").Text();
      if (processor.empty()) place.Member("processor").Refuse("names none");
      return;
    }
    entries.push_back(
        {place.Member("signature").Text(), place.Member("units").Integer(), place.Member("seconds").Time()});
  });
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.seconds > b.seconds; });
  const bool used = processor == HostProcessor() && runtime == RuntimeRevision();
  if (json) {
    Json list = Json::array();
    for (const Entry& entry : entries)
      list.push_back({{"signature", entry.signature}, {"units", entry.units}, {"seconds", entry.seconds}});
    PrintJson(
        {{"kind", "profile"}, {"processor", processor}, {"runtime", runtime}, {"used_here", used}, {"entries", list}});
    return;
  }
  Print("times of groups: {} entries\n  processor  {}\n  runtime    {}\n  {}\n", entries.size(), processor, runtime,
        used ? "this processor and runtime: optimize uses them here"
             : "another processor or runtime than here: optimize measures anew");
  Print("\n  {:>12} {:>6}  {}\n", "time", "units", "group");
  for (std::size_t i = 0; i < std::min(kMostRows, entries.size()); ++i)
    Print("  {:>12} {:>6}  {}\n", ReadableSeconds(entries[i].seconds), entries[i].units,
          entries[i].signature.substr(0, 90));
  PrintMore(entries.size(), "entries");
}

std::string MeasuredText(const Candidate& candidate) {
  if (!candidate.failure.empty()) return "failed: " + candidate.failure;
  return candidate.target_seconds ? ReadableSeconds(*candidate.target_seconds) : "not measured";
}

// `files`: of the folder it lies in; empty where it lies alone.
void PrintResult(bool json, const std::string& path, const std::string& content,
                 const std::vector<std::string>& files) {
  try {
    const StoredResult stored = ParseResultJson(content);
    Json facts = Json::parse(content);
    if (json) {
      Json account{{"kind", "result"}};
      account.update(facts);
      if (!files.empty()) account["files"] = files;
      PrintJson(account);
      return;
    }
    const OptimizeResult& result = stored.result;
    Print("result of optimize: graph '{}' on machine '{}', target {}, seed {}\n\n", facts.value("graph", ""),
          facts.value("machine", ""), result.target, result.seed);
    Print("  {:<34} {:>11} {:>11}\n", "plan", "measured", "predicted");
    const auto row = [](const std::string& name, const Candidate& candidate) {
      Print("  {:<34} {:>11} {:>11}\n", name, MeasuredText(candidate), ReadableSeconds(candidate.proxy_seconds));
    };
    row(fmt::format("best ({}, fusion {})", result.best.method, result.best.fusion), result.best);
    for (const BaselineResult& baseline : result.baselines) row(baseline.name, baseline.candidate);
    if (result.challenger)
      row("challenger (" + result.challenger->candidate.method + ")", result.challenger->candidate);
    Print("\n  {} plans proposed, {} measured; planning took {}\n", result.proposed, result.candidates.size(),
          ReadableSeconds(result.planning_seconds));
    for (const std::string& warning : result.warnings) Print("  warning: {}\n", warning);
    if (!files.empty()) Print("\n  files: {}\n", fmt::format("{}", fmt::join(files, ", ")));
  } catch (const InvalidInput& error) {
    throw error.InFile(path);
  }
}

}  // namespace

std::optional<KeptKind> KindOfKept(std::string_view content) {
  constexpr std::size_t kLengthBytes = 8;
  constexpr std::size_t kBeginning = 200;
  if (content.size() > kLengthBytes && content[kLengthBytes] == '{' && content[kLengthBytes - 1] == '\0')
    return KeptKind::kWeights;
  const std::string_view beginning = content.substr(0, kBeginning);
  if (!beginning.starts_with('{')) return std::nullopt;
  const auto says = [beginning](std::string_view format) { return beginning.find(format) != std::string_view::npos; };
  if (says("\"millrace.record\"")) return KeptKind::kRecords;
  if (says("\"millrace.profile\"")) return KeptKind::kProfile;
  if (says("\"millrace.result\"")) return KeptKind::kResult;
  return std::nullopt;
}

void InspectKept(const CommandLine& line, KeptKind kind, const std::string& path, const std::string& content) {
  switch (kind) {
    case KeptKind::kWeights:
      return InspectWeights(line.common.json, path, content);
    case KeptKind::kRecords:
      return InspectRecords(line, path);
    case KeptKind::kProfile:
      return InspectProfile(line.common.json, path, content);
    case KeptKind::kResult:
      return PrintResult(line.common.json, path, content, {});
  }
}

void InspectResultFolder(const CommandLine& line, const std::string& folder) {
  const std::filesystem::path base(folder);
  std::error_code error;
  if (!std::filesystem::exists(base / "result.json", error))
    throw InvalidInput(folder + ": is a folder without a result.json; name a file, or the output folder of optimize");
  std::vector<std::string> files;
  for (auto entry = std::filesystem::recursive_directory_iterator(base, error);
       !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
    if (entry->is_regular_file(error)) files.push_back(std::filesystem::relative(entry->path(), base, error).string());
  }
  std::sort(files.begin(), files.end());
  const std::string path = (base / "result.json").string();
  PrintResult(line.common.json, path, ReadWholeFile(path), files);
}

}  // namespace millrace::cli

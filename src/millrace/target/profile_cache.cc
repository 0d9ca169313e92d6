// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/profile_cache.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/text_lines.h"
#include "millrace/runtime/revision.h"
#include "millrace/target/hand_over.h"

namespace millrace {
namespace {

constexpr const char* kProfileFormat = "millrace.profile";
constexpr int kVersion = 1;

std::string FieldOfCpuInfo(const std::string& wanted) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, wanted.size(), wanted) != 0) continue;
    const std::size_t value = line.find_first_not_of(' ', colon + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

// What times depend on beside the group itself.
nlohmann::ordered_json Header() {
  return {{"format", kProfileFormat},
          {"version", kVersion},
          {"processor", HostProcessor()},
          {"runtime", RuntimeRevision()},
          {"disturbed", "left out"}};  // files without it hold such times, too
}

}  // namespace

std::string HostProcessor() {
  std::string model = FieldOfCpuInfo("model name");
  if (model.empty()) model = "unknown processor";
  const std::string flags = " " + FieldOfCpuInfo("flags") + " ";
  for (const char* set : {"amx_bf16", "avx512f", "avx2", "avx", "sse4_2"}) {
    if (flags.find(std::string(" ") + set + " ") != std::string::npos) return model + ", " + set;
  }
  return model;
}

ProfileCache::ProfileCache(std::string path) : path_(std::move(path)) {
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored)) return;
  Load(ReadWholeFile(path_));
}

void ProfileCache::Load(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const nlohmann::ordered_json found = nlohmann::ordered_json::parse(line, nullptr, false);
  const nlohmann::ordered_json header = Header();
  for (const auto& [name, wanted] : header.items()) {
    if (found.is_object() && found.contains(name) && found[name] == wanted) continue;
    warning_ = path_ + ": not a profile of this processor and runtime (" + HostProcessor() + "; " + RuntimeRevision() +
               "); measuring anew";
    return;
  }
  std::size_t torn = 0, first_torn = 0;
  for (std::size_t number = 2; std::getline(lines, line); ++number) {
    const nlohmann::json entry = nlohmann::json::parse(line, nullptr, false);
    const bool whole = entry.is_object() && entry.contains("signature") && entry["signature"].is_string() &&
                       entry.contains("units") && entry["units"].is_number_integer() && entry.contains("seconds") &&
                       entry["seconds"].is_number() && entry["seconds"].get<double>() >= kLeastTime &&
                       entry["seconds"].get<double>() <= kMostTime;
    if (whole) {
      const nlohmann::json hand_over = entry.value("hand_over_seconds", nlohmann::json());
      Put(entry["signature"].get<std::string>(), entry["units"].get<int>(),
          {entry["seconds"].get<double>(), true, true, hand_over.is_number() ? hand_over.get<double>() : 0});
    } else if (torn++ == 0) {
      first_torn = number;
    }
  }
  if (torn > 0) {
    warning_ = path_ + ":" + std::to_string(first_torn) + ": no profile entry, the first of " + std::to_string(torn) +
               " such lines; measuring those anew";
  }
}

std::optional<double> ProfileCache::Find(const std::string& signature, int units) const {
  const auto found = entries_.find({signature, units});
  if (found == entries_.end()) return std::nullopt;
  for (const Entry& entry : found->second) {
    const bool now = units == 1 || AlikeHandOvers(entry.hand_over, hand_over_);
    if (now && !(anew_ && entry.from_file)) return entry.seconds;
  }
  return std::nullopt;
}

void ProfileCache::Put(const std::string& signature, int units, const Entry& entry) {
  std::vector<Entry>& known = entries_[{signature, units}];
  std::erase_if(known,
                [&](const Entry& other) { return units == 1 || AlikeHandOvers(other.hand_over, entry.hand_over); });
  known.push_back(entry);
}

void ProfileCache::Add(const std::string& signature, int units, double seconds) {
  Put(signature, units, {seconds, false, true, hand_over_});
  changed_ = true;
}

void ProfileCache::AddForNow(const std::string& signature, int units, double seconds) {
  Put(signature, units, {seconds, false, false, hand_over_});
  changed_ = true;
}

void ProfileCache::Save() {
  if (path_.empty() || !changed_) return;
  std::string text = Header().dump() + "\n";
  for (const auto& [key, known] : entries_) {
    for (const Entry& entry : known) {
      if (!entry.kept) continue;
      nlohmann::ordered_json line{{"signature", key.first}, {"units", key.second}, {"seconds", entry.seconds}};
      if (key.second > 1) line["hand_over_seconds"] = entry.hand_over;
      text += line.dump() + "\n";
    }
  }
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) throw WorkFailed(folder.string() + ": cannot make this folder for the profile cache: " + error.message());
  WriteFileAtomically(path_, text);
  changed_ = false;
}

std::string DefaultProfileCachePath() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/millrace/profile.jsonl";
  if (home != nullptr && *home == '/') return std::string(home) + "/.cache/millrace/profile.jsonl";
  return "";
}

}  // namespace millrace

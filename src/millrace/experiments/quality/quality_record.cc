// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/quality_record.h"

#include <fmt/core.h>

#include <filesystem>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/json_value.h"
#include "millrace/formats/json_write.h"

namespace millrace {
namespace {

constexpr std::string_view kFormat = "millrace.quality";

std::optional<QualityOutcome> OutcomeOf(const JsonPlace& pair) {
  if (pair.Size() == 0) return std::nullopt;
  if (pair.Size() != 2) pair.Refuse("a makespan and seconds belong here");
  return QualityOutcome{pair.Element(0).Time(), pair.Element(1).Cost()};
}

QualityOutcomes OutcomesOf(const JsonPlace& list, std::size_t num_methods) {
  if (list.Size() != num_methods) list.Refuse(fmt::format("{} outcomes for {} methods", list.Size(), num_methods));
  QualityOutcomes outcomes;
  for (std::size_t m = 0; m < num_methods; ++m) outcomes.push_back(OutcomeOf(list.Element(m)));
  return outcomes;
}

void AppendOutcomes(std::string& out, const QualityOutcomes& outcomes) {
  out += '[';
  for (std::size_t m = 0; m < outcomes.size(); ++m) {
    out += m == 0 ? "[" : ",[";
    if (outcomes[m]) {
      AppendJsonNumber(out, outcomes[m]->makespan);
      out += ',';
      AppendJsonNumber(out, outcomes[m]->seconds);
    }
    out += ']';
  }
  out += ']';
}

}  // namespace

QualityRecord::QualityRecord(std::string path, std::string settings, std::size_t num_methods)
    : path_(std::move(path)), settings_(std::move(settings)) {
  std::error_code error;
  if (!std::filesystem::exists(path_, error) && !error) return;
  const std::string text = ReadWholeFile(path_);
  try {
    const JsonValue value = ParseJson(text);
    const JsonPlace root(value);
    CheckFormat(root, kFormat);
    const JsonPlace recorded = root.Member("settings");
    if (recorded.Text() != settings_)
      recorded.Refuse(fmt::format("the record is of '{}', this run is of '{}'; give it a file of its own",
                                  recorded.Text(), settings_));
    const JsonPlace instances = root.Member("instances");
    for (std::size_t i = 0; i < instances.Size(); ++i) {
      const JsonPlace instance = instances.Element(i);
      outcomes_[instance.Member("seed").Unsigned()] = OutcomesOf(instance.Member("outcomes"), num_methods);
    }
  } catch (const InvalidInput& complaint) {
    throw complaint.InFile(path_);
  }
}

std::optional<QualityOutcomes> QualityRecord::Find(std::uint64_t seed) const {
  const std::lock_guard lock(mutex_);
  const auto found = outcomes_.find(seed);
  if (found == outcomes_.end()) return std::nullopt;
  return found->second;
}

void QualityRecord::Add(std::uint64_t seed, const QualityOutcomes& outcomes) {
  const std::lock_guard lock(mutex_);
  outcomes_[seed] = outcomes;
  std::string text = fmt::format("{{\"format\":\"{}\",\"version\":1", kFormat);
  AppendJsonMember(text, "settings", settings_);
  AppendJsonName(text, "instances");
  const std::vector<std::pair<std::uint64_t, QualityOutcomes>> instances(outcomes_.begin(), outcomes_.end());
  AppendJsonLines(text, instances, [](std::string& out, const auto& instance) {
    out += fmt::format("{{\"seed\":{},\"outcomes\":", instance.first);
    AppendOutcomes(out, instance.second);
    out += '}';
  });
  WriteFileAtomically(path_, text + "}\n");
}

std::size_t QualityRecord::Size() const {
  const std::lock_guard lock(mutex_);
  return outcomes_.size();
}

}  // namespace millrace

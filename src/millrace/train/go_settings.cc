// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go_settings.h"

#include <algorithm>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/train/settings_json.h"

namespace millrace {
namespace {

constexpr std::array<const char*, kTasks.size()> kTaskNames = {"placement", "priority", "fusion"};

template <typename Settings, typename Visitor>
void VisitSettings(Settings& s, Visitor& visit) {
  visit("tasks", s.tasks);
  visit("workloads", s.workloads);
  visit("machines", s.machines);
  visit("validation_workloads", s.validation_workloads);
  visit("updates", s.updates);
  visit("problems_per_update", s.problems_per_update);
  visit("samples", s.samples);
  visit("iterations", s.iterations);
  visit("most_steps", s.most_steps);
  visit("most_rows", s.most_rows);
  visit("passes", s.passes);
  visit("ratio_limit", s.ratio_limit);
  visit("entropy_bonus", s.entropy_bonus);
  visit("last_entropy_bonus", s.last_entropy_bonus);
  visit("baseline_decay", s.baseline_decay);
  visit("imitation", s.imitation);
  visit("last_imitation", s.last_imitation);
  visit("examples", s.examples);
  visit("expert_evaluations", s.expert_evaluations);
  visit("expert_searches", s.expert_searches);
  visit("learning_rate", s.learning_rate);
  visit("last_learning_rate", s.last_learning_rate);
  visit("gradient_limit", s.gradient_limit);
  visit("average_decay", s.average_decay);
  visit("validate_every", s.validate_every);
  visit("validation_samples", s.validation_samples);
}

}  // namespace

GoSettings ParseGoSettings(std::string_view text) {
  GoSettings settings;
  SettingsReader read(text);
  VisitSettings(settings, read);
  read.RefuseOthers();
  CheckGoSettings(settings);
  return settings;
}

GoSettings ReadGoSettings(const std::string& path) {
  const std::string text = ReadWholeFile(path, std::size_t{1} << 20);
  try {
    return ParseGoSettings(text);
  } catch (const InvalidInput& error) {
    throw error.InFile(path);
  }
}

void CheckGoSettings(const GoSettings& s) {
  for (const std::string& task : s.tasks) {
    if (std::find(kTaskNames.begin(), kTaskNames.end(), task) == kTaskNames.end()) {
      throw InvalidInput("tasks: there is no '" + task + "'; there are placement, priority and fusion");
    }
  }
  if (s.tasks.empty()) throw InvalidInput("tasks: at least one is needed");
  CheckSettingRange("updates", s.updates, 0, 1e9);
  CheckSettingRange("problems_per_update", s.problems_per_update, 1, 1024);
  CheckSettingRange("samples", s.samples, 2, 1 << 16);
  CheckSettingRange("iterations", s.iterations, 1, 64);
  CheckSettingRange("most_steps", s.most_steps, 1, 1 << 16);
  CheckSettingRange("most_rows", s.most_rows, 128, 1e9);
  CheckSettingRange("passes", s.passes, 1, 100);
  CheckSettingRange("ratio_limit", s.ratio_limit, 0, 1);
  CheckSettingRange("entropy_bonus", s.entropy_bonus, 0, 1e3);
  CheckSettingRange("last_entropy_bonus", s.last_entropy_bonus, 0, 1e3);
  CheckSettingRange("baseline_decay", s.baseline_decay, 0, 0.999);
  CheckSettingRange("imitation", s.imitation, 0, 1e6);
  CheckSettingRange("last_imitation", s.last_imitation, 0, 1e6);
  CheckSettingRange("examples", s.examples, 1, 1 << 16);
  CheckSettingRange("expert_evaluations", s.expert_evaluations, 0, 1e9);
  CheckSettingRange("expert_searches", s.expert_searches, 1, 1e9);
  CheckSettingRange("learning_rate", s.learning_rate, 0, 1);
  CheckSettingRange("last_learning_rate", s.last_learning_rate, 0, 1);
  CheckSettingRange("gradient_limit", s.gradient_limit, 0, 1e9);
  CheckSettingRange("average_decay", s.average_decay, 0, 1);
  CheckSettingRange("validate_every", s.validate_every, 1, 1e9);
  CheckSettingRange("validation_samples", s.validation_samples, 1, 1 << 16);
}

std::string GoSettingsJson(const GoSettings& settings) {
  SettingsWriter write;
  VisitSettings(settings, write);
  return write.Text();
}

std::vector<Task> TasksOf(const GoSettings& settings) {
  std::vector<Task> tasks;
  for (std::size_t task = 0; task < kTasks.size(); ++task) {
    if (std::find(settings.tasks.begin(), settings.tasks.end(), kTaskNames[task]) != settings.tasks.end()) {
      tasks.push_back(kTasks[task]);
    }
  }
  return tasks;
}

}  // namespace millrace

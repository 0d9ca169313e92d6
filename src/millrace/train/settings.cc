// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/settings.h"

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/train/settings_json.h"

namespace millrace {
namespace {

// Shows every setting to the visitor by name: the one list that reading and writing share.
template <typename Settings, typename Visitor>
void VisitSettings(Settings& s, Visitor& visit) {
  visit("objective", s.objective);
  visit("encoder", s.encoder);
  visit("backward", s.backward);
  visit("updates", s.updates);
  visit("graphs_per_update", s.graphs_per_update);
  visit("trajectories", s.trajectories);
  visit("recorded_share", s.recorded_share);
  visit("most_recorded_steps", s.most_recorded_steps);
  visit("lowest_temperature", s.lowest_temperature);
  visit("highest_temperature", s.highest_temperature);
  visit("epsilon", s.epsilon);
  visit("learning_rate", s.learning_rate);
  visit("last_learning_rate", s.last_learning_rate);
  visit("gradient_limit", s.gradient_limit);
  visit("average_decay", s.average_decay);
  visit("weight_limit", s.objective_settings.weight_limit);
  visit("ratio_limit", s.objective_settings.ratio_limit);
  visit("passes", s.objective_settings.passes);
  visit("entropy_bonus", s.objective_settings.entropy_bonus);
  visit("last_entropy_bonus", s.objective_settings.last_entropy_bonus);
  visit("expert_weight", s.expert_weight);
  visit("last_expert_weight", s.last_expert_weight);
  visit("expert_progress", s.expert_progress);
  visit("expert_problems", s.expert_problems);
  visit("expert_trajectories", s.expert_trajectories);
  visit("highest_expert_temperature", s.highest_expert_temperature);
  visit("expert_visits", s.expert_visits);
  visit("families", s.problems.families);
  visit("fewest_ops", s.problems.fewest_ops);
  visit("most_ops", s.problems.most_ops);
  visit("fewest_devices", s.problems.fewest_devices);
  visit("most_devices", s.problems.most_devices);
  visit("one_device_share", s.problems.one_device_share);
  visit("free_share", s.problems.free_share);
  visit("lowest_ccr", s.problems.lowest_ccr);
  visit("highest_ccr", s.problems.highest_ccr);
  visit("latency_share", s.problems.latency_share);
  visit("unlike_share", s.problems.unlike_share);
  visit("gang_share", s.problems.gang_share);
  visit("graph_share", s.problems.graph_share);
  visit("smallest_piece", s.problems.smallest_piece);
  visit("largest_piece", s.problems.largest_piece);
  visit("validate_every", s.validate_every);
  visit("validation_graphs", s.validation_graphs);
  visit("validation_samples", s.validation_samples);
  visit("validation_temperatures", s.validation_temperatures);
}

void CheckNetwork(const TrainingSettings& s) {
  const bool topoformer = s.encoder == "topoformer";
  if (!topoformer && s.encoder != "mpnn") throw InvalidInput("encoder: '" + s.encoder + "'; it is mpnn or topoformer");
  if (s.backward != "uniform" && s.backward != "learned")
    throw InvalidInput("backward: '" + s.backward + "'; it is uniform or learned");
  if (s.backward == "learned" && !topoformer) throw InvalidInput("backward: learned by the encoder topoformer alone");
  if (topoformer && s.objective != "log_partition_variance")
    throw InvalidInput("encoder: topoformer is trained by the objective log_partition_variance alone");
}

}  // namespace

TrainingSettings ParseSettings(std::string_view text) {
  TrainingSettings settings;
  SettingsReader read(text);
  VisitSettings(settings, read);
  read.RefuseOthers();
  CheckSettings(settings);
  return settings;
}

TrainingSettings ReadSettings(const std::string& path) {
  try {
    return ParseSettings(ReadWholeFile(path, std::size_t{1} << 20));
  } catch (const InvalidInput& error) {
    const std::string what = error.what();
    if (what.find(path) != std::string::npos) throw;
    throw error.InFile(path);
  }
}

void CheckSettings(const TrainingSettings& s) {
  CheckProblemSettings(s.problems);
  MakeObjective(s.objective, s.objective_settings);
  CheckNetwork(s);
  CheckSettingRange("updates", s.updates, 0, 1e9);
  CheckSettingRange("graphs_per_update", s.graphs_per_update, 1, 1024);
  CheckSettingRange("trajectories", s.trajectories, 2, 1 << 16);
  CheckSettingRange("recorded_share", s.recorded_share, 1e-3, 1);
  CheckSettingRange("most_recorded_steps", s.most_recorded_steps, 1, 1e9);
  CheckSettingRange("lowest_temperature", s.lowest_temperature, 1e-6, 1e6);
  CheckSettingRange("highest_temperature", s.highest_temperature, s.lowest_temperature, 1e6);
  CheckSettingRange("highest_expert_temperature", s.highest_expert_temperature, s.lowest_temperature, 1e6);
  CheckSettingRange("epsilon", s.epsilon, 0, 1);
  CheckSettingRange("learning_rate", s.learning_rate, 0, 1);
  CheckSettingRange("last_learning_rate", s.last_learning_rate, 0, 1);
  CheckSettingRange("gradient_limit", s.gradient_limit, 0, 1e9);
  CheckSettingRange("average_decay", s.average_decay, 0, 1);
  CheckSettingRange("expert_weight", s.expert_weight, 0, 1e6);
  CheckSettingRange("last_expert_weight", s.last_expert_weight, 0, 1e6);
  CheckSettingRange("expert_progress", s.expert_progress, 0, 1);
  CheckSettingRange("expert_problems", s.expert_problems, 1, 1'000'000);
  CheckSettingRange("expert_trajectories", s.expert_trajectories, 1, 1 << 16);
  CheckSettingRange("expert_visits", s.expert_visits, 1e3, 1e15);
  CheckSettingRange("validate_every", s.validate_every, 1, 1e9);
  CheckSettingRange("validation_graphs", s.validation_graphs, 1, 1000);
  CheckSettingRange("validation_samples", s.validation_samples, 1, 1 << 16);
  if (s.validation_temperatures.empty()) throw InvalidInput("validation_temperatures: at least one is needed");
  for (const double temperature : s.validation_temperatures) {
    CheckSettingRange("validation_temperatures", temperature, 1e-6, 1e6);
  }
}

std::string SettingsJson(const TrainingSettings& settings) {
  SettingsWriter write;
  VisitSettings(settings, write);
  return write.Text();
}

}  // namespace millrace

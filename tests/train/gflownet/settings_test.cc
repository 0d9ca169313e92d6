// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

TEST(GFlowNetSettings, SurviveBeingWrittenAndRead) {
  GFlowNetSettings settings;
  settings.objective = "ppo";
  settings.updates = 17;
  settings.lowest_temperature = 0.0625;
  settings.highest_demonstration_temperature = 0.07;
  settings.validation_temperatures = {0.1, 0.3};
  settings.problems.families = {{"er", 0.1}, {"layered", 3}};
  settings.problems.gang_share = 1.0 / 3;
  settings.objective_settings.passes = 5;
  const std::string text = SettingsJson(settings);
  const GFlowNetSettings again = ParseSettings<GFlowNetSettings>(text);
  EXPECT_EQ(SettingsJson(again), text);
  EXPECT_EQ(again.objective, "ppo");
  EXPECT_EQ(again.problems.families, settings.problems.families);
  EXPECT_EQ(again.problems.gang_share, settings.problems.gang_share);
  EXPECT_NE(SettingsJson(GFlowNetSettings{}), text);
}

TEST(GFlowNetSettings, EveryPresetThatShipsIsRead) {
  int presets = 0;
  for (const auto& file : std::filesystem::directory_iterator(MILLRACE_PRESETS)) {
    if (file.path().stem().string().starts_with("go"))
      continue;  // GO has settings of its own (tests/train/go/settings_test.cc)
    EXPECT_NO_THROW(ReadSettings<GFlowNetSettings>(file.path().string())) << file.path();
    ++presets;
  }
  EXPECT_GE(presets, 4);
}

TEST(GFlowNetSettings, WhatIsWrongIsSaidInOneLineByName) {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"sped": 1})", "sped"},
      {R"({"updates": "many"})", "updates"},
      {R"({"updates": 1.5})", "updates"},
      {R"({"lowest_temperature": 0})", "lowest_temperature"},
      {R"({"lowest_temperature": -1})", "lowest_temperature"},
      {R"({"highest_temperature": 1e999})", "highest_temperature"},
      {R"({"validation_temperatures": []})", "validation_temperatures"},
      {R"({"validation_temperatures": [0]})", "validation_temperatures"},
      {R"({"objective": "best"})", "objective"},
      {R"({"encoder": "lstm"})", "lstm"},
      {R"({"backward": "best"})", "backward"},
      {R"({"backward": "learned"})", "topoformer"},
      {R"({"encoder": "topoformer", "objective": "ppo"})", "log_partition_variance"},
      {R"({"encoder": "topoformer", "window_share": 0.5})", "window_share"},
      {R"({"objective": "trajectory_balance", "window_share": 0.5})", "log Z"},
      {R"({"fewest_window_steps": 50, "most_window_steps": 20})", "most_window_steps"},
      {R"({"families": {"star": 1}})", "star"},
      {R"({"families": {"er": 0}})", "families"},
      {R"({"fewest_ops": 50, "most_ops": 20})", "most_ops"},
      {R"({"lowest_temperature": 0.5, "highest_temperature": 0.1})", "highest_temperature"},
      {R"({"reward": "makespan"})", "speedup"},
      {R"({"weight_limit": -1})", "weight_limit"},
      {R"({"gang_share": 2})", "gang_share"},
      {R"({"learning_rate": NaN})", ""},
      {R"([])", ""},
      {"", ""}};
  for (const auto& [text, name] : wrong) {
    try {
      ParseSettings<GFlowNetSettings>(text);
      ADD_FAILURE() << text << " was taken";
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(name)) << text;
      EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("\n"))) << text;
    }
  }
}

}  // namespace
}  // namespace millrace

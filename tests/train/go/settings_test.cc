// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;

TEST(GoSettings, ReadBackWhatWasWritten) {
  GoSettings settings;
  settings.tasks = {"fusion", "placement"};
  settings.workloads = {"gnmt-2-short"};
  settings.updates = 7;
  settings.demonstration_weight = 0.25;
  EXPECT_EQ(SettingsJson(ParseSettings<GoSettings>(SettingsJson(settings))), SettingsJson(settings));
  EXPECT_THAT(TasksOf(settings), ::testing::ElementsAre(Task::kPlacement, Task::kFusion));
}

TEST(GoSettings, AreRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"tasks":["packing"]})", "packing"},    {R"({"tasks":[]})", "tasks"},  {R"({"samples":1})", "samples"},
      {R"({"iterations":0})", "iterations"},      {R"({"colour":1})", "colour"}, {R"({"updates":"many"})", "updates"},
      {R"({"learning_rate":2})", "learning_rate"}};
  for (const auto& [text, name] : cases) {
    try {
      ParseSettings<GoSettings>(text);
      FAIL() << text;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), HasSubstr(name));
    }
  }
}

TEST(GoSettings, PresetsAreUnderstood) {
  const auto go = ReadSettings<GoSettings>(MILLRACE_PRESETS "/go.json");
  EXPECT_GT(go.cases, 0);
  EXPECT_TRUE(go.workloads.empty()) << "the workloads judge";
  EXPECT_LT(ReadSettings<GoSettings>(MILLRACE_PRESETS "/go-finetune.json").updates, 50);
}

}  // namespace
}  // namespace millrace

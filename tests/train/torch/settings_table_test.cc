// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/torch/settings_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "millrace/train/gflownet/finetune.h"
#include "millrace/train/gflownet/settings.h"
#include "millrace/train/go/settings.h"
#include "millrace/train/hdp/trainer.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Sizes {
  int width = 3;
  int length = 5;
  double rate = 0.5;
  std::string shape = "round";
  std::vector<double> steps = {1, 2};
  std::vector<std::string> colours = {"red"};
  WeightsByName mix = {{"red", 1}, {"blue", 0.25}};
};

SettingsTable TableOf(Sizes& s) {
  return {{"width", &s.width, Between(1, 9), "how wide"},
          {"length", &s.length, From("width", s.width, 9), "how long"},
          {"rate", &s.rate, Between(0, 1), "how fast"},
          {"shape", &s.shape, OneOf({"round", "flat"}), "what it looks like"},
          {"steps", &s.steps, NotEmpty(Between(0, 10)), "one after the other"},
          {"colours", &s.colours, AnyText(), "names"},
          {"mix", &s.mix, NotEmpty({.least = 0, .most = 2, .words = {"red", "blue"}}), "colours by weight"}};
}

void CheckSettings(const Sizes& settings) { CheckRowsOf(settings); }

std::string WhyRefused(const std::string& text) {
  try {
    ParseSettings<Sizes>(text);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

TEST(SettingsTable, EveryKindOfValueReadsBackAsItWasWritten) {
  Sizes settings;
  settings.rate = 1.0 / 3;
  settings.colours = {};
  EXPECT_EQ(SettingsJson(settings),
            "{\n  \"width\": 3,\n  \"length\": 5,\n  \"rate\": 0.3333333333333333,\n  \"shape\": \"round\",\n  "
            "\"steps\": [1, 2],\n"
            "  \"colours\": [],\n  \"mix\": {\"red\": 1, \"blue\": 0.25}\n}\n");
  const Sizes again = ParseSettings<Sizes>(SettingsJson(settings));
  EXPECT_EQ(again.rate, settings.rate);
  EXPECT_EQ(again.colours, settings.colours);
  EXPECT_EQ(again.mix, settings.mix);
}

TEST(SettingsTable, WhatIsLeftOutKeepsItsDefault) {
  const Sizes settings = ParseSettings<Sizes>(R"({"width": 4})");
  EXPECT_EQ(settings.width, 4);
  EXPECT_EQ(settings.shape, "round");
}

TEST(SettingsTable, BothEndsOfARangeAreAllowedAndNothingBeyondThem) {
  EXPECT_EQ(WhyRefused(R"({"width": 1})"), "");
  EXPECT_EQ(WhyRefused(R"({"width": 9, "length": 9})"), "");
  EXPECT_EQ(WhyRefused(R"({"width": 0})"), "width: it is a number from 1 to 9, not 0");
  EXPECT_EQ(WhyRefused(R"({"width": 10})"), "width: it is a number from 1 to 9, not 10");
  EXPECT_EQ(WhyRefused(R"({"steps": [3, 11]})"), "steps: it is a number from 0 to 10, not 11");
  EXPECT_EQ(WhyRefused(R"({"mix": {"red": 3}})"), "mix: it is a number from 0 to 2, not 3");
}

TEST(SettingsTable, ARangeFromAnotherSettingIsThatOfItsValueOnceRead) {
  EXPECT_EQ(WhyRefused(R"({"length": 6, "width": 6})"), "");
  EXPECT_EQ(WhyRefused(R"({"length": 6, "width": 7})"), "length: it is a number from 7 (width) to 9, not 6");
  Sizes settings;
  EXPECT_EQ(AllowedText(RowNamed(TableOf(settings), "length")), "width to 9");
}

TEST(SettingsTable, WordsThatAreNotThereAreRefusedWithThoseThatAre) {
  EXPECT_EQ(WhyRefused(R"({"shape": "square"})"), "shape: there is no 'square'; there are round, flat");
  EXPECT_EQ(WhyRefused(R"({"mix": {"green": 1}})"), "mix: there is no 'green'; there are red, blue");
  EXPECT_EQ(WhyRefused(R"({"colours": ["green"]})"), "");
}

TEST(SettingsTable, WhatNeedsSomethingIsRefusedWithNothing) {
  EXPECT_EQ(WhyRefused(R"({"steps": []})"), "steps: at least one is needed");
  EXPECT_EQ(WhyRefused(R"({"mix": {"red": 0}})"), "mix: at least one needs a weight > 0");
  EXPECT_EQ(WhyRefused(R"({"colours": []})"), "");
}

TEST(SettingsTable, AnUnknownNameIsRefused) {
  EXPECT_EQ(WhyRefused(R"({"height": 1})"), "'height' is no setting of a training");
}

TEST(SettingsTable, HelpSaysWhatEachMeansWhatIsAllowedAndTheDefault) {
  Sizes settings;
  const std::string help = RowsHelp(TableOf(settings));
  EXPECT_THAT(help, HasSubstr("how wide (1 to 9; default 3)\n"));
  EXPECT_THAT(help, HasSubstr("what it looks like (round, flat; default \"round\")\n"));
  EXPECT_THAT(help, HasSubstr("names (default [\"red\"])\n"));
  EXPECT_THAT(help, HasSubstr("colours by weight (red, blue: 0 to 2; default {\"red\": 1, \"blue\": 0.25})\n"));
}

template <typename Settings>
void ExpectGoodTable(bool limited) {
  Settings settings;
  const SettingsTable table = TableOf(settings);
  EXPECT_NO_THROW(CheckRows(table));
  if (!limited) {
    EXPECT_NO_THROW(CheckSettings(settings));
  }
  std::set<std::string_view> names;
  for (const Setting& row : table) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " is there twice";
    EXPECT_FALSE(row.meaning.empty()) << row.name;
    EXPECT_THAT(std::string(row.name), Not(HasSubstr(" ")));
    EXPECT_LE(row.allowed.least, row.allowed.most) << row.name;
  }
}

TEST(SettingsTable, OfEveryTrainingHasEachNameOnceWithAMeaningAndADefaultThatIsAllowed) {
  ExpectGoodTable<GFlowNetSettings>(false);
  ExpectGoodTable<GoSettings>(false);
  ExpectGoodTable<FinetuneSettings>(true);  // needs a limit
  ExpectGoodTable<HdpSettings>(true);
}

}  // namespace
}  // namespace millrace

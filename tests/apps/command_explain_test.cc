// SPDX-License-Identifier: Apache-2.0
#include "tests/apps/command.h"

namespace millrace {
namespace {

using testing::Command;
using ::testing::HasSubstr;
using testing::Json;
using testing::kMachine;

class CommandExplains : public Command {
 protected:
  void SetUp() override {
    GenerateGraph();
    for (const std::string method : {"heft", "sequential"})
      Do(std::string("schedule g.json ") + kMachine + " --method " + method + " -o " + method + ".json");
  }
};

TEST_F(CommandExplains, ACriticalPathThatReachesFromTheBeginningToTheMakespanOfSimulateUnderEitherProxy) {
  for (const std::string proxy : {"linear", "contended"}) {
    const Json told = Do("explain g.json --plan heft.json --json --top 3 --proxy " + proxy).json();
    const Json simulated = Do("simulate g.json --plan heft.json --json --proxy " + proxy).json();
    EXPECT_EQ(told["makespan_seconds"], simulated["makespan_seconds"]);
    EXPECT_EQ(told["proxy"], proxy);
    const Json& path = told["critical_path"];
    ASSERT_FALSE(path.empty());
    EXPECT_EQ(path.front()["start"], 0);
    EXPECT_EQ(path.back()["finish"], told["makespan_seconds"]);
    ASSERT_EQ(told["groups"].size(), 3U);
    for (const Json& group : told["groups"]) {
      const Json& there = simulated["groups"][group["group"].get<std::size_t>()];
      EXPECT_EQ(group["start"], there["start"]);
      EXPECT_EQ(group["finish"], there["finish"]);
      EXPECT_EQ(group["device"], there["device"]);
      ASSERT_EQ(group["on_device"].size(), 4U);
      EXPECT_EQ(group["on_device"][group["device"].get<std::size_t>()]["makespan_seconds"], told["makespan_seconds"]);
    }
  }
}

TEST_F(CommandExplains, TheGroupsOfOpsWhoseNamesAreAskedFor) {
  const Json graph = Json::parse(testing::ContentOf(Path("g.json")));
  const std::string name = graph["ops"][7]["name"].get<std::string>();
  const Json told = Do("explain g.json --plan heft.json --json --op '" + name + "'").json();
  ASSERT_EQ(told["groups"].size(), 1U);
  EXPECT_EQ(told["groups"][0]["ops"], Json::array({name}));
  EXPECT_THAT(Do("explain g.json --plan heft.json --op '" + name + "'").out, HasSubstr("\n" + name + " ("));
  Refuses("explain g.json --plan heft.json --op nobody", "no op's name matches 'nobody'");
}

TEST_F(CommandExplains, InWordsWhatTakesTheTime) {
  const std::string out = Do("explain g.json --plan heft.json").out;
  for (const char* const words : {"makespan ", "critical path", "computing", "transfers", "starts "})
    EXPECT_THAT(out, HasSubstr(words));
}

TEST_F(CommandExplains, WhatOnePlanDoesOtherwiseThanAnother) {
  const Json told = Do("compare g.json --plan sequential.json --with heft.json --json").json();
  EXPECT_EQ(told["plan"]["method"], "sequential");
  EXPECT_EQ(told["with"]["method"], "heft");
  EXPECT_EQ(told["with"]["makespan_seconds"], Do("simulate g.json --plan heft.json --json").json()["makespan_seconds"]);
  EXPECT_EQ(told["plan"]["transferred_bytes"], 0);
  EXPECT_GT(told["with"]["transferred_bytes"], 0);
  EXPECT_GT(told["moved_ops"], 0);
  EXPECT_EQ(told["regrouped_ops"], 0);
  std::size_t moved = 0;
  for (const Json& cluster : told["moved"]) {
    moved += cluster["ops"].size();
    EXPECT_NE(cluster["from_device"], cluster["to_device"]);
  }
  EXPECT_EQ(moved, told["moved_ops"].get<std::size_t>());
  EXPECT_THAT(Do("compare g.json --plan sequential.json --with heft.json").out, HasSubstr("the second plan takes "));
  EXPECT_THAT(Do("compare g.json --plan heft.json --with heft.json").out, HasSubstr("both plans take "));
}

TEST_F(CommandExplains, ThatPlansForDifferentMachinesNeedOneToBeComparedOn) {
  Do("schedule g.json --machine homogeneous:2 --method heft -o two.json");
  Refuses("compare g.json --plan heft.json --with two.json", "two.json is for another machine than heft.json");
  Do("compare g.json --plan heft.json --with two.json --machine homogeneous:4");
}

}  // namespace
}  // namespace millrace

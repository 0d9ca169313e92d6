// SPDX-License-Identifier: Apache-2.0
#include "tests/apps/command.h"

namespace millrace {
namespace {

using testing::Command;
using ::testing::HasSubstr;
using testing::Json;
using testing::kMachine;

class CommandSteers : public Command {
 protected:
  void SetUp() override { GenerateGraph(); }

  // By op, as the plan has it.
  std::vector<int> DevicesOf(const std::string& plan_file) const {
    const Json plan = Json::parse(testing::ContentOf(Path(plan_file)));
    std::vector<int> devices(40, -1);
    for (std::size_t group = 0; group < plan["groups"].size(); ++group) {
      for (const Json& op : plan["groups"][group]) devices[op.get<std::size_t>()] = plan["placement"][group].get<int>();
    }
    return devices;
  }

  std::string NameOf(std::size_t op) const {
    return Json::parse(testing::ContentOf(Path("g.json")))["ops"][op]["name"].get<std::string>();
  }

  std::string Schedule(const std::string& rest) const {
    return std::string("schedule g.json ") + kMachine + " " + rest;
  }
};

TEST_F(CommandSteers, OpsOfThatNameToTheDevice) {
  Do(Schedule("--method anneal --iterations 500 -o free.json"));
  const std::string pins = " --pin '" + NameOf(7) + "=3' --pin '" + NameOf(8) + "=device2'";
  for (const std::string method : {"sequential", "heft", "anneal --iterations 500", "metis"}) {
    Do(Schedule("--method " + method + pins + " -o pinned.json"));
    EXPECT_EQ(DevicesOf("pinned.json")[7], 3) << method;
    EXPECT_EQ(DevicesOf("pinned.json")[8], 2) << method;
  }
  Do(Schedule("--method heft --pin '*=1' -o all.json"));
  EXPECT_EQ(DevicesOf("all.json"), std::vector<int>(40, 1));
}

TEST_F(CommandSteers, WhatStaysOfAnEarlierPlan) {
  Do(Schedule("--method random --seed 5 -o old.json"));
  Do(Schedule("--method heft --keep old.json -o all.json"));
  EXPECT_EQ(DevicesOf("all.json"), DevicesOf("old.json"));
  Do(Schedule("--method heft --keep old.json --keep-ops '" + NameOf(7) + "' --keep-ops '" + NameOf(9) +
              "' -o some.json"));
  for (const std::size_t op : {7, 9}) EXPECT_EQ(DevicesOf("some.json")[op], DevicesOf("old.json")[op]);
  EXPECT_NE(DevicesOf("some.json"), DevicesOf("old.json"));
  Do(Schedule("--method heft --keep old.json --keep-ops '!" + NameOf(7) + "' --pin '" + NameOf(7) + "=0' -o but.json"));
  std::vector<int> expected = DevicesOf("old.json");
  expected[7] = 0;
  EXPECT_EQ(DevicesOf("but.json"), expected);
}

TEST_F(CommandSteers, OptimizeWhoseBaselinesSayWhereTheyBreakAPin) {
  const std::string pin = " --pin '" + NameOf(7) + "=3'";
  const std::string optimize =
      std::string("optimize g.json ") + kMachine + " --target sim:contention --samples 8 --iterations 200";
  const Json told = Do(optimize + pin + " -o out --json").json();
  EXPECT_EQ(DevicesOf("out/plan.json")[7], 3);
  // What one gets without planning knows no pins; HEFT plans within them.
  EXPECT_EQ(told["baselines_breaking_pins"], Json::array({"sequential", "expert"}));
  EXPECT_TRUE(told["baselines"]["sequential"].is_number());
  EXPECT_NE(told["best"]["method"], "sequential");
  EXPECT_THAT(testing::ContentOf(Path("out/report.html")), HasSubstr("breaks the pins"));
  EXPECT_THAT(Do(optimize + pin + " -o again").out, HasSubstr("sequential (breaks the pins)"));
  EXPECT_EQ(Do(optimize + " -o free --json").json()["baselines_breaking_pins"], Json::array());
}

TEST_F(CommandSteers, NobodyToWhatCannotBe) {
  Refuses(Schedule("--pin 'nobody*=0'"), "no op's name matches 'nobody*'");
  Refuses(Schedule("--pin '*=device9'"), "no device 'device9'");
  Refuses(Schedule("--pin '*'"), "--pin takes PATTERN=DEVICE");
  Refuses(Schedule("--pin '*=0' --pin '" + NameOf(7) + "=1'"), "is pinned to 'device0' by '*'");
  Refuses(Schedule("--keep-ops '*'"), "name the plan with --keep");
  Refuses(Schedule("--keep nowhere.json"), "nowhere.json");
  Do("generate layered --ops 41 --ccr 1 --seed 3 -o other.json");
  Do(std::string("schedule other.json ") + kMachine + " -o other_plan.json");
  Refuses(Schedule("--keep other_plan.json"), "made for another graph");
  Do(Schedule("--method random -o old.json"));
  Refuses(Schedule("--keep old.json --pin '*=0'"), "--keep holds it on");
  Refuses(std::string("optimize g.json ") + kMachine + " --target sim:noise --pin 'nobody=0' -o out",
          "no op's name matches");
}

TEST_F(CommandSteers, TowardsLessMemoryWithinALimitOfTime) {
  const Json fast = Do(Schedule("--method heft --json")).json();
  EXPECT_FALSE(fast.contains("front"));
  const Json told =
      Do(Schedule("--method heft --objective memory,within=1.5 --time-limit 2 --json -o less.json")).json();
  EXPECT_EQ(told["objective"], "memory");
  EXPECT_LE(told["makespan_seconds"].get<double>(), told["limit_seconds"].get<double>());
  const Json simulated = Do("simulate g.json --plan less.json --json").json();
  double peak = 0;
  for (const Json& bytes : simulated["peak_memory_bytes"]) peak = std::max(peak, bytes.get<double>());
  EXPECT_EQ(told["peak_memory_bytes"], peak);
  EXPECT_EQ(told["makespan_seconds"], simulated["makespan_seconds"]);
  const Json& front = told["front"];
  ASSERT_GE(front.size(), 2U);
  EXPECT_LT(front.back()["peak_memory_bytes"].get<double>(), front.front()["peak_memory_bytes"].get<double>());
  EXPECT_THAT(Do(Schedule("--method sequential --objective throughput,within=2 --time-limit 1")).out,
              HasSubstr("from run to run"));
}

TEST_F(CommandSteers, OptimizeTowardsLessMemory) {
  const std::string optimize =
      std::string("optimize g.json ") + kMachine + " --target sim:contention --samples 8 --iterations 400";
  const Json told = Do(optimize + " --objective memory,within=1.5 -o out --json").json();
  EXPECT_EQ(told["objective"], "memory");
  EXPECT_LE(told["best"]["target_seconds"].get<double>(), told["limit_seconds"].get<double>());
  EXPECT_LE(told["best"]["peak_memory_bytes"].get<double>(), told["fastest"]["peak_memory_bytes"].get<double>());
  EXPECT_GE(told["front"].size(), 2U);
  EXPECT_THAT(testing::ContentOf(Path("out/report.html")), HasSubstr("Time against peak memory"));
  EXPECT_THAT(Do(optimize + " --objective throughput -o again").out, HasSubstr("objective throughput"));
}

TEST_F(CommandSteers, TowardsNothingElse) {
  Refuses(Schedule("--objective speed"), "it is one of latency, memory, throughput");
  Refuses(Schedule("--objective memory,within=0.5"), "--objective memory,within=0.5");
  const testing::Outcome outcome = Run(Schedule("--method heft --objective memory,seconds=1e-9 --time-limit 1"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("allow more in the objective"));
}

}  // namespace
}  // namespace millrace

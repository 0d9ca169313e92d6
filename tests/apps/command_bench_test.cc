// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>

#include "tests/apps/command.h"

namespace millrace {
namespace {

using testing::Command;
using testing::ContentOf;
using ::testing::HasSubstr;
using testing::Json;
using testing::Outcome;

class CommandBench : public Command {};

TEST_F(CommandBench, PrintsExperimentsAsTablesThatNameCommandMachineAndSeed) {
  const Outcome markdown = Do("bench quality --quick --methods heft,forward-backward --seed 3 --quiet");
  EXPECT_THAT(markdown.out, HasSubstr("bench quality --quick --methods heft,forward-backward --seed 3 --quiet"));
  EXPECT_THAT(markdown.out, HasSubstr("seed 3"));
  EXPECT_THAT(markdown.out, HasSubstr("| forward-backward | - | 36 |"));
  const Json object = Do("bench quality --quick --methods heft,forward-backward --json").json();
  EXPECT_EQ(object["tables"]["overall"].size(), 2u);
  EXPECT_EQ(object["tables"]["instances"].size(), 36u);
  EXPECT_GE(object["processors"], 1);
  const std::string recorded = "bench quality --quick --methods heft,forward-backward --record record.json --json";
  const Json first = Do(recorded).json();
  EXPECT_EQ(Do(recorded).json()["tables"], first["tables"]) << "seconds too: nothing was run anew";
  Refuses("bench quality --quick --methods heft --record record.json", "record.json");
  Refuses("bench quality --methods magic", "'magic'");
  Refuses("bench ablation", "--runs");
}

TEST_F(CommandBench, HoldsSearchesAgainstAnnealingOnTheFamiliesNamed) {
  const std::string words =
      "bench search --families judge,lu --sizes 30 --devices 2+2 --ccr 1 --instances 1 --seconds 0.01 --methods brkga";
  const Json tables = Do(words + " --json").json()["tables"];
  ASSERT_EQ(tables["overall"].size(), 2u);
  EXPECT_EQ(tables["overall"][0]["method"], "anneal-plain");
  EXPECT_EQ(tables["overall"][1]["method"], "brkga");
  EXPECT_EQ(tables["overall"][1]["instances"], 5);
  EXPECT_EQ(tables["by family"].size(), 5u);
  ASSERT_EQ(tables["instances"].size(), 5u);
  for (const Json& instance : tables["instances"]) {
    EXPECT_EQ(instance["use"], instance["family"] == "lu" ? "tunes" : "judges");
    EXPECT_GT(instance["brkga-0.01s"].get<double>(), 0);
  }
  EXPECT_THAT(Do(words).out, HasSubstr("| 0.01 | brkga | 5 |"));
  Refuses("bench search --families nonsense", "'nonsense'");
  Refuses("bench search --devices 2+3", "'2+3'");
  Refuses("bench search --methods heft", "heft answers at once");
  Refuses("bench search --sizes 0", "--sizes");
  Refuses("bench search --ccr nan", "--ccr");
}

TEST_F(CommandBench, MeasuresHowStagesGrowAndDrawsThem) {
  const Json tables = Do("bench scale --sizes 100,400 --degrees 2,4 --stages read,heft,optimize --optimize-seconds 1 "
                         "-o scale.svg --json")
                          .json()["tables"];
  ASSERT_EQ(tables["seconds"].size(), 6u);
  for (const char* table : {"seconds", "processor", "memory"}) {
    for (const Json& row : tables[table]) {
      EXPECT_GT(row["100 ops"].get<double>(), 0) << row;
      EXPECT_GT(row["400 ops"].get<double>(), 0) << row;
    }
  }
  EXPECT_THAT(ContentOf(Path("scale.svg")), HasSubstr("</svg>"));
  Refuses("bench scale --stages nonsense", "'nonsense'");
  Refuses("bench scale --degrees 0", "--degrees");
}

TEST_F(CommandBench, HoldsItsTimelinesAgainstSimGrids) {
  GenerateGraph();
  Do("schedule g.json --machine homogeneous:2,bandwidth=1e9 --method heft -o heft.json");
  const Outcome measured = Run("measure g.json --plan heft.json --target sim:simgrid --json");
  if (measured.exit_code == 2 && measured.err.find("no SimGrid") != std::string::npos) GTEST_SKIP() << measured.err;
  EXPECT_GT(measured.json()["median_seconds"].get<double>(), 0);
  const Json tables = Do("bench proxies --quick --plans 6 --ops 12 --ccr 1 --families er --json").json()["tables"];
  EXPECT_EQ(tables["agreement"].size(), 4u);
  EXPECT_EQ(tables["choice"].size(), 4u);
  Refuses("measure g.json --plan heft.json --target sim:simgrid+contention", "leave contention out");
}

TEST_F(CommandBench, GivesEveryExperimentItsOwnFlagsAndRefusesThoseOfOthers) {
  EXPECT_THAT(Do("bench").out, HasSubstr("quality"));
  const Json listed = Do("bench --json").json()["experiments"];
  EXPECT_GT(listed.size(), 10u);
  const std::set<std::string> recorded = {"go-multitask", "go-placement", "go-transfer", "quality"};
  for (const Json& experiment : listed) {
    const std::string name = experiment["name"];
    const std::string help = Do("bench " + name + " --help").out;
    EXPECT_THAT(help, HasSubstr("--quick")) << name;
    EXPECT_THAT(help, HasSubstr("--seed")) << name;
    EXPECT_EQ(help.find("--record") != std::string::npos, recorded.contains(name)) << name;
  }
  EXPECT_EQ(Do("bench --json go-workloads --quick --workloads rnnlm-2-short").json()["tables"]["workloads"].size(), 1u);
  Refuses("bench magic", "no experiment 'magic'");
  Refuses("bench quality --hdp 3", "--hdp");
  Refuses("bench --cpu quality", "--cpu");
  Refuses("bench quality temperature", "temperature");
  Refuses("bench robustness --models towers", "--cpu");
}

}  // namespace
}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "tests/apps/command.h"

// report, compare --html, and inspect of everything that Millrace keeps.
namespace millrace {
namespace {

using testing::ContentOf;
using ::testing::HasSubstr;
using testing::Json;
using testing::kMachine;

class CommandReport : public testing::Command {
 protected:
  void MakeResult() const {
    GenerateGraph();
    Do(std::string("optimize g.json ") + kMachine +
       " --target sim:noise --quick --samples 8 --iterations 100 -o result");
  }
};

TEST_F(CommandReport, IsMadeAnewAsItWas) {
  MakeResult();
  const std::string page = ContentOf(Path("result/report.html")), trace = ContentOf(Path("result/timeline.trace.json"));
  std::filesystem::remove(Path("result/report.html"));
  std::filesystem::remove(Path("result/timeline.trace.json"));
  EXPECT_THAT(Do("report result").out, HasSubstr("result/report.html"));
  EXPECT_EQ(ContentOf(Path("result/report.html")), page);
  EXPECT_EQ(ContentOf(Path("result/timeline.trace.json")), trace);
  EXPECT_EQ(Do("report result --json").json()["report"], "result/report.html");
}

TEST_F(CommandReport, NamesWhatIsMissingOrDamaged) {
  Refuses("report nowhere", "nowhere: is no folder");
  MakeResult();
  Refuses("report g.json", "g.json: is no folder");
  std::filesystem::remove(Path("result/baselines/heft.plan.json"));
  Refuses("report result", "result/baselines/heft.plan.json: could not be read");
  Write("result/graph.json", "{\"format\":");
  Refuses("report result", "result/graph.json");
  std::filesystem::remove(Path("result/result.json"));
  Refuses("report result", "result: has no result.json");
}

TEST_F(CommandReport, ComparesTwoPlansOnAPage) {
  GenerateGraph();
  for (const std::string method : {"heft", "sequential"})
    Do("schedule g.json " + std::string(kMachine) + " --method " + method + " -o " + method + ".json");
  const std::string words = "compare g.json --plan sequential.json --with heft.json --html page.html";
  EXPECT_THAT(Do(words).out, HasSubstr("page written to page.html"));
  EXPECT_THAT(ContentOf(Path("page.html")), HasSubstr("faster is the second plan"));
  EXPECT_TRUE(Do(words + " --json").json().contains("moved"));
  EXPECT_EQ(Run("compare g.json --plan sequential.json --with heft.json --html no/folder/page.html").exit_code, 1);
}

TEST_F(CommandReport, InspectTellsOfPresets) {
  EXPECT_EQ(Do("inspect p100x4 --json").json()["kind"], "machine");
  EXPECT_THAT(Do("inspect homogeneous:3,latency=1e-6").out, HasSubstr("3 devices"));
  Refuses("inspect homogeneous:0", "homogeneous");
}

TEST_F(CommandReport, InspectTellsOfResultsAndRecords) {
  MakeResult();
  const Json result = Do("inspect result --json").json();
  EXPECT_EQ(result["kind"], "result");
  EXPECT_THAT(result["files"].get<std::vector<std::string>>(), ::testing::Contains("baselines/heft.plan.json"));
  EXPECT_EQ(Do("inspect result/result.json --json").json()["best"], result["best"]);
  EXPECT_THAT(Do("inspect result").out, HasSubstr("heft"));
  const Json records = Do("inspect result/records.jsonl --json").json();
  EXPECT_EQ(records["kind"], "records");
  EXPECT_EQ(records["problems"][0]["target"].get<std::string>().substr(0, 9), "sim:noise");
  EXPECT_GT(records["records"], 1);
  EXPECT_THAT(Do("inspect result/records.jsonl").out, HasSubstr("the fastest takes"));
  std::filesystem::create_directory(Path("empty"));
  Refuses("inspect empty", "is a folder without a result.json");
  Write("result/result.json", R"({"format":"millrace.result","version":1})");
  Refuses("inspect result", "result/result.json: graph_hash");
}

TEST_F(CommandReport, InspectTellsOfWeightsAndProfiles) {
  std::string header =
      R"({"__metadata__":{"architecture":"mpnn"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  std::string weights(1, static_cast<char>(header.size()));
  weights += std::string(7, '\0') + header + std::string(8, '\0');
  Write("w.safetensors", weights);
  const Json account = Do("inspect w.safetensors --json").json();
  EXPECT_EQ(account["kind"], "weights");
  EXPECT_EQ(account["numbers"], 2);
  EXPECT_THAT(Do("inspect w.safetensors").out, HasSubstr("architecture: mpnn"));
  Write("w.safetensors", weights.substr(0, weights.size() - 1));
  Refuses("inspect w.safetensors", "w.safetensors");
  Write("profile.jsonl",
        "{\"format\":\"millrace.profile\",\"version\":1,\"processor\":\"a cpu\",\"runtime\":\"r\"}\n"
        "{\"signature\":\"conv\",\"units\":1,\"seconds\":0.25}\n");
  const Json profile = Do("inspect profile.jsonl --json").json();
  EXPECT_EQ(profile["kind"], "profile");
  EXPECT_EQ(profile["used_here"], false);
  EXPECT_EQ(profile["entries"][0]["seconds"], 0.25);
  EXPECT_THAT(Do("inspect profile.jsonl").out, HasSubstr("250.000 ms"));
  Write("profile.jsonl",
        "{\"format\":\"millrace.profile\",\"version\":1,\"processor\":\"a cpu\",\"runtime\":\"r\"}\n{}\n");
  Refuses("inspect profile.jsonl", "profile.jsonl:2: signature");
}

TEST_F(CommandReport, InspectReadsStandardInput) {
  MakeResult();
  Do("generate towers --seed 2 -o m.onnx");
  for (const std::string name :
       {"g.json", "result/plan.json", "result/result.json", "result/records.jsonl", "m.onnx"}) {
    const Json given = Do("inspect " + name + " --json").json();
    EXPECT_EQ(Do("inspect - --json <" + name).json(), given) << name;
  }
  Refuses("inspect - <result/report.html", "standard input: is no graph");
}

}  // namespace
}  // namespace millrace

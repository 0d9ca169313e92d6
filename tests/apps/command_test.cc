// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "tests/apps/command.h"

namespace millrace {
namespace {

using testing::Command;
using testing::ContentOf;
using ::testing::HasSubstr;
using testing::Json;
using testing::kMachine;
using ::testing::Not;
using testing::Outcome;

TEST_F(Command, SchedulesAGraphAndSimulatesThePlanToTheSameMakespan) {
  GenerateGraph();
  const std::set<std::string> searches = {"brkga", "anneal", "anneal-plain", "exact"};
  for (const std::string method : {"sequential", "random", "list", "heft", "cpop", "peft", "etf", "dls", "minmin",
                                   "maxmin", "randomised-list", "brkga", "anneal", "anneal-plain", "exact"}) {
    const char* const limits = searches.contains(method) ? " --iterations 500" : "";
    const Json scheduled =
        Do(std::string("schedule g.json ") + kMachine + " --method " + method + limits + " --json -o plan.json").json();
    EXPECT_EQ(scheduled["method"], method);
    EXPECT_GE(scheduled["makespan_seconds"].get<double>(), scheduled["lower_bound_seconds"].get<double>());
    EXPECT_GE(scheduled["makespan_seconds"].get<double>(), scheduled["proven_bound_seconds"].get<double>());
    EXPECT_GE(scheduled["proven_bound_seconds"].get<double>(), scheduled["lower_bound_seconds"].get<double>());
    EXPECT_GE(scheduled["samples"].get<int>(), 1);
    EXPECT_GE(scheduled["wall_seconds"].get<double>(), 0);
    const Json simulated = Do(std::string("simulate g.json ") + kMachine + " --plan plan.json --json").json();
    EXPECT_EQ(simulated["makespan_seconds"], scheduled["makespan_seconds"]) << method;
    EXPECT_EQ(simulated["feasible"], true);
    EXPECT_EQ(simulated["peak_memory_bytes"].size(), 4U);
    ASSERT_EQ(simulated["groups"].size(), 40U);
    for (const Json& group : simulated["groups"])
      EXPECT_LE(group["start"].get<double>(), group["finish"].get<double>());
    EXPECT_EQ(Json::parse(ContentOf(Path("plan.json")))["format"], "millrace.plan");
  }
}

TEST_F(Command, GivesTheSamePlanForTheSameSeedAtAnyNumberOfThreads) {
  GenerateGraph();
  const std::map<std::string, std::string> limits = {{"random", "--samples 20"},
                                                     {"randomised-list", "--samples 20"},
                                                     {"brkga", "--samples 20 --iterations 500"},
                                                     {"anneal", "--iterations 500"},
                                                     {"exact", "--iterations 500"}};
  for (const auto& [method, limit] : limits) {
    const std::string words = std::string("schedule g.json ") + kMachine + " --method " + method + " " + limit;
    Do(words + " --seed 7 --threads 1 -o a.json");
    Do(words + " --seed 7 --threads 2 -o b.json");
    Do(words + " --seed 8 -o c.json");
    EXPECT_EQ(ContentOf(Path("a.json")), ContentOf(Path("b.json"))) << method;
    EXPECT_NE(ContentOf(Path("a.json")), ContentOf(Path("c.json"))) << method;
  }
}

TEST_F(Command, TakesTheOptionsAndLimitsOfAMethodWithThatMethodAlone) {
  GenerateGraph();
  const std::string schedule = std::string("schedule g.json ") + kMachine + " --json --method ";
  EXPECT_EQ(Do(schedule + "anneal --chains 2 --iterations 500").json()["samples"], 2) << "a plan for each chain";
  EXPECT_EQ(Do(schedule + "randomised-list --samples 5").json()["samples"], 5);
  EXPECT_EQ(Do(schedule + "brkga --population 12 --iterations 100").json()["samples"], 12);
  Refuses(schedule + "heft --samples 5", "heft takes no samples");
  Refuses(schedule + "anneal --samples 5", "anneal takes no samples");
  Refuses(schedule + "heft --iterations 5", "heft takes no iterations");
  Refuses(schedule + "heft --weights w.safetensors", "heft takes no --weights");
  Refuses(schedule + "go-untrained --weights w.safetensors", "go-untrained takes no --weights");
  Refuses(schedule + "heft --temperature 0.1", "heft takes no --temperature");
  Refuses(schedule + "anneal --chains 0", "--chains of anneal is a whole number from 1 to 1000");
  Refuses(schedule + "anneal --chains 2,3", "--chains of anneal takes one number");
  Refuses(schedule + "anneal --chains many", "many");
}

TEST_F(Command, DrawsPlansOfUntrainedPlannersInAnyBuild) {
  GenerateGraph();
  const std::string schedule = std::string("schedule g.json ") + kMachine + " --json -o plan.json --method ";
  for (const char* words : {"gflownet-untrained --samples 6", "gflownet-untrained --samples 6 --temperature 0.02,0.5",
                            "gflownet-untrained+resampling --samples 6", "go-untrained --samples 6",
                            "go-untrained --samples 6 --fusion greedy",
                            "go-untrained --samples 6 --softmax-temperature 0.2 --draw-iterations 2"}) {
    const Json scheduled = Do(schedule + words).json();
    EXPECT_EQ(scheduled["samples"], 6) << words;
    const Json simulated = Do(std::string("simulate g.json ") + kMachine + " --plan plan.json --json").json();
    EXPECT_EQ(simulated["makespan_seconds"], scheduled["makespan_seconds"]) << words;
  }
}

TEST_F(Command, JudgesPlansByTheProxyOfTheMachineUnlessAnotherIsNamed) {
  Do("generate layered --ops 60 --ccr 4 -o g.json");
  Json machine{{"format", "millrace.machine"}, {"version", 1}, {"name", "bus"}, {"links", Json::array()}};
  for (int d = 0; d < 3; ++d) {
    machine["devices"].push_back({{"name", "d"},
                                  {"kind", "gpu"},
                                  {"units", {d}},
                                  {"flops_per_second", 1e12},
                                  {"memory_bandwidth", 1e11},
                                  {"launch_seconds", 0}});
    for (int to = 0; to < 3; ++to) {
      if (to == d) continue;
      machine["links"].push_back({{"from", d}, {"to", to}, {"latency_seconds", 0}, {"bandwidth", 4e9}, {"channel", 0}});
    }
  }
  Write("bus.json", machine.dump());
  const auto makespan = [this](const std::string& words) { return Do(words).json()["makespan_seconds"].get<double>(); };
  for (const char* method : {"heft", "anneal --iterations 2000", "brkga --iterations 500"}) {
    const std::string schedule =
        std::string("schedule g.json --machine bus.json --json -o plan.json --method ") + method;
    const double contended = makespan(schedule);
    EXPECT_EQ(Json::parse(ContentOf(Path("plan.json")))["proxy"], "contended");
    EXPECT_EQ(makespan("simulate g.json --plan plan.json --json"), contended);
    EXPECT_LT(makespan("simulate g.json --plan plan.json --json --proxy linear"), contended);
    makespan(schedule + " --proxy linear");
    EXPECT_EQ(Json::parse(ContentOf(Path("plan.json")))["proxy"], "linear");
    EXPECT_GT(makespan("simulate g.json --plan plan.json --json --proxy contended"), contended) << method;
  }
  Refuses("schedule g.json --machine bus.json --proxy slow", "--proxy");
}

TEST_F(Command, LetsAMethodChooseFusionOnlyWhereNoneIsNamed) {
  Do("generate squeezenet --image 64 --seed 2 -o m.onnx");
  const auto groups = [this](const std::string& words) {
    return Do(std::string("schedule m.onnx ") + kMachine + " --json -o plan.json " + words).json()["groups"].get<int>();
  };
  const int ops = groups("--method heft");
  const int greedy = groups("--method heft --fusion greedy");
  EXPECT_LE(groups("--method heft --fusion merged"), greedy);
  EXPECT_LT(greedy, ops);
  for (const char* method : {"go", "go-untrained"}) {
    const std::string words = std::string("--samples 4 --method ") + method;
    EXPECT_EQ(groups(words + " --fusion none"), ops);
    const Json plan = Json::parse(ContentOf(Path("plan.json")));
    for (const Json& group : plan.at("groups")) EXPECT_EQ(group.size(), 1u);
    EXPECT_EQ(groups(words + " --fusion greedy"), greedy);
    EXPECT_LT(groups(words), ops) << "it fuses as it sees fit";
  }
}

TEST_F(Command, OptimizesForASimulatedTargetAndLeavesItsFiles) {
  GenerateGraph();
  const std::string words = std::string("optimize g.json ") + kMachine +
                            " --target sim:contention --samples 30 --iterations 500 --json -o result";
  const Json result = Do(words).json();
  EXPECT_LE(result["best"]["target_seconds"].get<double>(), result["baselines"]["heft"].get<double>());
  EXPECT_TRUE(result["best"].contains("method"));
  EXPECT_TRUE(result["best"]["proxy_seconds"].is_number());
  EXPECT_TRUE(result["lower_bound_seconds"].is_number());
  for (const char* name : {"plan.json", "baselines/heft.plan.json", "baselines/sequential.plan.json", "report.html",
                           "timeline.trace.json", "records.jsonl", "graph.json"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_ / "result" / name)) << name;
  }
  const Json simulated = Do("simulate result/graph.json --plan result/plan.json --json").json();
  EXPECT_NEAR(simulated["makespan_seconds"].get<double>(), result["best"]["proxy_seconds"].get<double>(), 1e-12);
  const Json again = Do(words).json();
  EXPECT_EQ(again["best"], result["best"]);
  EXPECT_EQ(again["plans_recalled"].get<std::size_t>(), again["candidates"].size())
      << "the second run resumes from the records";
}

TEST_F(Command, LeavesOutTheStagesThatAreNamed) {
  GenerateGraph();
  const std::string words = std::string("optimize g.json ") + kMachine +
                            " --target sim:contention --samples 30 --iterations 500 --json -o result";
  const Json all = Do(words).json();
  std::filesystem::remove_all(folder_ / "result");
  const Json fewer = Do(words + " --without calibrate,compare").json();
  EXPECT_GT(fewer["best"]["target_seconds"].get<double>(), 0);
  EXPECT_EQ(fewer["candidates"].size(), all["candidates"].size()) << "its places go to the proxy's choice";
  EXPECT_TRUE(all["transfer_fit"].is_object());
  EXPECT_TRUE(fewer["transfer_fit"].is_null());
  for (const char* stage : {"profile", "finetune", "shared-links", "dearer-transfers", "calibrate", "compare"})
    Refuses(words + " --without nonsense", stage);
  Refuses(words + " --without nonsense", "'nonsense'");
  Refuses(words + " --without race", "'race'");
}

TEST_F(Command, MeasuresThroughAnyCommandThatPrintsSeconds) {
  GenerateGraph();
  Write("board.sh", "#!/bin/sh\necho booting\nawk 'BEGIN{print 0.25}'\n");
  std::filesystem::permissions(folder_ / "board.sh", std::filesystem::perms::owner_all);
  const Json result = Do(std::string("optimize g.json ") + kMachine +
                         " --target 'cmd:./board.sh' --samples 5 --iterations 100 --top-k 2 --quick --json -o r")
                          .json();
  EXPECT_EQ(result["best"]["target_seconds"], 0.25);
}

TEST_F(Command, PlansAndRunsARealModelOnThisHost) {
  Do("generate squeezenet --image 64 --seed 2 -o m.onnx");
  const Json result =
      Do("optimize m.onnx --quick --samples 20 --iterations 500 --top-k 4 --profile-cache '' --json -o r").json();
  EXPECT_GT(result["best"]["target_seconds"].get<double>(), 0);
  Do("run m.onnx --random-inputs --output-dir plain");
  Do("run m.onnx --random-inputs --plan r/plan.json --output-dir planned");
  EXPECT_EQ(ContentOf(Path("plain/output_0.pb")).size(), ContentOf(Path("planned/output_0.pb")).size());
  const Json measured = Do("measure m.onnx --plan r/plan.json --repetitions 3 --json").json();
  EXPECT_EQ(measured["times"].size(), 3U);
  EXPECT_LE(measured["min_seconds"], measured["median_seconds"]);
  EXPECT_TRUE(measured["disturbed"].is_boolean());
  const Json plan = Json::parse(ContentOf(Path("r/plan.json")));
  const Json here = Json::parse(Do("machine this").out);
  ASSERT_EQ(plan["machine"].contains("default_link"), here.contains("default_link"));
  if (here.contains("default_link")) {
    EXPECT_NE(plan["machine"]["default_link"], here["default_link"]) << "that is a guess, which was measured";
  }
  EXPECT_EQ(measured["timeline"]["runs"], 3);
  ASSERT_EQ(measured["timeline"]["groups"].size(), plan["groups"].size());
  for (std::size_t group = 0; group < plan["groups"].size(); ++group) {
    const Json& ran = measured["timeline"]["groups"][group];
    EXPECT_EQ(ran["device"], plan["placement"][group]);
    EXPECT_LE(ran["start"], ran["finish"]);
  }
  Do("measure m.onnx --plan r/plan.json --repetitions 3 --trace measured.json");
  std::size_t slices = 0;
  const Json trace = Json::parse(ContentOf(Path("measured.json")));
  for (const Json& event : trace["traceEvents"]) slices += event["ph"] == "X";
  EXPECT_GE(slices, plan["groups"].size());
  Refuses("measure m.onnx --plan r/plan.json --target 'cmd-sh:echo 1' --trace t.json", "leave --trace out");
  Do("convert m.onnx planned.onnx --plan r/plan.json");
  Do("convert planned.onnx planned.json --plan-out extracted.json");
  const Json before = Do("simulate m.onnx --plan r/plan.json --json").json();
  const Json after = Do("simulate planned.onnx --plan extracted.json --json").json();
  EXPECT_NEAR(before["makespan_seconds"].get<double>(), after["makespan_seconds"].get<double>(), 1e-12);
}

TEST_F(Command, SimulatesThePlanAModelCarriesOnAnotherMachine) {
  Do("generate towers --seed 2 -o m.onnx");
  Do(std::string("schedule m.onnx ") + kMachine + " --method heft -o plan.json");
  Do("convert m.onnx planned.onnx --plan plan.json");
  const std::string carried = "simulate planned.onnx --plan planned.onnx --json";
  const Json here = Do(carried).json();
  EXPECT_EQ(Do(carried + " " + kMachine).json(), here);
  EXPECT_EQ(Do("simulate planned.onnx --plan planned.onnx --dim nothing=3 --json -q").json(), here);
  const Json faster = Do(carried + " --machine homogeneous:4").json();
  EXPECT_LT(faster["makespan_seconds"].get<double>(), here["makespan_seconds"].get<double>());
  const Json plan = Json::parse(ContentOf(Path("plan.json")));
  Json cramped = plan["machine"];
  cramped["format"] = "millrace.machine";
  cramped["version"] = 1;
  for (Json& device : cramped["devices"]) device["memory_bytes"] = 1;
  Write("cramped.json", cramped.dump());
  EXPECT_EQ(Do(carried + " --machine cramped.json").json()["feasible"], false);
  Refuses("simulate planned.onnx --plan planned.onnx --machine homogeneous:1", "planned.onnx");
  Refuses("simulate planned.onnx --plan m.onnx --machine homogeneous:4", "carries no plan");
  Refuses("simulate m.onnx --plan missing.json --machine homogeneous:4", "missing.json");
  Do("generate er --ops 41 --seed 1 -o other.json");
  Refuses("simulate other.json --plan planned.onnx --machine homogeneous:4", "another graph");
}

TEST_F(Command, PlansAndRunsAQuantisedModel) {
  Do("generate squeezenet --quantized --image 64 -o q.onnx");
  EXPECT_THAT(Do("inspect q.onnx").out, testing::HasSubstr("QLinearConv"));
  Do("optimize q.onnx --time-limit 2 -o r");
  Do("run q.onnx --random-inputs --plan r/plan.json --output-dir planned");
  Do("generate towers --quantized -o towers.json");
  EXPECT_THAT(Do("inspect towers.json").out, testing::HasSubstr("QuantizeLinear"));
  Refuses("generate towers --quantized --training -o t.json", "leave --training out");
  Refuses("generate layered --quantized -o t.json", "--quantized is for models");
}

TEST_F(Command, PlansTheTrainingGraphOfAModel) {
  Do("generate rnnlm --training --layers 2 --hidden 16 --batch 4 --sequence 3 --vocabulary 20 -o t.json");
  const Json scheduled = Do("schedule t.json --machine p100x2 --method heft --json -o plan.json").json();
  EXPECT_GT(scheduled["makespan_seconds"].get<double>(), 0);
  EXPECT_EQ(Do("simulate t.json --machine p100x2 --plan plan.json --json").json()["feasible"], true);
  Do("generate wavenet --training --layers 4 --stacks 2 --hidden 8 --sequence 20 -o w.json");
  Refuses("generate rnnlm --training -o t.onnx", "a training graph cannot be run");
  Refuses("generate layered --training -o t.json", "--training is for models");
  Refuses("generate rnnlm --stacks 2 -o t.json", "rnnlm has no stacks");
  Refuses("generate wavenet --layers 5 --stacks 2 -o t.json", "do not split");
  const Json table = Do("bench go-workloads --quick --json").json();
  EXPECT_EQ(table["tables"]["workloads"].size(), 14U);
}

TEST_F(Command, SaysWhatIsWrongInOneLineAndExitsWithTwo) {
  GenerateGraph();
  Do(std::string("schedule g.json ") + kMachine + " -o plan.json");
  Do("generate er --ops 41 --seed 1 -o other.json");
  Refuses("", "subcommand");
  Refuses("fly", "fly");
  Refuses("schedule", "GRAPH");
  Refuses("schedule missing.json", "missing.json");
  Refuses("schedule g.json --method astrology", "astrology");
  Refuses("schedule g.json --machine nowhere", "nowhere");
  Refuses("schedule g.json --machine homogeneous:0", "homogeneous");
  Refuses("simulate other.json --plan plan.json", "another graph");
  Refuses(std::string("optimize g.json ") + kMachine + " --target cpu", "model");
  Refuses(std::string("optimize g.json ") + kMachine + " --target sim:fog", "fog");
  Refuses(std::string("optimize g.json ") + kMachine + " --target sim:noise -o /dev/null/out", "/dev/null/out");
  Refuses("run g.json --output-dir d", "g.json");
  const std::string head = R"({"format":"millrace.graph","version":1,"name":"x",)";
  const auto graph = [&](const std::string& rest, const std::string& what) {
    Write("bad.json", head + rest);
    Refuses("inspect bad.json", what);
  };
  Write("bad.json", "{\"format\":");
  Refuses("inspect bad.json", "bad.json");
  Write("bad.json", R"({"format":"millrace.graph","version":2,"name":"x","ops":[],"tensors":[]})");
  Refuses("inspect bad.json", "version");
  graph(
      R"("ops":[{"name":"a","type":"t"},{"name":"b","type":"t"}],"tensors":[{"name":"t","producer":0,"consumers":[1],"bytes":1},{"name":"u","producer":1,"consumers":[0],"bytes":1}]})",
      "cycle");
  graph(R"("ops":[{"name":"a","type":"t"}],"tensors":[{"name":"t","producer":0,"consumers":[0],"bytes":1}]})", "'t'");
  graph(R"("ops":[{"name":"a","type":"t"}],"tensors":[{"name":"t","producer":0,"consumers":[9],"bytes":1}]})", "9");
  graph(R"("ops":[{"name":"a","type":"t","flops":-1}],"tensors":[]})", "flops");
  graph(R"("ops":[{"name":"a","type":"t","flops":1e999}],"tensors":[]})", "bad.json");
  graph(R"("ops":[{"name":"a","type":"t","flops":NaN}],"tensors":[]})", "bad.json");
  graph(R"("ops":[{"name":"a","type":"t","seconds":"fast"}],"tensors":[]})", "seconds");
  graph(R"("ops":{},"tensors":[]})", "ops");
  Write("bad.onnx", "certainly not a model");
  Refuses("inspect bad.onnx", "bad.onnx");
  Write("machine.json", R"({"format":"millrace.machine","version":1,"name":"m","devices":[],"links":[]})");
  Refuses("schedule g.json --machine machine.json", "no devices");
  Write(
      "machine.json",
      R"({"format":"millrace.machine","version":1,"name":"m","devices":[{"name":"d","kind":"k","units":[0],"flops_per_second":1,"memory_bandwidth":1,"launch_seconds":0}],"links":[{"from":0,"to":5,"latency_seconds":0,"bandwidth":1}]})");
  Refuses("schedule g.json --machine machine.json", "machine.json");
}

TEST_F(Command, RefusesBudgetsThatAreNone) {
  GenerateGraph();
  const std::string schedule = std::string("schedule g.json ") + kMachine + " --method ";
  const std::string optimize = std::string("optimize g.json ") + kMachine + " --target sim:noise ";
  for (const std::string bad : {"0", "-1", "nan", "inf", "soon"}) {
    Refuses(schedule + "anneal --time-limit " + bad, "--time-limit");
    Refuses(schedule + "anneal --iterations " + bad, "--iterations");
    Refuses(schedule + "gflownet-untrained --samples " + bad, "--samples");
    Refuses(schedule + "gflownet-untrained --samples 2 --temperature " + bad, "--temperature");
    Refuses(optimize + "--time-limit " + bad, "--time-limit");
    Refuses(optimize + "--iterations " + bad, "--iterations");
    Refuses(optimize + "--samples " + bad, "--samples");
    Refuses(optimize + "--finetune " + bad, "--finetune");
    Refuses(optimize + "--temperature " + bad, "--temperature");
    Refuses("bench search --quick --seconds " + bad, "--seconds");
    Refuses("bench go-placement --quick --seconds " + bad, "--seconds");
    Refuses("bench quality --finetune " + bad, "--finetune");
    Refuses("bench temperature --temperatures " + bad, "--temperatures");
    Refuses("bench scale --optimize-seconds " + bad, "--optimize-seconds");
  }
}

TEST_F(Command, RefusesCostsThatAddUpToNoNumber) {
  const auto write = [&](const std::string& costs, const std::string& bytes) {
    Write("huge.json", R"({"format":"millrace.graph","version":1,"name":"x","ops":[{"name":"a","type":"t",)" + costs +
                           R"(},{"name":"b","type":"t",)" + costs +
                           R"(}],"tensors":[{"name":"t","producer":0,"consumers":[1],"bytes":)" + bytes + "}]}");
  };
  for (const std::string cost : {"\"seconds\":1e308", "\"flops\":1e308", "\"weight_bytes\":1e308"}) {
    write(cost, "1");
    for (const std::string verb : {"inspect huge.json", "convert huge.json copy.json", "schedule huge.json"})
      Refuses(verb, "huge.json: ");
    Refuses("inspect huge.json", "add up to more than 1e300");
  }
  write("\"seconds\":1", "1e308");
  Refuses("inspect huge.json", "bytes");
  // Each by itself is a number that a graph may have; on this machine it takes too long.
  write("\"flops\":1e299", "1");
  Do("inspect huge.json");
  Write(
      "slow.json",
      R"({"format":"millrace.machine","version":1,"name":"m","devices":[{"name":"d","kind":"k","units":[0],"flops_per_second":1e-9,"memory_bandwidth":1,"launch_seconds":0}],"links":[]})");
  Refuses("schedule huge.json --machine slow.json -o plan.json", "more than 1e300 s");
  EXPECT_FALSE(std::filesystem::exists(Path("plan.json")));
  write("\"seconds\":1", "1e299");
  Refuses("schedule huge.json --machine homogeneous:2,bandwidth=1e-9", "more than 1e300 s");
  // What is large and still adds up comes out as numbers.
  write("\"seconds\":1e298", "1e298");
  const Json scheduled = Do("schedule huge.json --machine homogeneous:2,bandwidth=1 -o plan.json --json").json();
  EXPECT_TRUE(scheduled["makespan_seconds"].is_number());
  EXPECT_TRUE(Do("simulate huge.json --plan plan.json --json").json()["makespan_seconds"].is_number());
}

TEST_F(Command, TakesMachinesWhoseChannelsHaveNoLinksToServeAndRefusesChannelsThatAreNone) {
  GenerateGraph();
  const auto write = [&](const std::string& links) {
    const std::string device =
        R"(","kind":"k","flops_per_second":1e12,"memory_bandwidth":1e11,"launch_seconds":0,"units":[)";
    Write("buses.json", R"({"format":"millrace.machine","version":1,"name":"m","devices":[{"name":"d)" + device +
                            R"(0]},{"name":"e)" + device + R"(1]},{"name":"both)" + device + R"(0,1]}],"links":[)" +
                            links + "]}");
  };
  const std::string words =
      "optimize g.json --machine buses.json --target sim:contention --quick --samples 4 "
      "--iterations 50 --methods heft,etf --top-k 2 --json -o out";
  // No links at all; a bus between devices that share a unit, over which nothing ever goes; one link of one bus.
  for (const std::string links : {"", R"({"from":0,"to":2,"latency_seconds":1,"bandwidth":1,"channel":3})",
                                  R"({"from":0,"to":1,"latency_seconds":0,"bandwidth":1e9,"channel":2147483647})"}) {
    write(links);
    EXPECT_TRUE(Do(words).json()["best"]["target_seconds"].is_number()) << links;
  }
  for (const std::string channel : {"-1", "0.5", "1e10", "\"a\""}) {
    write(R"({"from":0,"to":1,"latency_seconds":0,"bandwidth":1e9,"channel":)" + channel + "}");
    Refuses(words, "channel");
    write(R"({"from":0,"to":1,"latency_seconds":0,"bandwidth":1e9,"entry_channel":)" + channel + "}");
    Refuses(words, "entry_channel");
  }
}

TEST_F(Command, GeneratesTaskGraphsInTheNearestSizeAndSaysSo) {
  EXPECT_THAT(Do("generate lu --ops 60 -o lu.json").out, HasSubstr("55 ops (the size of lu that is nearest to 60)"));
  EXPECT_EQ(Do("generate fft --ops 95 --ccr 2 --seed 3 -o fft.json --json").json()["ops"], 95);
  Do(std::string("schedule fft.json ") + kMachine + " --json");
  Refuses("generate lu --degree 3 -o lu.json", "--degree");
  Refuses("generate lu --batch 3 -o lu.json", "--batch");
  Refuses("generate lu -o lu.onnx", "task graph");
  Refuses("generate lu --ops 0 -o lu.json", "ops");
  Refuses("generate lu --ccr nan -o lu.json", "ccr");
}

TEST_F(Command, ReportsFailedWorkWithOne) {
  GenerateGraph();
  Write(
      "tiny.json",
      R"({"format":"millrace.machine","version":1,"name":"m","devices":[{"name":"d","kind":"k","units":[0],"flops_per_second":1,"memory_bandwidth":1,"memory_bytes":1,"launch_seconds":0}],"links":[]})");
  const Outcome nothing_fits = Run("schedule g.json --machine tiny.json --method heft -o plan.json");
  EXPECT_EQ(nothing_fits.exit_code, 1) << nothing_fits.err;
  EXPECT_FALSE(std::filesystem::exists(Path("plan.json")));
  const Outcome no_board = Run(std::string("optimize g.json ") + kMachine +
                               " --target cmd:false --quick --samples 5 --iterations 50 --top-k 2 -o r");
  EXPECT_EQ(no_board.exit_code, 1) << no_board.err;
  EXPECT_FALSE(std::filesystem::exists(Path("r/plan.json")));
}

TEST_F(Command, StopsOnCtrlCWithoutLeavingHalfAFile) {
  Do("generate layered --ops 3000 --seed 3 -o big.json");
  const pid_t child = ::fork();
  if (child == 0) {
    if (::chdir(folder_.c_str()) != 0 || std::freopen("err.txt", "w", stderr) == nullptr) ::_exit(90);
    ::execl(MILLRACE_COMMAND, "millrace", "schedule", "big.json", "--machine", "homogeneous:8", "--method", "anneal",
            "--time-limit", "600", "-o", "plan.json", nullptr);
    ::_exit(91);
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));
  ::kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(ContentOf(Path("err.txt")), HasSubstr("interrupted"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("plan")));
}

TEST_F(Command, PrintsMachinesThatItReadsBack) {
  for (const char* preset :
       {"homogeneous:3", "homogeneous:4,latency=1e-6,bandwidth=1e9", "p100x4", "cpu-gpu", "this"}) {
    const Outcome printed = Do(std::string("machine ") + preset);
    Write("m.json", printed.out);
    EXPECT_EQ(Do("machine m.json --json").json(), printed.json()) << preset;
  }
}

}  // namespace
}  // namespace millrace

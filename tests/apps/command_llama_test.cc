// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include "tests/apps/command.h"
#include "tests/engines/llama/rpc_stand_in.h"
#include "tests/formats/gguf_sample.h"

namespace millrace {
namespace {

using testing::Command;
using testing::ContentOf;
using ::testing::HasSubstr;
using testing::Json;
using testing::RpcStandIn;
using testing::SmallLlama;

class LlamaCommand : public Command {
 protected:
  LlamaCommand() {
    std::ofstream(Path("m.gguf"), std::ios::binary) << SmallLlama(16).Bytes();
    Json spec = {{"layers", 16}, {"hosts", {}}};
    spec["hosts"][slow_.endpoint()] = {{"token", 0.002}, {"prompt", 0.02}, {"free", 1}};
    spec["hosts"][fast_.endpoint()] = {{"token", 0.001}, {"prompt", 0.01}, {"free", 1}};
    Write("spec.json", spec.dump());
    environment_ = "export MILLRACE_LLAMA_STAND_IN='" + Path("spec.json") +
                   "' MILLRACE_LLAMA_BENCH='" MILLRACE_LLAMA_BENCH_STAND_IN "'";
    words_ = "optimize m.gguf --target llama --rounds 1 --hosts " + slow_.endpoint() + "," + fast_.endpoint();
  }
  RpcStandIn slow_, fast_;
  std::string environment_, words_;
};

TEST_F(LlamaCommand, PrintsTheWinnerAndItsCommandLine) {
  const testing::Outcome outcome = RunAfter(environment_, words_ + " -o out");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("One machine is faster: " + fast_.endpoint()));
  EXPECT_THAT(outcome.out, HasSubstr("llama-server -m m.gguf --rpc " + fast_.endpoint() + " -ngl 999 --device RPC0"));
  const Json plan = Json::parse(ContentOf(Path("out/plan.json")));
  EXPECT_EQ(plan["format"], "millrace.llama-plan");
  EXPECT_EQ(plan["version"], 1);
  EXPECT_EQ(plan["stages"], Json::parse(R"([{"host":1,"begin":0,"end":17}])"));
}

TEST_F(LlamaCommand, PrintsOneObject) {
  const testing::Outcome outcome =
      RunAfter(environment_, words_ + " --json --prompt 1024 --host-memory 1e12,1e12 -o out");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = outcome.json();
  EXPECT_EQ(json["target"], "llama");
  EXPECT_GT(json["best"]["target_seconds"].get<double>(), 0);
  for (const char* const baseline : {"default", "by speed", "fastest alone"}) {
    EXPECT_GE(json["baselines"][baseline].get<double>(), json["best"]["target_seconds"].get<double>());
  }
  EXPECT_GE(json["candidates"].size(), 4U);
  EXPECT_EQ(Json::parse(ContentOf(Path("out/result.json"))), json);
}

TEST_F(LlamaCommand, RefusesWhatCannotBePlanned) {
  Refuses("optimize m.gguf --target llama", "needs --hosts");
  Refuses("optimize g.onnx --target llama --hosts a:1 --llama-bench /bin/true", "plans GGUF models");
  Refuses("optimize m.gguf --target llama --hosts a --llama-bench /bin/true", "'a' is not HOST:PORT");
  Refuses("optimize m.gguf --target llama --hosts a:1,a:1 --llama-bench /bin/true", "is there twice");
  Refuses("optimize m.gguf --target llama --hosts a:1 --llama-bench /no/program", "no program that can be run");
  Refuses("optimize m.gguf --target llama --hosts a:1 --llama-bench /bin/true --context 4", "--context: is shorter");
  Refuses("optimize m.gguf --target llama --hosts a:1 --llama-bench /bin/true --prompt 0 --generate 0",
          "without tokens");
  Refuses("optimize none.gguf --target llama --hosts a:1 --llama-bench /bin/true", "none.gguf");
}

TEST_F(LlamaCommand, ReadsGgufModelsInOtherVerbs) {
  EXPECT_EQ(Do("inspect m.gguf --json").json()["ops"], 18);
  EXPECT_EQ(Do("convert m.gguf g.json --dim tokens=64 --dim context=1000 --json").json()["ops"], 18);
  Do("schedule g.json --machine homogeneous:2,latency=1e-3,bandwidth=1e9 --method heft -o plan.json");
  Write("bad.gguf", "GGUF and then nothing");
  Refuses("inspect bad.gguf", "bad.gguf: is of GGUF version");
}

}  // namespace
}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/llama/optimize_llama.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "millrace/errors/errors.h"
#include "millrace/target/target.h"
#include "tests/engines/llama/rpc_stand_in.h"
#include "tests/formats/gguf_sample.h"
#include "tests/reference/temporary_folder.h"

namespace millrace {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;
using testing::RpcStandIn;
using testing::SmallLlama;

constexpr std::uint64_t kGigabyte = std::uint64_t{1} << 30;

std::string FailureOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const WorkFailed& failure) {
    EXPECT_THAT(failure.what(), ::testing::Not(HasSubstr("\n")));
    return failure.what();
  } catch (const MeasurementFailed& failure) {
    EXPECT_THAT(failure.what(), ::testing::Not(HasSubstr("\n")));
    return failure.what();
  }
  ADD_FAILURE() << "it worked";
  return "";
}

// Hosts that do not exist, RPC servers and a llama-bench that pretend they do.
class OptimizeLlamaTest : public ::testing::Test {
 protected:
  OptimizeLlamaTest() {
    std::ofstream(folder_.Path("model.gguf"), std::ios::binary) << SmallLlama(16).Bytes();
    setenv("MILLRACE_LLAMA_STAND_IN", folder_.Path("stand_in.json").c_str(), 1);
    spec_ = {{"layers", 16}, {"hosts", Json::object()}, {"output", 0.4}, {"log", folder_.Path("runs.txt")}};
    options_.program = MILLRACE_LLAMA_BENCH_STAND_IN;
    options_.records = folder_.Path("records.jsonl");
    options_.rounds = 1;
    options_.use.context_tokens = 128;
    options_.timeout_seconds = 100;
    options_.probe.bytes = 64 << 10;
    options_.probe.seconds = 2;
  }

  RpcStandIn& AddHost(double token_seconds, double prompt_seconds, std::uint64_t free_bytes = 8 * kGigabyte) {
    servers_.push_back(std::make_unique<RpcStandIn>(RpcStandIn::Settings{RpcStandIn::Manner::kProper, {free_bytes}}));
    const std::string endpoint = servers_.back()->endpoint();
    spec_["hosts"][endpoint] = {{"token", token_seconds}, {"prompt", prompt_seconds}, {"free", free_bytes}};
    options_.hosts.push_back(ParseRpcEndpoint(endpoint));
    return *servers_.back();
  }

  LlamaResult Optimize() {
    std::ofstream(folder_.Path("stand_in.json")) << spec_.dump();
    return OptimizeLlama(folder_.Path("model.gguf"), options_, [](const std::string&, int, int) {});
  }

  int Runs() const {
    std::ifstream file(folder_.Path("runs.txt"));
    return static_cast<int>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  }

  static const LlamaContender& Named(const LlamaResult& result, const std::string& method) {
    for (const LlamaContender& contender : result.contenders) {
      if (contender.method == method) return contender;
    }
    throw std::runtime_error("there is no " + method);
  }

  // Memory for so many layers of the small model, with what a host needs to work.
  std::uint64_t MemoryFor(double layers) const {
    const SplitProblem problem = SplitProblemOf(LanguageModelOf(ReadGguf(folder_.Path("model.gguf"))), options_.use);
    return static_cast<std::uint64_t>(problem.working_bytes + layers * problem.parts.front().memory_bytes);
  }

  testing::TemporaryFolder folder_;
  Json spec_;
  LlamaOptions options_;
  std::vector<std::unique_ptr<RpcStandIn>> servers_;
};

TEST_F(OptimizeLlamaTest, SaysSoWhereOneMachineIsFaster) {
  AddHost(0.002, 0.02);
  AddHost(0.001, 0.01);
  const LlamaResult result = Optimize();
  EXPECT_TRUE(result.one_machine_is_faster);
  const LlamaContender& best = result.contenders[result.best];
  EXPECT_EQ(best.method, "fastest alone");
  EXPECT_EQ(best.split, (LayerSplit{{1, 0, 17}}));
  EXPECT_THAT(best.words.hosts, ElementsAre(servers_[1]->endpoint()));
  const double ratio = *Named(result, "default").target_seconds / *best.target_seconds;
  EXPECT_NEAR(ratio, (9 * 2.0 + 7.4) / 16.4, 0.01) << "equal memory: llama.cpp's default gives nine parts to the first";
  EXPECT_EQ(Named(result, "default").split, (LayerSplit{{0, 0, 9}, {1, 9, 17}}));
}

TEST_F(OptimizeLlamaTest, FillsTheFastHostWhereTheModelDoesNotFit) {
  // Three to one, and the fast host has room for twelve layers.
  AddHost(0.003, 0.03, 64 * MemoryFor(20));
  AddHost(0.001, 0.01, MemoryFor(12.5));
  const LlamaResult result = Optimize();
  const LlamaContender& best = result.contenders[result.best];
  EXPECT_FALSE(result.one_machine_is_faster);
  EXPECT_LE(*best.target_seconds, *Named(result, "fastest alone").target_seconds);
  EXPECT_EQ(best.split, (LayerSplit{{1, 0, 12}, {0, 12, 17}}));
  EXPECT_EQ(best.words.tensor_split, "11.5/5.5");
  EXPECT_NEAR(*best.target_seconds, 128 * (12 * 0.001 + 4.4 * 0.003), 0.01);
  EXPECT_NEAR(best.predicted.request, *best.target_seconds, 0.1 * *best.target_seconds);
}

TEST_F(OptimizeLlamaTest, FindsSpeedsWhereNoHostHoldsTheModel) {
  AddHost(0.002, 0.02, MemoryFor(13.5));
  AddHost(0.001, 0.01, MemoryFor(10.5));
  const LlamaResult result = Optimize();
  const LlamaContender& best = result.contenders[result.best];
  EXPECT_EQ(best.split, (LayerSplit{{1, 0, 10}, {0, 10, 17}}));
  EXPECT_NEAR(result.problem.hosts[0].seconds_per_byte / result.problem.hosts[1].seconds_per_byte, 2, 0.2);
}

TEST_F(OptimizeLlamaTest, SplitsAPipelinedPromptBySpeed) {
  AddHost(0.002, 0.2);
  AddHost(0.001, 0.1);
  spec_["pipelined"] = true;
  options_.use.prompt_tokens = 512 * 16;
  options_.use.context_tokens = options_.use.prompt_tokens;
  options_.use.generated_tokens = 0;
  const LlamaResult result = Optimize();
  EXPECT_TRUE(result.problem.pipelined);
  const LlamaContender& best = result.contenders[result.best];
  ASSERT_EQ(best.split.size(), 2U);
  for (const LlamaContender& contender : result.contenders) EXPECT_LE(*best.target_seconds, *contender.target_seconds);
  EXPECT_GT(*Named(result, "fastest alone").target_seconds / *best.target_seconds, 1.3);
}

TEST_F(OptimizeLlamaTest, IsNeverBehindTheObviousSplits) {
  for (const double ratio : {1.0, 2.0, 4.0}) {
    servers_.clear();
    options_.hosts.clear();
    spec_["hosts"] = Json::object();
    std::remove(options_.records.c_str());
    AddHost(0.001 * ratio, 0.01, MemoryFor(30));
    AddHost(0.001, 0.01, MemoryFor(9.5));
    AddHost(0.0015, 0.01, MemoryFor(7.5));
    spec_["noise"] = 0.02;
    const LlamaResult result = Optimize();
    for (const LlamaContender& contender : result.contenders) {
      if (!contender.target_seconds || contender.over_memory) continue;
      EXPECT_LE(*result.contenders[result.best].target_seconds, *contender.target_seconds) << ratio;
    }
  }
}

TEST_F(OptimizeLlamaTest, GoesOnFromItsRecords) {
  AddHost(0.002, 0.02);
  AddHost(0.001, 0.01);
  options_.rounds = 2;
  const LlamaResult first = Optimize();
  const int runs = Runs();
  const LlamaResult second = Optimize();
  EXPECT_EQ(Runs(), runs + 1) << "only llama.cpp's own split is asked for again";
  EXPECT_GT(second.recalled, 0);
  EXPECT_EQ(second.contenders[second.best].split, first.contenders[first.best].split);
  options_.rounds = 3;
  Optimize();
  EXPECT_GT(Runs(), runs + 2) << "a third round is run";
}

TEST_F(OptimizeLlamaTest, SaysWhatIsMissingBeforeAnythingRuns) {
  AddHost(0.002, 0.02, MemoryFor(5.5));
  AddHost(0.001, 0.01, MemoryFor(5.5));
  EXPECT_THAT(FailureOf([this] { Optimize(); }), HasSubstr("find no place"));
  EXPECT_EQ(Runs(), 0);
}

TEST_F(OptimizeLlamaTest, KeepsToTheMemoryThatIsGiven) {
  AddHost(0.002, 0.02);
  AddHost(0.001, 0.01);
  options_.memory_bytes = {1e12, static_cast<double>(MemoryFor(4.5))};
  EXPECT_EQ(Optimize().problem.hosts[1].memory_bytes, static_cast<double>(MemoryFor(4.5)));
  options_.memory_bytes = {1e12};
  EXPECT_THROW(Optimize(), InvalidInput);
}

TEST_F(OptimizeLlamaTest, NeverTakesADefaultThatIsOverTheMemoryGiven) {
  AddHost(0.004, 0.02);
  AddHost(0.001, 0.01);
  options_.memory_bytes = {1e12, static_cast<double>(MemoryFor(4.5))};
  const LlamaResult result = Optimize();
  const LlamaContender& own = Named(result, "default");
  const LlamaContender& best = result.contenders[result.best];
  EXPECT_TRUE(own.over_memory);
  EXPECT_LT(*own.target_seconds, *best.target_seconds) << "it would win";
  EXPECT_TRUE(Fits(result.problem, best.split));
}

TEST_F(OptimizeLlamaTest, TriesAFailedRunOnceMore) {
  AddHost(0.002, 0.02);
  AddHost(0.001, 0.01);
  spec_["faults"] = {{servers_[1]->endpoint(), {{"kind", "crash"}, {"times", 1}}}};
  const LlamaResult result = Optimize();
  EXPECT_EQ(result.devices.size(), 2U);
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST_F(OptimizeLlamaTest, LeavesOutAHostThatBreaksEveryRun) {
  AddHost(0.002, 0.02);
  AddHost(0.001, 0.01);
  spec_["faults"] = {{servers_[1]->endpoint(), {{"kind", "crash"}}}};
  const LlamaResult result = Optimize();
  ASSERT_EQ(result.devices.size(), 1U);
  EXPECT_EQ(result.devices[0].endpoint, servers_[0]->endpoint());
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_THAT(result.warnings[0], HasSubstr("Remote RPC server crashed"));
  EXPECT_THAT(result.warnings[0], HasSubstr("the others go on without it"));
}

TEST_F(OptimizeLlamaTest, EndsARunThatHangs) {
  AddHost(0.001, 0.01);
  options_.timeout_seconds = 0.5;
  spec_["faults"] = {{servers_[0]->endpoint(), {{"kind", "hang"}}}};
  EXPECT_THAT(FailureOf([this] { Optimize(); }), HasSubstr("did not end within 0.5 seconds and was killed"));
}

TEST_F(OptimizeLlamaTest, ToldOfNoTimesSaysSo) {
  AddHost(0.001, 0.01);
  spec_["faults"] = {{servers_[0]->endpoint(), {{"kind", "garbage"}}}};
  EXPECT_THAT(FailureOf([this] { Optimize(); }), HasSubstr("what llama-bench printed"));
  spec_["faults"] = {{servers_[0]->endpoint(), {{"kind", "nothing"}}}};
  EXPECT_THAT(FailureOf([this] { Optimize(); }), HasSubstr("no time for generated tokens"));
}

TEST_F(OptimizeLlamaTest, NamesAHostThatIsNotThere) {
  AddHost(0.001, 0.01).Stop();
  EXPECT_THAT(FailureOf([this] { Optimize(); }), HasSubstr(servers_[0]->endpoint() + ": cannot be reached"));
}

TEST(RpcProbe, AsksForDevicesAndMeasuresTheLink) {
  RpcStandIn server({RpcStandIn::Manner::kProper, {5 * kGigabyte, 3 * kGigabyte}});
  const RpcProbe probe = ProbeRpc(ParseRpcEndpoint(server.endpoint()));
  EXPECT_EQ(probe.version, "7.0.0");
  ASSERT_EQ(probe.devices.size(), 2U);
  EXPECT_EQ(probe.devices[1].free_bytes, 3.0 * kGigabyte);
  EXPECT_EQ(probe.devices[1].total_bytes, 6.0 * kGigabyte);
  EXPECT_GT(probe.round_trip_seconds, 0);
  EXPECT_GT(probe.bandwidth, 0);
  EXPECT_EQ(ProbeRpc(ParseRpcEndpoint(server.endpoint())).devices.size(), 2U) << "the next client is served";
}

TEST(RpcProbe, SaysInOneLineWhatIsWrong) {
  const auto told = [](RpcStandIn::Manner manner) {
    RpcStandIn server({manner, {kGigabyte}});
    RpcProbeLimits limits;
    limits.seconds = 0.5;
    return FailureOf([&] { ProbeRpc(ParseRpcEndpoint(server.endpoint()), limits); });
  };
  EXPECT_THAT(told(RpcStandIn::Manner::kSilent),
              HasSubstr("says nothing (is another client using it?) within 0.5 seconds"));
  EXPECT_THAT(told(RpcStandIn::Manner::kOtherProtocol), HasSubstr("speaks protocol 4.0.0"));
  EXPECT_THAT(told(RpcStandIn::Manner::kGarbage), HasSubstr("answers what no llama.cpp RPC server"));
  EXPECT_THAT(told(RpcStandIn::Manner::kHangsUp), HasSubstr("breaks the connection off"));
  EXPECT_THAT(FailureOf([] { ProbeRpc(ParseRpcEndpoint("no-such-host.invalid:5")); }), HasSubstr("name is not known"));
}

TEST(RpcEndpoint, IsAHostAndAPort) {
  EXPECT_EQ(ParseRpcEndpoint("localhost:50052").host, "localhost");
  for (const char* const wrong : {"", ":1", "a", "a:", "a:0", "a:65536", "a:x", "::1:5"})
    EXPECT_THROW(ParseRpcEndpoint(wrong), InvalidInput) << wrong;
}

TEST(LlamaBench, ReadsTimesAndTheLog) {
  LlamaBenchSetting setting;
  setting.prompt_tokens = 512;
  const std::string output =
      R"({"build_commit": "abc", "build_number": 7, "n_prompt": 512, "n_gen": 0, "samples_ns": [ 2000000000, 1000000000 ]})"
      "\n"
      R"({"build_commit": "abc", "build_number": 7, "n_prompt": 0, "n_gen": 128, "samples_ns": [ 1280000000 ]})"
      "\n";
  const std::string log =
      "llama_context: pipeline parallelism enabled\n"
      "load_tensors: layer   0 assigned to device RPC0, is_swa = 0\n"
      "load_tensors: layer  16 assigned to device RPC1, is_swa = 0\nlayer x assigned to device y\n";
  const LlamaBenchAnswer answer = ParseLlamaBench(output, log, setting);
  EXPECT_THAT(answer.prompt_seconds, ElementsAre(2, 1));
  EXPECT_THAT(answer.token_seconds, ElementsAre(::testing::DoubleNear(0.01, 1e-12)));
  EXPECT_EQ(answer.build, "abc (7)");
  EXPECT_TRUE(answer.pipelined);
  EXPECT_EQ(answer.device_of_part, (std::map<int, std::string>{{0, "RPC0"}, {16, "RPC1"}}));
  EXPECT_THROW(ParseLlamaBench(output.substr(0, output.find('\n')), "", setting), InvalidInput);
  EXPECT_THROW(
      ParseLlamaBench(R"({"build_commit":"a","build_number":1,"n_prompt":0,"n_gen":1,"samples_ns":[0]})", "", setting),
      InvalidInput);
}

TEST(LlamaBench, IsLookedForInItsPlaces) {
  EXPECT_EQ(FindLlamaBench(MILLRACE_LLAMA_BENCH_STAND_IN), MILLRACE_LLAMA_BENCH_STAND_IN);
  EXPECT_THROW(FindLlamaBench("/no/such/program"), InvalidInput);
}

}  // namespace
}  // namespace millrace

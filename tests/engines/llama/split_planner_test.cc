// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/llama/split_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include "millrace/engines/llama/host_speeds.h"
#include "millrace/engines/llama/llama_contenders.h"
#include "millrace/engines/llama/tensor_split.h"
#include "millrace/errors/errors.h"
#include "millrace/random/random.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

// Every split there is, fitting or not: each order of each set of hosts, each way to cut the parts.
void EachSplit(const SplitProblem& problem, const std::function<void(const LayerSplit&)>& take) {
  const int parts = static_cast<int>(problem.parts.size());
  const int hosts = static_cast<int>(problem.hosts.size());
  LayerSplit split;
  const std::function<void(int, unsigned)> extend = [&](int begin, unsigned used) {
    if (begin == parts) return take(split);
    for (int host = 0; host < hosts; ++host) {
      if ((used >> host & 1U) != 0) continue;
      for (int end = begin + 1; end <= parts; ++end) {
        split.push_back({host, begin, end});
        extend(end, used | 1U << host);
        split.pop_back();
      }
    }
  };
  extend(0, 0);
}

SplitProblem RandomSplitProblem(Random& random, int parts, int hosts) {
  SplitProblem problem;
  const auto uniform = [&random](double low, double high) { return random.Uniform(low, high); };
  for (int i = 0; i < parts; ++i) problem.parts.push_back({uniform(1, 3), uniform(1, 3), uniform(1, 3)});
  for (int i = 0; i < hosts; ++i) {
    problem.hosts.push_back({uniform(1, 4) * parts, uniform(0.5, 4), uniform(0.5, 4), uniform(0, 1), uniform(0, 0.2)});
  }
  problem.working_bytes = uniform(0, 2);
  problem.generated_tokens = random.Below(3) == 0 ? 0 : uniform(1, 5);
  problem.micro_batches = static_cast<double>(random.Below(5));
  problem.token_bytes = uniform(0, 1);
  problem.micro_batch_bytes = uniform(0, 5);
  problem.logit_bytes = uniform(0, 3);
  problem.pipelined = random.Below(2) == 0;
  return problem;
}

TEST(SplitPlanner, FindsTheBestOfAllSplits) {
  Random random(11);
  int infeasible = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const SplitProblem problem =
        RandomSplitProblem(random, 1 + static_cast<int>(random.Below(7)), 1 + static_cast<int>(random.Below(3)));
    double best = std::numeric_limits<double>::infinity();
    EachSplit(problem, [&](const LayerSplit& split) {
      if (Fits(problem, split)) best = std::min(best, TimesOf(problem, split).request);
    });
    const std::vector<PlannedSplit> planned = BestSplits(problem);
    EXPECT_EQ(planned.empty(), best == std::numeric_limits<double>::infinity());
    EXPECT_EQ(MissingBytes(problem) > 0, planned.empty());
    infeasible += planned.empty();
    if (planned.empty()) continue;
    EXPECT_NEAR(planned.front().times.request, best, 1e-9 * best) << "trial " << trial;
    for (const PlannedSplit& plan : planned) {
      EXPECT_TRUE(Fits(problem, plan.split));
      EXPECT_EQ(plan.split.front().begin, 0);
      EXPECT_EQ(plan.split.back().end, static_cast<int>(problem.parts.size()));
      EXPECT_EQ(plan.times.request, TimesOf(problem, plan.split).request);
    }
  }
  EXPECT_GT(infeasible, 5);
  EXPECT_LT(infeasible, 150);
}

TEST(SplitPlanner, FindsTheBestSplitOfEverySetOfHosts) {
  Random random(12);
  for (int trial = 0; trial < 40; ++trial) {
    const SplitProblem problem = RandomSplitProblem(random, 5, 3);
    std::map<unsigned, double> best;
    EachSplit(problem, [&](const LayerSplit& split) {
      if (!Fits(problem, split)) return;
      unsigned set = 0;
      for (const SplitStage& stage : split) set |= 1U << stage.host;
      const double seconds = TimesOf(problem, split).request;
      const auto [found, anew] = best.emplace(set, seconds);
      if (!anew) found->second = std::min(found->second, seconds);
    });
    const std::vector<PlannedSplit> planned = BestSplits(problem);
    ASSERT_EQ(planned.size(), best.size());
    for (const PlannedSplit& plan : planned) {
      unsigned set = 0;
      for (const SplitStage& stage : plan.split) set |= 1U << stage.host;
      EXPECT_NEAR(plan.times.request, best.at(set), 1e-9 * best.at(set));
    }
  }
}

TEST(SplitPlanner, PutsAllOnTheFastestHostWhereItFitsAndOnlyDecodingCounts) {
  Random random(13);
  for (int trial = 0; trial < 50; ++trial) {
    SplitProblem problem = RandomSplitProblem(random, 6, 3);
    problem.micro_batches = 0;
    problem.generated_tokens = 1;
    for (SplitHost& host : problem.hosts) host.memory_bytes = 1e9;
    EXPECT_EQ(BestSplits(problem).front().split.size(), 1U);
  }
}

TEST(SplitPlanner, SharesAPipelinedPromptBySpeed) {
  SplitProblem problem;
  problem.parts.assign(12, {1, 1, 1});
  problem.hosts = {{100, 1, 1, 0, 0}, {100, 2, 2, 0, 0}};
  problem.generated_tokens = 0;
  problem.micro_batches = 1000;
  problem.pipelined = true;
  const LayerSplit best = BestSplits(problem).front().split;
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].end - best[0].begin, best[0].host == 0 ? 8 : 4);
}

TEST(SplitPlanner, SaysHowMuchIsMissing) {
  SplitProblem problem;
  problem.parts.assign(10, {2, 1, 1});
  problem.hosts = {{7, 1, 1, 0, 0}, {5, 1, 1, 0, 0}};
  problem.working_bytes = 1;
  EXPECT_EQ(MissingBytes(problem), 10) << "three parts on one host and two on the other leave five";
  problem.hosts[0].memory_bytes = 17;
  EXPECT_EQ(MissingBytes(problem), 0);
}

TEST(SplitPlanner, PlansManyLayersOverManyHosts) {
  Random random(14);
  SplitProblem problem = RandomSplitProblem(random, testing::Rounds(81), 7);
  problem.pipelined = true;
  problem.micro_batches = 4;
  problem.generated_tokens = 64;
  const std::vector<PlannedSplit> planned = BestSplits(problem);
  ASSERT_FALSE(planned.empty());
  for (const LayerSplit& near : NeighboursOf(problem, planned.front().split))
    EXPECT_GE(TimesOf(problem, near).request, planned.front().times.request * (1 - 1e-12));
  problem.hosts.resize(11);
  EXPECT_THROW(BestSplits(problem), InvalidInput);
}

TEST(SplitPlanner, NeighboursAreSplitsAndAreNear) {
  Random random(15);
  SplitProblem problem = RandomSplitProblem(random, 7, 3);
  for (SplitHost& host : problem.hosts) host.memory_bytes = 1e9;
  EachSplit(problem, [&problem](const LayerSplit& split) {
    for (const LayerSplit& near : NeighboursOf(problem, split)) {
      EXPECT_NE(near, split);
      EXPECT_EQ(near.size(), split.size());
      int at = 0;
      for (const SplitStage& stage : near) {
        EXPECT_EQ(stage.begin, at);
        EXPECT_LT(stage.begin, stage.end);
        at = stage.end;
      }
      EXPECT_EQ(at, 7);
    }
  });
}

// Every way to write `parts` as so many counts from 0 on.
void EachCount(int parts, std::size_t devices, std::vector<int>& counts, const std::function<void()>& take) {
  if (counts.size() + 1 == devices) {
    counts.push_back(parts);
    take();
    counts.pop_back();
    return;
  }
  for (int count = 0; count <= parts; ++count) {
    counts.push_back(count);
    EachCount(parts - count, devices, counts, take);
    counts.pop_back();
  }
}

TEST(TensorSplit, GivesEveryDeviceJustItsParts) {
  int tried = 0;
  for (const auto& [most, devices] :
       std::vector<std::pair<int, std::size_t>>{{130, 1}, {130, 2}, {40, 3}, {14, 4}, {9, 5}}) {
    for (int parts = 1; parts <= most; ++parts) {
      std::vector<int> counts;
      EachCount(parts, devices, counts, [&] {
        ++tried;
        const std::string text = TensorSplitFor(counts);
        ASSERT_EQ(PartsPerDevice(ParseTensorSplit(text), parts), counts) << text;
      });
    }
  }
  EXPECT_GT(tried, 20000);
}

TEST(TensorSplit, RoundsByWhereALayerStarts) {
  // Nine parts cut in the middle: the fifth starts at 4/9, below one half, and so belongs to the first.
  EXPECT_EQ(PartsPerDevice({1, 1}, 9), (std::vector<int>{5, 4}));
  EXPECT_EQ(PartsPerDevice({3, 1}, 17), (std::vector<int>{13, 4}));
  EXPECT_EQ(PartsPerDevice({0, 1}, 4), (std::vector<int>{0, 4}));
  EXPECT_TRUE(ParseTensorSplit("1/x").empty());
}

TEST(HostSpeeds, AreFoundFromHostsAlone) {
  Random random(16);
  for (int trial = 0; trial < 30; ++trial) {
    SplitProblem truth = RandomSplitProblem(random, 9, 3);
    for (SplitHost& host : truth.hosts) host.memory_bytes = 1e9;
    std::vector<MeasuredSplit> measured;
    for (const LayerSplit& probe : SpeedProbes(truth)) {
      SplitProblem one = truth;
      one.micro_batches = 1;
      EXPECT_EQ(probe.size(), 1U);
      measured.push_back({probe, TimesOf(truth, probe).token, TimesOf(one, probe).prompt});
    }
    ASSERT_EQ(measured.size(), 3U);
    SplitProblem fitted = truth;
    for (SplitHost& host : fitted.hosts) host.seconds_per_byte = host.seconds_per_flop = 0;
    FitSpeeds(measured, fitted);
    for (std::size_t host = 0; host < 3; ++host) {
      EXPECT_NEAR(fitted.hosts[host].seconds_per_byte, truth.hosts[host].seconds_per_byte, 1e-6);
      EXPECT_NEAR(fitted.hosts[host].seconds_per_flop, truth.hosts[host].seconds_per_flop, 1e-6);
    }
  }
}

TEST(HostSpeeds, AreFoundWhereNoHostHoldsTheModelAlone) {
  SplitProblem truth;
  truth.parts.assign(12, {1, 1, 1});
  truth.hosts = {{9, 1, 3, 0.1, 0}, {7, 2, 1, 0.1, 0}, {6, 5, 2, 0.1, 0}};
  truth.micro_batches = 1;
  std::vector<MeasuredSplit> measured;
  for (const LayerSplit& probe : SpeedProbes(truth)) {
    ASSERT_TRUE(Fits(truth, probe));
    measured.push_back({probe, TimesOf(truth, probe).token, TimesOf(truth, probe).prompt});
  }
  ASSERT_EQ(measured.size(), 3U);
  SplitProblem fitted = truth;
  FitSpeeds(measured, fitted);
  for (const MeasuredSplit& each : measured)
    EXPECT_NEAR(TimesOf(fitted, each.split).token, each.token_seconds, 1e-3 * each.token_seconds);
  EXPECT_LT(fitted.hosts[0].seconds_per_byte, fitted.hosts[1].seconds_per_byte);
  EXPECT_LT(fitted.hosts[1].seconds_per_byte, fitted.hosts[2].seconds_per_byte);
}

TEST(Contenders, AreDistinctAndFit) {
  SplitProblem problem;
  problem.parts.assign(17, {1, 1, 1});
  problem.hosts = {{30, 1, 1, 0.01, 0}, {30, 2, 2, 0.01, 0}};
  const std::vector<LlamaDevice> devices = {{"a:1", 0, 1, {}, 0, 1}, {"b:1", 0, 1, {}, 0, 1}};
  const std::vector<LlamaContender> contenders = MakeContenders(problem, devices, 3);
  ASSERT_EQ(contenders.size(), 6U);
  EXPECT_EQ(contenders[0].method, "default");
  EXPECT_EQ(contenders[1].method, "fastest alone");
  EXPECT_EQ(contenders[1].words.hosts, std::vector<std::string>{"a:1"});
  EXPECT_EQ(contenders[2].method, "by speed");
  EXPECT_EQ(contenders[2].split, (LayerSplit{{0, 0, 12}, {1, 12, 17}}));
  for (std::size_t i = 1; i < contenders.size(); ++i) {
    EXPECT_TRUE(Fits(problem, contenders[i].split));
    for (std::size_t j = 1; j < i; ++j) EXPECT_NE(contenders[i].split, contenders[j].split);
  }
  problem.hosts[0].memory_bytes = problem.hosts[1].memory_bytes = 11;
  for (const LlamaContender& contender : MakeContenders(problem, devices, 3)) {
    EXPECT_NE(contender.method, "fastest alone");
    EXPECT_TRUE(contender.split.empty() || Fits(problem, contender.split));
  }
}

TEST(Contenders, HoldNeighboursOfTheBestSplit) {
  Random random(17);
  for (int round = 0; round < 40; ++round) {
    SplitProblem problem = RandomSplitProblem(random, 12, 2);
    for (SplitHost& host : problem.hosts) host.memory_bytes = 24;  // one alone cannot hold it
    const std::vector<PlannedSplit> planned = BestSplits(problem);
    if (planned.empty()) continue;
    const std::vector<LlamaDevice> devices = {{"a:1", 0, 1, {}, 0, 1}, {"b:1", 0, 1, {}, 0, 1}};
    std::vector<LayerSplit> near = {planned.front().split};
    for (LayerSplit& split : NeighboursOf(problem, planned.front().split)) near.push_back(std::move(split));
    std::stable_sort(near.begin(), near.end(), [&problem](const LayerSplit& a, const LayerSplit& b) {
      return TimesOf(problem, a).request < TimesOf(problem, b).request;
    });
    const std::vector<LlamaContender> contenders = MakeContenders(problem, devices, 3);
    for (std::size_t i = 0; i < std::min<std::size_t>(2, near.size()); ++i) {
      EXPECT_TRUE(std::any_of(contenders.begin(), contenders.end(), [&](const LlamaContender& contender) {
        return contender.split == near[i];
      })) << round;
    }
  }
}

TEST(LlamaDevice, WordsNameOnlyTheHostsOfASplit) {
  const std::vector<LlamaDevice> devices = {
      {"a:1", 0, 2, {}, 0, 1}, {"a:1", 1, 2, {}, 0, 1}, {"b:1", 0, 1, {}, 0, 1}, {"c:1", 0, 1, {}, 0, 1}};
  const LayerSplit split = {{2, 0, 3}, {1, 3, 9}};
  const LlamaDevices words = WordsFor(split, devices);
  EXPECT_EQ(words.hosts, (std::vector<std::string>{"b:1", "a:1"}));
  EXPECT_EQ(words.devices, (std::vector<std::string>{"RPC0", "RPC2"}));
  EXPECT_EQ(words.tensor_split, "2.5/6.5");
  LlamaBenchAnswer answer;
  for (int part = 0; part < 9; ++part) answer.device_of_part[part] = part < 3 ? "RPC0" : "RPC2";
  EXPECT_EQ(SplitIn(answer, words, devices, 9), split);
  answer.device_of_part[8] = "CPU";
  EXPECT_EQ(SplitIn(answer, words, devices, 9), std::nullopt);
  EXPECT_EQ(DefaultWords(devices).hosts, (std::vector<std::string>{"a:1", "b:1", "c:1"}));
  EXPECT_EQ(NameOf(split, devices), "b:1 3, a:1#1 6");
}

}  // namespace
}  // namespace millrace

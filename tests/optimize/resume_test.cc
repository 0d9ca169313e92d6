// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/resume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/machine/preset.h"
#include "millrace/optimize/optimize.h"
#include "millrace/target/records.h"
#include "millrace/workloads/random_graph.h"
#include "tests/optimize/no_progress.h"
#include "tests/optimize/scripted_target.h"
#include "tests/optimize/shipped_planners.h"
#include "tests/reference/temporary_folder.h"

namespace millrace {
namespace {

using testing::ScriptedTarget;

const Machine kTwo = MachinePreset("homogeneous:2,latency=1e-3,bandwidth=1e9").value();
const Machine kThree = MachinePreset("homogeneous:3,latency=1e-3,bandwidth=1e9").value();

Candidate Placed(int first, int second) {
  Candidate candidate;
  candidate.plan = Plan{{{0}, {1}}, {first, second}, {0, 1}};
  candidate.method = "heft";
  return candidate;
}

Candidate Measured(Candidate candidate, double seconds) {
  candidate.times = {seconds, seconds + 1, seconds + 2};
  candidate.target_seconds = seconds + 1;
  return candidate;
}

class ResumeFrom : public ::testing::Test {
 protected:
  // How many of two candidates are recalled of which an earlier run on kTwo, graph "g" and seed 0 measured one.
  int Recalled(const std::string& graph, const Machine& machine, const ScriptedTarget& target, std::uint64_t seed) {
    std::vector<Candidate> candidates = {Placed(0, 0), Placed(0, 1)};
    const int recalled = Resume(path_, graph, machine, target, seed).Recall(candidates);
    int known = 0;
    for (const Candidate& candidate : candidates) known += candidate.target_seconds ? 1 : 0;
    EXPECT_EQ(known, recalled);
    return recalled;
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_.Path("records.jsonl");
  ScriptedTarget real_{[](const Plan&, int) { return 1.0; }}, simulated_{[](const Plan&, int) { return 1.0; }, true};
};

TEST_F(ResumeFrom, TheSameGraphMachineAndTargetKnowsWhatWasMeasured) {
  Candidate failed = Placed(1, 1);
  failed.failure = "it said \"no\"";
  Resume(path_, "g", kTwo, real_, 0).Note({Measured(Placed(0, 1), 2), failed});
  std::vector<Candidate> candidates = {Placed(0, 0), Placed(0, 1), Placed(1, 1)};
  EXPECT_EQ(Resume(path_, "g", kTwo, real_, 0).Recall(candidates), 2);
  EXPECT_FALSE(candidates[0].target_seconds);
  EXPECT_EQ(candidates[1].times, (std::vector<double>{2, 3, 4}));
  EXPECT_EQ(candidates[1].target_seconds, 3);
  EXPECT_EQ(candidates[2].failure, failed.failure);
  EXPECT_FALSE(candidates[2].target_seconds);
}

TEST_F(ResumeFrom, AnotherGraphMachineOrTargetMeasuresAnew) {
  Resume(path_, "g", kTwo, real_, 0).Note({Measured(Placed(0, 1), 2)});
  EXPECT_EQ(Recalled("g", kTwo, real_, 0), 1);
  EXPECT_EQ(Recalled("h", kTwo, real_, 0), 0);
  EXPECT_EQ(Recalled("g", kThree, real_, 0), 0);
  EXPECT_EQ(Recalled("g", kTwo, simulated_, 0), 0);
}

TEST_F(ResumeFrom, AnotherSeedMeasuresAnewOnASimulatedTargetAloneWhoseTimesDependOnIt) {
  Resume(path_, "g", kTwo, real_, 0).Note({Measured(Placed(0, 1), 2)});
  EXPECT_EQ(Recalled("g", kTwo, real_, 1), 1);
  Resume(path_, "g", kTwo, simulated_, 0).Note({Measured(Placed(0, 0), 2)});
  EXPECT_EQ(Recalled("g", kTwo, simulated_, 0), 1);
  EXPECT_EQ(Recalled("g", kTwo, simulated_, 1), 0);
}

TEST_F(ResumeFrom, WhatWasMeasuredAnewIsKnownByItsLastTimesAndWhatWasMeasuredOnByItsFirst) {
  Candidate on = Measured(Placed(0, 1), 2), failed = Placed(1, 1);
  failed.failure = "it fell over";
  Resume resume(path_, "g", kTwo, real_, 0);
  resume.Note({Measured(Placed(0, 0), 2), on, failed});
  on.times.push_back(9);
  resume.Note({Measured(Placed(0, 0), 5), on, Measured(Placed(1, 1), 7)});
  std::vector<Candidate> candidates = {Placed(0, 0), Placed(0, 1), Placed(1, 1)};
  EXPECT_EQ(Resume(path_, "g", kTwo, real_, 0).Recall(candidates), 3);
  EXPECT_EQ(candidates[0].times, (std::vector<double>{5, 6, 7}));
  EXPECT_EQ(candidates[1].times, (std::vector<double>{2, 3, 4}));
  EXPECT_EQ(candidates[2].times, (std::vector<double>{7, 8, 9}));
  EXPECT_EQ(candidates[2].failure, "");
  EXPECT_EQ(Records(path_).all().size(), 5u);
}

TEST_F(ResumeFrom, NoFileKnowsNothingAndNotesNothing) {
  Resume none("", "g", kTwo, real_, 0);
  none.Note({Measured(Placed(0, 1), 2)});
  std::vector<Candidate> candidates = {Placed(0, 1)};
  EXPECT_EQ(none.Recall(candidates), 0);
  EXPECT_THAT(none.warnings(), ::testing::IsEmpty());
}

// The whole pipeline, from one run to the next.
TEST_F(ResumeFrom, ARunOfThePipelineMeasuresOnlyWhatNoEarlierOneDid) {
  const auto run = [this](std::uint64_t graph_seed, const Machine& machine, std::uint64_t seed) {
    RandomGraphOptions graph;
    graph.ops = 20;
    graph.seed = graph_seed;
    LoadedGraph loaded;
    loaded.graph = MakeRandomGraph("layered", graph);
    OptimizeOptions options;
    options.target = "sim:noise";
    options.methods = {"heft", "list", "randomised-list"};
    options.samples = 16;
    options.top_k = 4;
    options.seed = seed;
    options.records = path_;
    return Optimize(loaded, machine, testing::ShippedPlanners(), options, testing::kNoProgress);
  };
  const OptimizeResult first = run(1, kTwo, 0);
  EXPECT_EQ(first.recalled, 0);
  const OptimizeResult again = run(1, kTwo, 0);
  EXPECT_EQ(again.recalled, static_cast<int>(again.candidates.size()));
  EXPECT_EQ(again.best.target_seconds, first.best.target_seconds);
  EXPECT_EQ(run(2, kTwo, 0).recalled, 0);
  EXPECT_EQ(run(1, kThree, 0).recalled, 0);
  EXPECT_EQ(run(1, kTwo, 1).recalled, 0);
}

}  // namespace
}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "millrace/formats/model_graph.h"
#include "millrace/machine/detect.h"
#include "millrace/optimize/optimize.h"
#include "millrace/plan/hash.h"
#include "millrace/target/records.h"
#include "millrace/workloads/models.h"
#include "tests/optimize/shipped_planners.h"
#include "tests/reference/temporary_folder.h"

// The whole run on this host's processors, which hand over as a test says.
namespace millrace {
namespace {

constexpr double kTogether = 6e-8, kApart = 2e-7;  // seconds

class MovedProcessors : public ::testing::Test {
 protected:
  // They are moved once `until` says so of a step.
  OptimizeResult MovedAt(const std::function<bool(const OptimizeStep&)>& until) {
    ModelOptions model;
    model.hidden = 16;
    model.batch = 2;
    LoadedGraph loaded;
    loaded.model = MakeModel("towers", model);
    loaded.graph = GraphOfModel(*loaded.model);
    OptimizeOptions options;
    options.methods = {"heft", "list"};
    options.samples = 4;
    options.top_k = 8;
    options.quick = true;
    options.time_limit = 60;  // leaves room to measure again however slow this build is
    options.records = path_;
    double latency = kTogether;
    options.hand_overs = [&latency](int, int) { return DefaultLink{latency, 1e10}; };
    return Optimize(loaded, DetectHost(), testing::ShippedPlanners(), options, [&](const OptimizeStep& step) {
      if (until(step)) latency = kApart;
    });
  }

  // Records of the plan.
  std::ptrdiff_t Times(const Candidate& candidate) const {
    const std::vector<Record> records = Records(path_).all();
    return std::count_if(records.begin(), records.end(),
                         [&](const Record& record) { return record.plan_hash == PlanHash(candidate.plan); });
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_.Path("records.jsonl");
};

TEST_F(MovedProcessors, AreToldOfAndPlansMeasuredBeforeAreMeasuredAgain) {
  if (!DetectHost().default_link) GTEST_SKIP() << "one processor hands nothing over";
  bool measured = false;
  const OptimizeResult result = MovedAt([&measured](const OptimizeStep& step) {
    measured = measured || step.stage == "measure";
    return measured && step.stage != "measure";
  });
  EXPECT_EQ(result.processor_moves, 1);
  EXPECT_THAT(result.warnings, ::testing::Contains(::testing::HasSubstr("moved the processors once")));
  EXPECT_EQ(result.machine.default_link->latency_seconds, kTogether) << "ops were timed before";
  // The first went to the target before anything was planned for a corrected proxy.
  EXPECT_EQ(Times(result.candidates.front()), 2);
  for (const BaselineResult& baseline : result.baselines) EXPECT_EQ(Times(baseline.candidate), 2) << baseline.name;
}

TEST_F(MovedProcessors, WhileOpsAreTimedHaveThemTimedAgainWhereTheyLieNow) {
  if (!DetectHost().default_link) GTEST_SKIP() << "one processor hands nothing over";
  const OptimizeResult result = MovedAt([](const OptimizeStep& step) { return step.stage == "profile"; });
  EXPECT_EQ(result.processor_moves, 0) << "since ops were timed";
  EXPECT_EQ(result.machine.default_link->latency_seconds, kApart);
  for (const Candidate& candidate : result.candidates) EXPECT_EQ(Times(candidate), 1) << candidate.method;
}

}  // namespace
}  // namespace millrace

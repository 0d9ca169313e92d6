// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/guided_search.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "millrace/fusion/merged_fusion.h"
#include "millrace/go/planner.h"
#include "millrace/heuristics/acyclic_clusters.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"
#include "tests/go/go_case.h"
#include "tests/reference/sanitized.h"
#include "tests/workloads/unrolled_training.h"

namespace millrace::testing {
namespace {

constexpr int kSearches = 60;

DecodedPlan Drawn(const GoDecoder& decoder, Random& random) {
  return decoder.Decode(RandomDecisions(decoder.problem(), random, true));
}

TEST(GuidedSearch, MakesValidPlansThatTakeWhatItSaysAndAreNoSlowerThanTheirStart) {
  const std::shared_ptr<const GoPolicy> policy = UntrainedMoves();
  Random random(1);
  int fit = 0, faster = 0, overfull = 0;
  for (int i = 0; i < kSearches; ++i) {
    const std::unique_ptr<GoCase> of = OddCase(random);
    const GoDecoder open(of->problem);
    const CostedGraph fused = *open.Decode({}).costed;
    const GoDecoder given(of->problem, fused);
    for (const GoDecoder* decoder : {&open, &given}) {
      const DecodedPlan drawn = Drawn(*decoder, random);
      const DecodedPlan found = SearchGuided(*decoder, *policy, {.looks = 8}, drawn, random);
      EXPECT_EQ(WhyNotValid(of->graph, of->machine, found.plan()), std::nullopt);
      EXPECT_EQ(FitsInMemory(*found.costed, found.assignment), found.fits);
      if (!found.fits) {
        EXPECT_FALSE(drawn.fits);
        ++overfull;
        continue;
      }
      ++fit;
      EXPECT_DOUBLE_EQ(Simulator(*found.costed).Makespan(found.assignment), found.makespan);
      if (drawn.fits) {
        EXPECT_LE(found.makespan, drawn.makespan);
        faster += found.makespan < drawn.makespan ? 1 : 0;
      }
      if (decoder == &given) {
        EXPECT_EQ(found.costed->groups, fused.groups);
      }
    }
  }
  EXPECT_GT(fit, kSearches);
  EXPECT_GT(faster, kSearches / 2);
  EXPECT_GT(overfull, 0);
}

TEST(GuidedSearch, SearchesGraphsOfManyGroupsByClustersToo) {
  const std::shared_ptr<const GoPolicy> policy = UntrainedMoves();
  const GoCase of(LargeTraining(), *MachinePreset("p100x4"));
  ASSERT_GT(static_cast<int>(MergedFusion(*of.model).size()), kMostGroupsSearched) << "not large";
  const GoDecoder decoder(of.problem);
  Random random(7);
  const DecodedPlan drawn = Drawn(decoder, random);
  // With few looks or little time clusters and all groups alone are probed, else clusters are a start among others.
  const std::vector<GuidedSearchOptions> ways = {
      {.looks = kSanitized ? 1 : 4}, {.looks = 4, .seconds = 0.5}, {.looks = kSanitized ? 4 : 24}};
  for (const GuidedSearchOptions& options : ways) {
    const DecodedPlan found = SearchGuided(decoder, *policy, options, drawn, random);
    EXPECT_EQ(WhyNotValid(of.graph, of.machine, found.plan()), std::nullopt);
    ASSERT_TRUE(found.fits);
    EXPECT_DOUBLE_EQ(Simulator(*found.costed).Makespan(found.assignment), found.makespan);
    if (drawn.fits) {
      EXPECT_LE(found.makespan, drawn.makespan);
    }
  }
}

TEST(GuidedSearch, AnswersTheSameForTheSameSeedAtAnyNumberOfThreads) {
  const std::shared_ptr<const GoPolicy> policy = UntrainedMoves();
  Random random(2);
  for (int i = 0; i < 20; ++i) {
    const std::unique_ptr<GoCase> of = OddCase(random);
    const GoDecoder decoder(of->problem);
    const DecodedPlan drawn = Drawn(decoder, random);
    Random one(3), other(3);
    const DecodedPlan first = SearchGuided(decoder, *policy, {.looks = 6}, drawn, one);
    const DecodedPlan second = SearchGuided(decoder, *policy, {.looks = 6, .threads = 3}, drawn, other);
    EXPECT_EQ(first.plan(), second.plan());
  }
}

TEST(GuidedSearch, IsFasterForMoreLooks) {
  const std::shared_ptr<const GoPolicy> policy = UntrainedMoves();
  Random random(4);
  double few = 0, many = 0;
  for (int i = 0; i < 30; ++i) {
    const std::unique_ptr<GoCase> of = OddCase(random, 40);
    const GoDecoder decoder(of->problem);
    Random one(5), other(5);
    const DecodedPlan quick = SearchGuided(decoder, *policy, {.looks = 2}, std::nullopt, one);
    if (!quick.fits || of->problem.num_devices() < 2) continue;
    few += quick.makespan / of->problem.scale();
    many += SearchGuided(decoder, *policy, {.looks = 60}, std::nullopt, other).makespan / of->problem.scale();
  }
  EXPECT_LT(many, few);
}

TEST(GuidedSearch, MakesAValidPlanHoweverLittleTimeThereIs) {
  const std::shared_ptr<const GoPolicy> policy = UntrainedMoves();
  Random random(6);
  const std::unique_ptr<GoCase> of = OddCase(random, 40);
  const GoDecoder decoder(of->problem);
  for (const double most : {0.0, 2e-4, 0.1}) {
    const GuidedSearchOptions options = {.seconds = 1e-4, .most_seconds = most};
    const DecodedPlan found = SearchGuided(decoder, *policy, options, std::nullopt, random);
    EXPECT_EQ(WhyNotValid(of->graph, of->machine, found.plan()), std::nullopt) << most;
  }
}

}  // namespace
}  // namespace millrace::testing

// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/quality_methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "millrace/errors/errors.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/network/weights.h"
#include "millrace/optimize/planners.h"
#include "tests/reference/temporary_folder.h"

namespace millrace {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// With weights that need no file when this returns: they are read when a planner is first made.
PlannerRegistry PlannersOfSomeWeights() {
  const testing::TemporaryFolder folder;
  const std::string file = folder.Path("gflownet.safetensors");
  Random random(1);
  WriteWeights(file, InitialMessagePassingWeights(random));
  PlannerRegistry planners = MakePlannerRegistry({.gflownet_weights = file, .go_weights = {}});
  planners.Make("gflownet");
  return planners;
}

TEST(QualityMethods, AreThoseNamedAfterTheReferenceWithRivalsOfTheSameBudget) {
  const auto all = MakeQualityMethods({}, PlannersOfSomeWeights());
  ASSERT_EQ(all.size(), QualityMethodNames().size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].method.name, QualityMethodNames()[i]);
    for (const std::string& name : all[i].rivals) {
      const auto rival = std::find_if(all.begin(), all.end(), [&](const auto& m) { return m.method.name == name; });
      ASSERT_NE(rival, all.end());
      EXPECT_EQ(rival->method.budget.seconds, all[i].method.budget.seconds);
      // One that draws for so long has as many plans as there is time for, annealing has its one.
      const bool draws = all[i].method.name.find("+resampling-0") != std::string::npos;
      const bool annealing = name.starts_with("anneal");
      EXPECT_EQ(rival->method.budget.samples, draws && annealing ? 1 : all[i].method.budget.samples) << name;
    }
  }
  const auto few = MakeQualityMethods({"anneal-1s"}, MakePlannerRegistry());
  ASSERT_EQ(few.size(), 2u);
  EXPECT_EQ(few[0].method.name, "heft");
  EXPECT_EQ(few[1].method.name, "anneal-1s");
}

TEST(QualityMethods, HoldEveryLearnedOneAgainstItselfUntrained) {
  const auto all = MakeQualityMethods({}, PlannersOfSomeWeights());
  for (const QualityMethod& method : all) {
    const std::string& name = method.method.name;
    if (!name.starts_with("gflownet") || name.starts_with("gflownet-untrained")) continue;
    std::string untrained = name;
    untrained.insert(std::string("gflownet").size(), "-untrained");
    EXPECT_THAT(method.rivals, Contains(untrained)) << name;
  }
}

TEST(QualityMethods, LetSearchesTakeAsLongAsFineTuning) {
  const auto methods = MakeFinetunedMethods(PlannersOfSomeWeights(), [](const QualityInstance&) { return nullptr; });
  ASSERT_EQ(methods.size(), 3u);
  for (std::size_t i = 1; i < methods.size(); ++i) {
    EXPECT_EQ(methods[i].as_long_as, methods[0].method.name);
    EXPECT_THAT(methods[0].rivals, Contains(methods[i].method.name));
  }
}

TEST(QualityMethods, RefuseANameThereIsNot) {
  try {
    MakeQualityMethods({"magic"}, MakePlannerRegistry());
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("'magic'"));
    EXPECT_THAT(error.what(), HasSubstr("gflownet+search-10s"));
  }
}

}  // namespace
}  // namespace millrace

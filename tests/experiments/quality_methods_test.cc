// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality_methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "millrace/errors/errors.h"
#include "millrace/policy/message_passing.h"
#include "millrace/policy/weights.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;

TEST(QualityMethods, AreThoseNamedAfterTheReferenceWithRivalsThatExist) {
  const std::string file = ::testing::TempDir() + "quality_methods.safetensors";
  Random random(1);
  WriteWeights(file, InitialMessagePassingWeights(random));
  SamplerSettings settings;
  settings.weights = file;
  const auto all = MakeQualityMethods({}, settings);
  std::filesystem::remove(file);
  ASSERT_EQ(all.size(), QualityMethodNames().size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].method.name, QualityMethodNames()[i]);
    if (all[i].rival.empty()) continue;
    const auto rival =
        std::find_if(all.begin(), all.end(), [&](const QualityMethod& m) { return m.method.name == all[i].rival; });
    ASSERT_NE(rival, all.end());
    EXPECT_EQ(rival->method.budget.seconds, all[i].method.budget.seconds);
  }
  const auto few = MakeQualityMethods({"anneal-1s"}, {});
  ASSERT_EQ(few.size(), 2u);
  EXPECT_EQ(few[0].method.name, "heft");
  EXPECT_EQ(few[1].method.name, "anneal-1s");
}

TEST(QualityMethods, RefuseANameThereIsNot) {
  try {
    MakeQualityMethods({"magic"}, {});
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("'magic'"));
    EXPECT_THAT(error.what(), HasSubstr("gflownet+search-10s"));
  }
}

}  // namespace
}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/quality_record.h"
#include "millrace/heuristics/heuristics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/experiments/quality/quality.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/planning/chained_planner.h"
#include "tests/formats/refusal.h"
#include "tests/reference/temporary_folder.h"

namespace millrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class QualityRecords : public ::testing::Test {
 protected:
  void Refuses(const std::string& text, const std::string& complaint) const {
    folder_.Write("record.json", text);
    EXPECT_THAT(testing::RefusalOf([this] { QualityRecord(path_, "seed 1", 2); }),
                AllOf(HasSubstr(path_), HasSubstr(complaint)))
        << text;
    EXPECT_EQ(ReadWholeFile(path_), text);
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_.Path("record.json");
};

TEST_F(QualityRecords, GiveBackWhatWasAddedToTheLastBit) {
  {
    QualityRecord record(path_, "seed \"1\"", 3);
    EXPECT_EQ(record.Size(), 0u);
    EXPECT_FALSE(record.Find(7).has_value());
    record.Add(7, {QualityOutcome{0.1 + 0.2, 1e-3 / 3}, std::nullopt, QualityOutcome{2, 0}});
    record.Add(~std::uint64_t{0}, {std::nullopt, std::nullopt, std::nullopt});
  }
  const QualityRecord again(path_, "seed \"1\"", 3);
  EXPECT_EQ(again.Size(), 2u);
  const std::optional<QualityOutcomes> seven = again.Find(7);
  ASSERT_TRUE(seven.has_value());
  ASSERT_EQ(seven->size(), 3u);
  EXPECT_EQ(seven->at(0)->makespan, 0.1 + 0.2);
  EXPECT_EQ(seven->at(0)->seconds, 1e-3 / 3);
  EXPECT_FALSE(seven->at(1).has_value());
  EXPECT_EQ(seven->at(2)->seconds, 0);
  EXPECT_TRUE(again.Find(~std::uint64_t{0}).has_value());
}

TEST_F(QualityRecords, OfOtherSettingsAreRefusedAndLeftAsTheyAre) {
  QualityRecord(path_, "seed 2", 2).Add(7, {QualityOutcome{1, 1}, std::nullopt});
  Refuses(ReadWholeFile(path_), "'seed 2'");
}

TEST_F(QualityRecords, ThatCannotBeReadAreRefusedWithTheirPlace) {
  const std::string head = R"({"format":"millrace.quality","version":1,"settings":"seed 1","instances":[)";
  Refuses("", "");
  Refuses(R"({"format":"millrace.plan","version":1})", "format");
  Refuses(R"({"format":"millrace.quality","version":2})", "version");
  Refuses(head, "");
  Refuses(head + R"({"seed":1,"outcomes":[[]]}]})", "instances[0].outcomes");
  Refuses(head + R"({"seed":1,"outcomes":[[],[1]]}]})", "instances[0].outcomes[1]");
  Refuses(head + R"({"seed":1,"outcomes":[[],[0,1]]}]})", "instances[0].outcomes[1][0]");
  Refuses(head + R"({"seed":1,"outcomes":[[],[1,-1]]}]})", "instances[0].outcomes[1][1]");
  Refuses(head + R"({"seed":-1,"outcomes":[[],[]]}]})", "instances[0].seed");
}

TEST_F(QualityRecords, ThatCannotBeWrittenFailTheRunAndNameTheFile) {
  QualityRecord record(folder_.Path("none/record.json"), "seed 1", 1);
  try {
    record.Add(7, {std::nullopt});
    FAIL();
  } catch (const WorkFailed& error) {
    EXPECT_THAT(error.what(), HasSubstr("/none/record.json"));
  }
}

TEST_F(QualityRecords, LetARunThatWasCutOffEndAsIfItHadNotBeen) {
  const std::vector<QualityInstance> grid = QualityGrid();
  const std::vector<QualityInstance> few = {grid[0], grid[1], grid[12], grid[47]};
  Method heft{"heft", MakeHeftReference(), {}};
  Method draws{"draws", MakeHeuristic("randomised-list"), {}};
  draws.budget.samples = 8;
  std::atomic<int> run = 0;
  QualityMethod counted{draws};
  counted.adapt = [&run, &draws](const QualityInstance&) {
    ++run;
    return draws.planner;
  };
  const auto ignore = [](int, int) {};
  const QualityResult whole = RunQuality(few, {{heft}, counted}, 1, 1, ignore);
  ASSERT_EQ(run, 4);
  {
    QualityRecord record(path_, "", 2);
    RunQuality({few[0], few[2]}, {{heft}, counted}, 2, 1, ignore, &record);
  }
  ASSERT_EQ(run, 6);
  QualityRecord record(path_, "", 2);
  EXPECT_EQ(record.Size(), 2u);
  const QualityResult resumed = RunQuality(few, {{heft}, counted}, 2, 1, ignore, &record);
  EXPECT_EQ(run, 8);
  EXPECT_EQ(record.Size(), 4u);
  for (std::size_t i = 0; i < few.size(); ++i) {
    for (std::size_t m = 0; m < 2; ++m)
      EXPECT_EQ(resumed.outcomes[i][m]->makespan, whole.outcomes[i][m]->makespan) << i << " " << m;
  }
}

}  // namespace
}  // namespace millrace

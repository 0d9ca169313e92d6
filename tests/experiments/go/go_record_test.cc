// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/go/go_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/experiments/go/go_placement.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/optimize/planners.h"
#include "tests/reference/temporary_folder.h"

namespace millrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const GoQuestion kQuestion = {"rnnlm-2", "go", "16 plans", 0xfffffffffffffff1};

std::string WhyRefused(const std::function<void()>& run) {
  try {
    run();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "taken";
}

TEST(GoRecord, HoldsToTheLastBitWhatAnotherOfTheSameFileWasGiven) {
  const testing::TemporaryFolder folder;
  GoQuestion other = kQuestion;
  other.seed = 2;
  {
    GoRecord record(folder.Path("r.jsonl"), "10 s of \"search\"");
    record.Add(kQuestion, {true, true, 1.0 / 3, 1e-7});
    record.Add(other, {true, false, 0, 2.5});
  }
  const GoRecord again(folder.Path("r.jsonl"), "10 s of \"search\"");
  ASSERT_EQ(again.size(), 2u);
  const GoOutcome found = again.Find(kQuestion).value();
  EXPECT_TRUE(found.planned && found.fits);
  EXPECT_EQ(found.seconds, 1.0 / 3);
  EXPECT_EQ(found.wall_seconds, 1e-7);
  EXPECT_FALSE(again.Find(other).value().fits);
  other.budget = "1 plan";
  EXPECT_EQ(again.Find(other), std::nullopt);
}

TEST(GoRecord, ReadsFilesThatWereJoined) {
  const testing::TemporaryFolder folder;
  GoQuestion other = kQuestion;
  other.workload = "gnmt-2";
  GoRecord(folder.Path("a.jsonl"), "s").Add(kQuestion, {true, true, 1, 2});
  GoRecord(folder.Path("b.jsonl"), "s").Add(other, {true, true, 3, 4});
  folder.Write("both.jsonl", ReadWholeFile(folder.Path("a.jsonl")) + ReadWholeFile(folder.Path("b.jsonl")));
  const GoRecord both(folder.Path("both.jsonl"), "s");
  EXPECT_EQ(both.size(), 2u);
  EXPECT_EQ(both.Find(other).value().seconds, 3);
}

TEST(GoRecord, RefusesFilesOfOtherSettingsAndLinesThatAreNoOutcomes) {
  const testing::TemporaryFolder folder;
  GoRecord(folder.Path("r.jsonl"), "10 s").Add(kQuestion, {true, true, 1, 2});
  EXPECT_THAT(WhyRefused([&] { GoRecord(folder.Path("r.jsonl"), "20 s"); }),
              AllOf(HasSubstr("r.jsonl:1"), HasSubstr("'10 s'"), HasSubstr("'20 s'")));
  const std::string good = ReadWholeFile(folder.Path("r.jsonl"));
  for (const char* line : {"nonsense", "{}", R"({"workload":"a","method":"b","budget":"c","seed":-1})",
                           R"({"workload":"a","method":"b","budget":"c","seed":1,"planned":false,"fits":true,)"
                           R"("seconds":1,"wall_seconds":1})"}) {
    const std::string file = folder.Write("bad.jsonl", good + line + "\n");
    EXPECT_THAT(WhyRefused([&] { GoRecord(file, "10 s"); }), HasSubstr("bad.jsonl:3")) << line;
  }
  EXPECT_THAT(WhyRefused([&] { GoRecord(folder.Write("empty.jsonl", "{}\n"), "10 s"); }), HasSubstr("empty.jsonl:1"));
  EXPECT_THROW(GoRecord(folder.Path("none/r.jsonl"), "10 s"), WorkFailed);
}

TEST(GoRecord, SparesARunWhatAnotherHasMeasured) {
  const testing::TemporaryFolder folder;
  int asked = 0;
  const GoWorkload workload = ShortGoWorkloads().front();
  GoMethod method = GoBaselines(MakePlannerRegistry(), 0.02).front();
  method.seeded = true;
  method.plan = [&asked, plan = method.plan](const GoRow& row, std::uint64_t seed, std::optional<double> seconds) {
    ++asked;
    return plan(row, seed, seconds);
  };
  GoMethod after = method;
  after.name = "after";
  const auto run = [&](const std::vector<GoMethod>& methods, int seeds) {
    GoRecord record(folder.Path("r.jsonl"), "s");
    return RunGo({workload}, methods, seeds, 1, record, [](int, int) {});
  };
  const GoResult first = run({method}, 2);
  EXPECT_EQ(asked, 2);
  const GoResult more = run({method, after}, 3);
  EXPECT_EQ(asked, 2 + 1 + 3);
  for (std::size_t s = 0; s < 2; ++s)
    EXPECT_EQ(more.outcomes[0][0][s].wall_seconds, first.outcomes[0][0][s].wall_seconds);
}

}  // namespace
}  // namespace millrace

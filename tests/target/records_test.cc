// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <set>
#include <sstream>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/formats/text_lines.h"
#include "tests/reference/temporary_folder.h"

namespace millrace {
namespace {

class RecordsFile : public ::testing::Test {
 protected:
  std::string Text() const {
    std::ifstream file(path_, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void Write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_.Path("records.jsonl");
};

Record Example(const std::string& plan, double median = 0.25) {
  Record record;
  record.graph_hash = "0123456789abcdef";
  record.machine_hash = "fedcba9876543210";
  record.plan_hash = plan;
  record.target = "cmd:./run \"fast\"\n";
  record.method = "heft";
  record.seed = std::numeric_limits<std::uint64_t>::max();
  record.proxy_seconds = 0.1 + 0.2;
  record.measurement.times = {median + 0.1 + 0.2, median, kLeastTime};
  Summarise(&record.measurement);
  record.measurement.disturbed = true;
  return record;
}

TEST_F(RecordsFile, GivesBackWhatWasAdded) {
  Record failed = Example("b");
  failed.measurement = {};
  failed.measurement.median = std::numeric_limits<double>::quiet_NaN();
  failed.measurement.failed = true;
  failed.measurement.error = "it said:\n\"no\"";
  {
    Records records(path_);
    EXPECT_TRUE(records.all().empty());
    records.Append(Example("a"));
    records.Append(failed);
  }
  const Records records(path_);
  EXPECT_TRUE(records.warnings().empty());
  ASSERT_EQ(records.all().size(), 2U);
  const Record expected = Example("a");
  const Record* found = records.Find(expected.graph_hash, expected.machine_hash, "a", expected.target);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->method, expected.method);
  EXPECT_EQ(found->seed, expected.seed);
  EXPECT_EQ(found->proxy_seconds, expected.proxy_seconds);
  EXPECT_EQ(found->measurement.times, expected.measurement.times);
  EXPECT_EQ(found->measurement.median, expected.measurement.median);
  EXPECT_EQ(found->measurement.p95, expected.measurement.p95);
  EXPECT_EQ(found->measurement.min, expected.measurement.min);
  EXPECT_TRUE(found->measurement.disturbed);
  EXPECT_FALSE(found->measurement.failed);
  EXPECT_THAT(found->date, ::testing::MatchesRegex("....-..-..T..:..:..Z"));
  found = records.Find(expected.graph_hash, expected.machine_hash, "b", expected.target);
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->measurement.failed);
  EXPECT_EQ(found->measurement.error, failed.measurement.error);
  EXPECT_EQ(records.Find(expected.graph_hash, expected.machine_hash, "b", "cpu"), nullptr);
}

TEST_F(RecordsFile, FindsTheNewestOfEqualMeasurements) {
  Records records(path_);
  records.Append(Example("a", 0.5));
  records.Append(Example("a", 0.75));
  const Record example = Example("a");
  EXPECT_EQ(records.Find(example.graph_hash, example.machine_hash, "a", example.target)->measurement.median, 0.75);
  EXPECT_EQ(Records(path_).Find(example.graph_hash, example.machine_hash, "a", example.target)->measurement.median,
            0.75);
}

TEST_F(RecordsFile, SurvivesBeingTornAtAnyByteOfTheLastRecord) {
  Records(path_).Append(Example("first"));
  const std::string first = Text();
  Records(path_).Append(Example("second"));
  const std::string both = Text();
  ASSERT_GT(both.size(), first.size());
  for (std::size_t length = first.size(); length <= both.size(); ++length) {
    SCOPED_TRACE(length);
    Write(both.substr(0, length));
    Records records(path_);
    const bool whole = length + 1 >= both.size();  // only the line's end is missing, or nothing
    ASSERT_EQ(records.all().size(), whole ? 2U : 1U);
    ASSERT_EQ(records.warnings().size(), whole || length == first.size() ? 0U : 1U);
    records.Append(Example("third"));
    const Records again(path_);
    ASSERT_EQ(again.all().size(), whole ? 3U : 2U);
    ASSERT_EQ(again.all().front().plan_hash, "first");
    ASSERT_EQ(again.all().back().plan_hash, "third");
  }
}

TEST_F(RecordsFile, PassesOverGarbageWithAWarningThatNamesTheLine) {
  const std::string good = RecordLine(Example("a"));
  std::string next_version = good;
  next_version.replace(next_version.find("\"version\":1"), 11, "\"version\":2");
  std::string wrong_type = good;
  wrong_type.replace(wrong_type.find("\"times\":["), 9, "\"times\":[\"x\",");
  const std::string zero(1, '\0');
  Write("garbage\n" + good + "\n\n[]\n{}\n" + next_version + "\n" + wrong_type + "\n\xff\xfe" + zero + "\n" + good +
        "\r\n");
  const Records records(path_);
  EXPECT_EQ(records.all().size(), 2U);
  ASSERT_EQ(records.warnings().size(), 6U);
  EXPECT_THAT(records.warnings()[0], ::testing::HasSubstr("records.jsonl:1: "));
  EXPECT_THAT(records.warnings()[1], ::testing::HasSubstr("records.jsonl:4: "));
  for (const std::string& warning : records.warnings()) EXPECT_EQ(warning.find('\n'), std::string::npos) << warning;
}

TEST_F(RecordsFile, PassesOverTimesThatNoRunTakesAndNamesTheirPlace) {
  const std::string good = RecordLine(Example("a"));
  const std::size_t times = good.find("\"times\":[");
  const auto with_times = [&](const std::string& list) { return good.substr(0, times) + "\"times\":" + list + "}\n"; };
  for (const std::string time :
       {"-1", "-0.25", "0", "1e-300", "1e-13", "1e301", "1e999", "nan", "-inf", "null", "\"1\""}) {
    Write(good + "\n" + with_times("[0.25," + time + "]"));
    const Records records(path_);
    EXPECT_EQ(records.all().size(), 1U) << time;
    ASSERT_EQ(records.warnings().size(), 1U) << time;
    EXPECT_THAT(records.warnings()[0], ::testing::HasSubstr("records.jsonl:2: no record, passed over: times[1]: "));
  }
  Write(with_times("[]"));
  EXPECT_THAT(Records(path_).warnings(), ::testing::ElementsAre(::testing::HasSubstr("times: is empty")));
  std::string negative_proxy = good;
  negative_proxy.replace(negative_proxy.find("\"proxy_seconds\":") + 16, 0, "-");
  Write(negative_proxy);
  EXPECT_THAT(Records(path_).warnings(), ::testing::ElementsAre(::testing::HasSubstr("proxy_seconds: is negative")));
}

TEST_F(RecordsFile, GoesByTheTimesAndNotByWhatIsSaidOfThem) {
  std::string line = RecordLine(Example("a"));
  const std::size_t at = line.find("\"median_seconds\":0.25");
  ASSERT_NE(at, std::string::npos);
  line.replace(at, 21, "\"median_seconds\":1e-9");
  Write(line);
  EXPECT_EQ(Records(path_).all().at(0).measurement.median, 0.25);
}

TEST_F(RecordsFile, TakesNoTimeAtAllWhereTheProxySeesNoneEither) {
  Record free = Example("a");
  free.proxy_seconds = 0;
  free.measurement.times = {0, 0};
  Summarise(&free.measurement);
  Records(path_).Append(free);
  const Records records(path_);
  EXPECT_THAT(records.warnings(), ::testing::IsEmpty());
  EXPECT_EQ(records.all().at(0).measurement.median, 0);
}

TEST_F(RecordsFile, WarnsOfTheFirstLinesThatAreNoneAndCountsTheRest) {
  std::string text;
  for (int line = 0; line < 1000; ++line) text += "garbage\n";
  Write(text);
  const Records records(path_);
  ASSERT_EQ(records.warnings().size(), 11U);
  EXPECT_THAT(records.warnings().back(), ::testing::HasSubstr("records.jsonl: 990 more lines are no records"));
}

TEST_F(RecordsFile, TellsMeasurementsApartByGraphMachinePlanAndTarget) {
  const Record one = Example("a", 0.25);
  std::vector<Record> others(4, one);
  others[0].graph_hash = "another graph";
  others[1].machine_hash = "another machine";
  others[2].plan_hash = "another plan";
  others[3].target = "another target";
  for (std::size_t i = 0; i < others.size(); ++i) {
    others[i].measurement.times = {1 + static_cast<double>(i)};
    Summarise(&others[i].measurement);
  }
  const auto median = [](const Records& records, const Record& record) {
    const Record* const found = records.Find(record.graph_hash, record.machine_hash, record.plan_hash, record.target);
    return found == nullptr ? -1 : found->measurement.median;
  };
  Records records(path_);
  records.Append(one);
  for (const Record& other : others) EXPECT_EQ(median(records, other), -1);
  for (const Record& other : others) records.Append(other);
  const Records read(path_);
  for (const Records* file : std::initializer_list<const Records*>{&records, &read}) {
    EXPECT_EQ(median(*file, one), 0.25);
    for (const Record& other : others) EXPECT_EQ(median(*file, other), other.measurement.median);
  }
}

TEST_F(RecordsFile, KeepsTheLinesOfTwoProcessesApart) {
  constexpr int kEach = 40;
  std::vector<pid_t> children;
  for (int child = 0; child < 3; ++child) {
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      try {
        Records records(path_);
        for (int i = 0; i < kEach; ++i) {
          Record record = Example(std::to_string(child) + "/" + std::to_string(i));
          record.measurement.times.assign(static_cast<std::size_t>(500 * (child + 1)), 0.1);
          records.Append(record);
        }
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_EQ(status, 0);
  }
  const Records records(path_);
  EXPECT_TRUE(records.warnings().empty());
  std::set<std::string> plans;
  for (const Record& record : records.all()) plans.insert(record.plan_hash);
  EXPECT_EQ(plans.size(), static_cast<std::size_t>(3 * kEach));
}

TEST_F(RecordsFile, SaysWhichFileCannotBeWrittenOrRead) {
  Records records(folder_.Path("nowhere/records.jsonl"));
  try {
    records.Append(Example("a"));
    FAIL();
  } catch (const WorkFailed& failure) {
    EXPECT_THAT(failure.what(), ::testing::HasSubstr(folder_.Path("nowhere/records.jsonl")));
  }
  EXPECT_TRUE(records.all().empty());
  EXPECT_THROW(Records{folder_.path().string()}, InvalidInput);
}

}  // namespace
}  // namespace millrace

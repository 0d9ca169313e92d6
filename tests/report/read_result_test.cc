// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/read_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/random/random.h"
#include "millrace/report/html.h"
#include "millrace/report/text.h"
#include "millrace/report/write.h"
#include "tests/report/sample_result.h"

namespace millrace {
namespace {

class ReadResultTest : public ::testing::Test {
 protected:
  ReadResultTest()
      : folder_(std::filesystem::temp_directory_path() / ("millrace_read_result_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    result_ = testing::SmallResult("first");
    result_.challenger = Challenger{result_.baselines[0].candidate, {1.5, 2.5}};
    result_.best.measured = Timeline{{}, {}, 1};
    result_.best.measured->start.assign(result_.best.plan.groups.size(), 0.5);
    result_.best.measured->finish.assign(result_.best.plan.groups.size(), 1.0);
    result_.warnings = {"take care"};
    WriteResult(result_, folder_.string());
  }
  ~ReadResultTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  // Expects a complaint of one line that names the file.
  void Refused(const std::string& file, const std::string& what) const {
    try {
      ReadResult(folder_.string());
      ADD_FAILURE() << file;
    } catch (const InvalidInput& error) {
      const std::string complaint = error.what();
      EXPECT_THAT(complaint, ::testing::HasSubstr(file));
      EXPECT_THAT(complaint, ::testing::HasSubstr(what));
      EXPECT_EQ(complaint.find('\n'), std::string::npos);
    }
  }

  std::filesystem::path folder_;
  OptimizeResult result_;
};

TEST_F(ReadResultTest, MakesTheSameReportAgain) {
  const OptimizeResult read = ReadResult(folder_.string());
  EXPECT_EQ(ReportHtml(read), ReadWholeFile(Path("report.html")));
  EXPECT_EQ(read.challenger->ratio, result_.challenger->ratio);
  EXPECT_EQ(read.best.measured->start, result_.best.measured->start);
  const std::string trace = ReadWholeFile(Path("timeline.trace.json"));
  std::filesystem::remove(Path("report.html"));
  std::filesystem::remove(Path("timeline.trace.json"));
  WriteReport(read, folder_.string());
  EXPECT_EQ(ReadWholeFile(Path("timeline.trace.json")), trace);
}

TEST_F(ReadResultTest, MakesTheSameReportOfPlansThatTradeTimeForMemory) {
  result_.objective = ParseObjective("memory");
  result_.best.value = 4e9;
  result_.fastest = result_.baselines[0].candidate;
  result_.fastest.value = 6e9;
  result_.front = {result_.fastest, result_.best};
  result_.baselines[0].keeps = false;
  WriteResult(result_, folder_.string());
  const OptimizeResult read = ReadResult(folder_.string());
  EXPECT_EQ(ReportHtml(read), ReadWholeFile(Path("report.html")));
  EXPECT_EQ(ResultText(read), ResultText(result_));
  EXPECT_EQ(read.front.size(), 2U);
}

TEST_F(ReadResultTest, NamesAFileThatIsMissing) {
  for (const std::string file :
       {"plan.json", "graph.json", "baselines/heft.plan.json", "challenger.plan.json", "result.json"}) {
    std::filesystem::rename(Path(file), Path("kept"));
    Refused(file, file == "result.json" ? "no optimize run ended here" : "No such file");
    std::filesystem::rename(Path("kept"), Path(file));
  }
  folder_ /= "nowhere";
  Refused("nowhere", "is no folder");
  folder_ = folder_.parent_path();
}

TEST_F(ReadResultTest, NamesAFileThatIsDamagedOrOfAnotherRun) {
  const std::string whole = ReadWholeFile(Path("result.json"));
  for (const std::string file : {"plan.json", "graph.json", "result.json"}) {
    const std::string content = ReadWholeFile(Path(file));
    WriteFileAtomically(Path(file), content.substr(0, content.size() / 2));
    Refused(file, "");
    WriteFileAtomically(Path(file), content);
  }
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string content = whole;
    content.replace(content.find(from), from.size(), to);
    WriteFileAtomically(Path("result.json"), content);
  };
  changed("\"millrace.result\",\"version\":1", "\"millrace.result\",\"version\":2");
  Refused("result.json", "version");
  changed("\"plan_hash\":\"", "\"plan_hash\":\"0");
  Refused("plan.json", "is not the plan that result.json tells of");
  changed("\"graph_hash\":\"", "\"graph_hash\":\"0");
  Refused("graph.json", "is not the graph");
  changed("\"name\":\"heft\"", "\"name\":\"../heft\"");
  Refused("result.json", "is no name of a baseline's file");
  changed("\"proxy\":\"", "\"proxy\":\"more ");
  Refused("result.json", "neither linear nor contended");
}

// Whatever a byte of it becomes: refused in one line, or a report is made.
TEST_F(ReadResultTest, StandsAnyDamageToItsNumbersAndNames) {
  const std::string whole = ReadWholeFile(Path("result.json"));
  Random random(7);
  int refused = 0, taken = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::string content = whole;
    const auto at = random.Below(content.size());
    constexpr std::string_view kInstead = "0\"-e9,[]{}x<\xff";
    content[at] = kInstead[random.Below(kInstead.size())];
    WriteFileAtomically(Path("result.json"), content);
    try {
      const OptimizeResult read = ReadResult(folder_.string());
      EXPECT_THAT(ReportHtml(read), ::testing::EndsWith("</html>\n"));
      EXPECT_NE(ResultText(read), "");
      ++taken;
    } catch (const InvalidInput& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
  EXPECT_GT(taken, 5);
}

}  // namespace
}  // namespace millrace

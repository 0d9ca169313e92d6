// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>

#include "millrace/machine/preset.h"
#include "millrace/optimize/planners.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

OptimizeResult SmallResult(const std::string& op_name) {
  RandomGraphOptions options;
  options.ops = 40;
  options.seed = 3;
  GraphData data = MakeRandomGraph("layered", options).data();
  data.name = "small & <layered>";
  data.ops[0].name = op_name;
  LoadedGraph loaded;
  loaded.graph = ComputationGraph(std::move(data));
  OptimizeOptions optimize;
  optimize.target = "sim:noise";
  optimize.samples = 32;
  optimize.iterations = 2000;
  return Optimize(loaded, *MachinePreset("homogeneous:3"), MakePlannerRegistry(), optimize, [](const OptimizeStep&) {});
}

std::size_t Count(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator()));
}

TEST(ReportHtml, ShowsEveryPlanEveryCandidateAndEveryGroup) {
  const OptimizeResult result = SmallResult("first");
  const std::string page = ReportHtml(result);
  EXPECT_EQ(Count(page, "class=\"gantt-plan\""), 1 + result.baselines.size());
  EXPECT_EQ(Count(page, "<circle class=\"point"), result.candidates.size());
  EXPECT_EQ(Count(page, "class=\"point winner\""), 1U);
  for (const char* section : {"summary", "timelines", "candidates", "types", "devices", "groups"}) {
    EXPECT_THAT(page, HasSubstr("<section id=\"" + std::string(section) + "\">"));
  }
}

TEST(ReportHtml, FetchesNothing) {
  const std::string page = ReportHtml(SmallResult("first"));
  EXPECT_THAT(page, Not(HasSubstr("http:")));
  EXPECT_THAT(page, Not(HasSubstr("https:")));
  EXPECT_EQ(Count(page, "src="), 0U);
  EXPECT_EQ(Count(page, "@import|url\\("), 0U);
}

TEST(ReportHtml, LetsNoNameBreakOutOfTheText) {
  const std::string page = ReportHtml(SmallResult("</title><script>alert(1)</script>\"'"));
  EXPECT_EQ(Count(page, "<script>"), 1U);
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, HasSubstr("small &amp; &lt;layered&gt;"));
}

// Text that would become markup wherever it is not escaped.
std::string Hostile(const std::string& place) {
  return "<script>alert('" + place + "')</script><b onclick=\"x\">&amp;" + place;
}

// Every string that a result holds, so that none of them is taken for harmless.
OptimizeResult HostileResult() {
  OptimizeResult result = SmallResult("op");
  GraphData data = result.graph.data();
  data.name = Hostile("graph");
  for (Op& op : data.ops) {
    op.name = Hostile("op");
    op.type = Hostile("type");
  }
  for (Tensor& tensor : data.tensors) tensor.name = Hostile("tensor");
  result.graph = ComputationGraph(std::move(data));
  result.machine.name = Hostile("machine");
  for (Device& device : result.machine.devices) device.name = Hostile("device"), device.kind = Hostile("kind");
  result.target = Hostile("target");
  const auto poison = [](Candidate& candidate, const std::string& whose) {
    candidate.method = Hostile(whose + " method");
    candidate.fusion = Hostile(whose + " fusion");
    candidate.failure = Hostile(whose + " failure");
  };
  poison(result.best, "best");
  for (BaselineResult& baseline : result.baselines) {
    poison(baseline.candidate, "baseline");
    baseline.name = Hostile("baseline name");
    baseline.meaning = Hostile("baseline meaning");
  }
  for (Candidate& candidate : result.candidates) poison(candidate, "candidate");
  result.warnings = {Hostile("warning")};
  return result;
}

TEST(ReportHtml, EscapesEveryTextOfAResult) {
  const std::string page = ReportHtml(HostileResult());
  EXPECT_EQ(Count(page, "<script>"), 1U) << "its own";
  EXPECT_THAT(page, Not(HasSubstr("alert('")));
  EXPECT_THAT(page, Not(HasSubstr("onclick=\"")));
  EXPECT_THAT(page, Not(HasSubstr("&amp;amp;amp;"))) << "escaped twice";
  EXPECT_EQ(Count(page, "<b onclick"), 0U);
  for (const char* place : {"graph", "op", "type", "machine", "device", "kind", "target", "best method", "best fusion",
                            "best failure", "baseline name", "baseline meaning", "baseline failure", "candidate method",
                            "candidate fusion", "candidate failure", "warning"})
    EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&#39;" + std::string(place) +
                                "&#39;)&lt;/script&gt;&lt;b "
                                "onclick=&quot;x&quot;&gt;&amp;amp;" +
                                place));
}

struct Browsed {
  std::string document;  // as it stands after the scripts ran
  std::string console;
};

// Opens the page in headless Chromium.
Browsed Browse(const std::string& page) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("millrace_report_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "report.html") << page;
  const std::string command =
      "chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir='" +
      (folder / "profile").string() + "' --enable-logging=stderr --virtual-time-budget=2000 --dump-dom 'file://" +
      (folder / "report.html").string() + "' 2>'" + (folder / "console").string() + "'";
  Browsed browsed;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return browsed;
  std::array<char, 4096> chunk;
  std::size_t got = 0;
  while ((got = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0) browsed.document.append(chunk.data(), got);
  EXPECT_EQ(::pclose(pipe), 0) << "chromium is one of the packages script/bootstrap --test installs";
  std::ifstream console(folder / "console");
  for (std::string line; std::getline(console, line);) {
    if (line.find("CONSOLE") != std::string::npos) browsed.console += line + "\n";
  }
  std::filesystem::remove_all(folder);
  return browsed;
}

TEST(ReportHtml, LoadsInABrowserWithItsMarksAndWithoutAScriptError) {
  const OptimizeResult result = SmallResult("first");
  const Browsed browsed = Browse(ReportHtml(result));
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.document, HasSubstr("data-scripts=\"done\""));
  EXPECT_EQ(Count(browsed.document, "class=\"gantt-plan\""), 1 + result.baselines.size());
  EXPECT_EQ(Count(browsed.document, "<circle class=\"point"), result.candidates.size());
  EXPECT_GE(Count(browsed.document, "<rect class=\"bar"), result.best.plan.groups.size());
}

TEST(ReportHtml, FiltersTheTableOfGroupsAsTheReaderTypes) {
  const OptimizeResult result = SmallResult("a very special op");
  std::string page = ReportHtml(result);
  const std::string typing =
      "<script>document.getElementById('filter').value='very "
      "SPECIAL';document.getElementById('filter').dispatchEvent(new Event('input'));"
      "document.body.dataset.shown=[...document.querySelectorAll('#groups tbody "
      "tr')].filter(r=>!r.hidden).length</script>";
  page.insert(page.rfind("</body>"), typing);
  const Browsed browsed = Browse(page);
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.document, HasSubstr("data-shown=\"1\""));
}

}  // namespace
}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/machine/preset.h"
#include "millrace/report/scatter.h"
#include "millrace/workloads/random_graph.h"
#include "tests/report/browser.h"
#include "tests/report/sample_result.h"

namespace millrace {
namespace {

using testing::Browse;
using testing::Browsed;
using testing::Count;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::SmallResult;

TEST(ReportHtml, ShowsEveryPlanEveryCandidateAndEveryGroup) {
  const OptimizeResult result = SmallResult("first");
  const std::string page = ReportHtml(result);
  EXPECT_EQ(Count(page, "class=\"gantt-plan\""), 1 + result.baselines.size());
  EXPECT_EQ(Count(page, "<circle class=\"point"), result.candidates.size());
  EXPECT_EQ(Count(page, "class=\"point winner\""), 1U);
  for (const char* section : {"summary", "timelines", "candidates", "types", "devices", "groups", "words"}) {
    EXPECT_THAT(page, HasSubstr("<section id=\"" + std::string(section) + "\""));
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

TEST(ReportHtml, LetsNoTextOfAResultBecomeMarkupInABrowser) {
  OptimizeResult result = HostileResult();
  GraphData data = result.graph.data();
  data.ops[1].name = "line\nbreak\x1b[31m\xff" + std::string(100'000, 'n');
  result.graph = ComputationGraph(std::move(data));
  const std::string page = ReportHtml(result);
  EXPECT_LT(page.size(), 500'000U);
  const Browsed browsed = Browse(page, R"js(
    for (const row of document.querySelectorAll("#groups tbody button")) row.click();
    return document.querySelectorAll("[onclick], b:not(.facts b):not(.verdict b)").length;)js");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.document, HasSubstr("data-seen=\"0\""));
}

TEST(ReportHtml, LoadsInABrowserWithItsMarksAndWithoutAScriptError) {
  const OptimizeResult result = SmallResult("first");
  const Browsed browsed = Browse(ReportHtml(result));
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.document, HasSubstr("data-scripts=\"done\""));
  EXPECT_EQ(Count(browsed.document, "class=\"gantt-plan\""), 2U) << "the best plan, and the one it has to beat";
  EXPECT_EQ(Count(browsed.document, "<circle class=\"point"), result.candidates.size());
  EXPECT_EQ(Count(browsed.document, "<canvas"), 2U);
}

TEST(ReportHtml, FiltersTheTableOfGroupsAsTheReaderTypes) {
  const Browsed browsed = Browse(ReportHtml(SmallResult("a very special op")), R"js(
    document.getElementById("filter").value = "very SPECIAL";
    document.getElementById("filter").dispatchEvent(new Event("input"));
    return [...document.querySelectorAll("#groups tbody tr")].filter((row) => !row.hidden).length;)js");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.document, HasSubstr("data-seen=\"1\""));
}

// A click in the middle of where the op runs, which the table of groups tells in the same words.
TEST(ReportHtml, TellsOfTheOpThatIsClicked) {
  const Browsed browsed = Browse(ReportHtml(SmallResult("a very special op")), R"js(
    document.getElementById("filter").value = "very special";
    document.getElementById("filter").dispatchEvent(new Event("input"));
    document.querySelector("#groups tbody button").click();
    const area = document.querySelector(".area"), details = document.getElementById("details");
    const first = details.textContent;
    area.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}));
    const second = details.textContent;
    area.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowLeft", bubbles: true}));
    const box = area.getBoundingClientRect();
    const at = {clientX: box.left + 2, clientY: box.top + 8, bubbles: true, pointerId: 1};
    area.dispatchEvent(new PointerEvent("pointerdown", at));
    area.dispatchEvent(new PointerEvent("pointerup", at));
    return [first.includes("a very special op"), first.includes("How long it takes on each device"), second !== first,
            details.textContent.includes("from 0 s")].join();)js");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.document, HasSubstr("data-seen=\"true,true,true,true\""));
}

TEST(ReportHtml, ShowsAnotherPlanMemoryAndACloserLookWhenAsked) {
  const OptimizeResult result = SmallResult("first");
  const Browsed browsed = Browse(ReportHtml(result), R"js(
    const pause = () => new Promise((go) => setTimeout(go, 100));
    const [first, second] = document.querySelectorAll("#view select");
    first.value = 1;
    first.dispatchEvent(new Event("change"));
    second.value = -1;
    second.dispatchEvent(new Event("change"));
    await pause();
    const plans = [...document.querySelectorAll(".gantt-plan")].map((plan) => plan.dataset.plan).join();
    const height = document.querySelector("canvas").height;
    [...document.querySelectorAll("#view input")].pop().click();
    await pause();
    const higher = document.querySelector("canvas").height > height;
    const canvas = document.querySelector("canvas"), before = canvas.toDataURL();
    document.querySelector("button[aria-label='zoom in']").click();
    await pause();
    return [plans, higher, canvas.toDataURL() !== before].join();)js");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.document, HasSubstr("data-seen=\"" + result.baselines[0].name + ",true,true\""));
}

TEST(ReportHtml, ShowsAnyTwoPlansBesideEachOther) {
  const OptimizeResult result = SmallResult("first");
  const Browsed browsed = Browse(ReportHtml(result), R"js(
    const [first, second] = document.querySelectorAll("#view select");
    for (const [select, value] of [[first, 1], [second, 0]]) {
      select.value = value;
      select.dispatchEvent(new Event("change"));
    }
    await new Promise((go) => setTimeout(go, 100));
    return document.querySelectorAll(".gantt-plan").length;)js");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.document, HasSubstr("data-seen=\"2\""));
}

// The most a memory holds reaches the top of its strip.
TEST(ReportHtml, DrawsMemoryAsHighAsItsStrip) {
  const Browsed browsed = Browse(ReportHtml(SmallResult("first")), R"js(
    [...document.querySelectorAll("#view input")].pop().click();
    await new Promise((go) => setTimeout(go, 100));
    const canvas = document.querySelector("canvas"), strip = 40, bottom = canvas.height - 22;
    const wanted = getComputedStyle(document.documentElement).getPropertyValue("--memory").trim();
    const part = (at) => parseInt(wanted.slice(at, at + 2), 16);
    const pixels = canvas.getContext("2d").getImageData(0, bottom - strip, canvas.width, strip).data;
    let rows = 0;
    for (let y = 0; y < strip; ++y) {
      let found = false;
      for (let x = 0; x < canvas.width && !found; ++x) {
        const at = 4 * (y * canvas.width + x);
        found = [1, 3, 5].every((colour, i) => pixels[at + i] === part(colour));
      }
      rows += found;
    }
    return [rows, wanted].join();)js");
  EXPECT_EQ(browsed.console, "");
  const std::size_t at = browsed.document.find("data-seen=\"");
  ASSERT_NE(at, std::string::npos);
  EXPECT_GE(std::atoi(browsed.document.c_str() + at + 11), 30);
}

// What the pointer meets along the first row tells what is in view: less of it closer up, its end after steps aside,
// and all of it again in the end.
TEST(ReportHtml, LooksCloserAndAside) {
  const Browsed browsed = Browse(ReportHtml(SmallResult("first")), R"js(
    const seen = () => {
      const area = document.querySelector(".area"), box = area.getBoundingClientRect(), titles = [];
      for (let i = 1; i < 200; ++i) {
        area.dispatchEvent(new PointerEvent("pointermove",
          {clientX: box.left + i / 200 * box.width, clientY: box.top + 8, bubbles: true}));
        if (area.title && titles[titles.length - 1] !== area.title) titles.push(area.title);
      }
      return titles;
    };
    const press = (label, times) => {
      for (let i = 0; i < times; ++i) document.querySelector("button[aria-label='" + label + "']").click();
      return seen();
    };
    await new Promise((go) => setTimeout(go, 100));
    const whole = seen(), closer = press("zoom in", 3), end = press("later", 40), all = press("show everything", 1);
    return [whole.length > 5, closer.length > 0 && closer.length < whole.length,
            end[end.length - 1] === whole[whole.length - 1], all.join() === whole.join()].join();)js");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.document, HasSubstr("data-seen=\"true,true,true,true\""));
}

TEST(ReportHtml, IsReachedFromTheKeyboardAndHasANameForEveryControl) {
  const Browsed browsed = Browse(ReportHtml(SmallResult("first")), R"js(
    const controls = [...document.querySelectorAll("button, select, input, [tabindex='0']")];
    const nameless = controls.filter((one) => !(one.textContent.trim() || one.getAttribute("aria-label") || one.labels?.length));
    const tables = [...document.querySelectorAll("table")].filter((table) => !table.querySelector("th"));
    const images = [...document.querySelectorAll("[role=img]")].filter((image) => !image.getAttribute("aria-label"));
    return [nameless.length, tables.length, images.length, controls.every((one) => one.tabIndex >= 0)].join();)js");
  EXPECT_THAT(browsed.document, HasSubstr("data-seen=\"0,0,0,true\""));
}

TEST(ReportHtml, StaysLegibleAndInsideOfANarrowWindow) {
  const Browsed browsed = Browse(ReportHtml(SmallResult("first")), R"js(
    const texts = [...document.querySelectorAll("main *")].filter((one) => one.childNodes.length && one.getClientRects().length &&
      [...one.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim()));
    const scale = (one) => one.ownerSVGElement ? one.ownerSVGElement.getScreenCTM().a : 1;
    const smallest = Math.min(...texts.map((one) => parseFloat(getComputedStyle(one).fontSize) * scale(one)));
    return [smallest >= 11, document.documentElement.scrollWidth <= window.innerWidth].join();)js",
                                 "--window-size=500,900");
  EXPECT_THAT(browsed.document, HasSubstr("data-seen=\"true,true\""));
}

TEST(ReportHtml, StaysSmallHoweverLargeThePlanIs) {
  RandomGraphOptions options;
  options.ops = 80000;
  options.degree = 8;
  options.seed = 5;
  OptimizeResult result;
  result.graph = MakeRandomGraph("er", options);
  result.graph_hash = "0123456789abcdef";
  result.machine = *MachinePreset("p100x8");
  result.proxy = Proxy::kContended;
  result.target = "sim:contention";
  const CostedGraph costed =
      MakeCostedGraph(*MakeAnalyticCostModel(result.graph, result.machine, result.proxy), SingleOpGroups(result.graph));
  const Assignment assignment = ScheduleHeft(costed, PartialSchedule::Gaps::kFill).assignment;
  result.best.plan = {costed.groups, assignment.placement, assignment.sequence};
  result.best.method = "heft";
  for (const char* name : {"sequential", "heft", "expert"}) result.baselines.push_back({name, "", result.best, {0, 0}});
  const std::string page = ReportHtml(result);
  EXPECT_LT(page.size(), 2'000'000U);
  EXPECT_THAT(page, HasSubstr("id=\"data-plan-0\""));
}

TEST(ScatterSvg, IsLogarithmicWhereAnOutlierWouldPressTheOthersTogether) {
  std::vector<Candidate> candidates(5);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].plan.placement = {static_cast<int>(i)};
    candidates[i].proxy_seconds = 1 + 0.1 * static_cast<double>(i);
    candidates[i].target_seconds = candidates[i].proxy_seconds;
  }
  EXPECT_THAT(ScatterSvg(candidates, candidates[0]), Not(HasSubstr("logarithmic")));
  candidates.back().target_seconds = 100;
  EXPECT_THAT(ScatterSvg(candidates, candidates[0]), HasSubstr("measured (logarithmic)"));
}

TEST(ScatterSvg, DrawsWhereBothTimesAgreeIfTheyCan) {
  std::vector<Candidate> candidates(3);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].plan.placement = {static_cast<int>(i)};
    candidates[i].proxy_seconds = 1 + 0.1 * static_cast<double>(i);
    candidates[i].target_seconds = 1.05 + 0.1 * static_cast<double>(i);
  }
  const std::string agreeing = ScatterSvg(candidates, candidates[0]);
  const std::size_t line = agreeing.find("class=\"agree\"");
  ASSERT_NE(line, std::string::npos);
  // The line stays within the frame.
  for (const char* end : {"x1=\"", "y1=\"", "x2=\"", "y2=\""}) {
    const double at = std::stod(agreeing.substr(agreeing.find(end, line) + 4));
    EXPECT_GE(at, 0) << end;
    EXPECT_LE(at, 1000) << end;
  }
  for (Candidate& candidate : candidates) candidate.target_seconds = *candidate.target_seconds * 5;
  EXPECT_THAT(ScatterSvg(candidates, candidates[0]), Not(HasSubstr("class=\"agree\"")));
}

TEST(ReportHtml, NamesOneWinnerEverywhereAndKeepsTheChallenger) {
  OptimizeResult result = SmallResult("first");
  // The fastest baseline wins in the end over what was chosen before.
  BaselineResult& heft = result.baselines.back();
  Candidate chosen = result.best;
  chosen.method = "chosen before";
  std::swap(chosen.plan.placement[0], chosen.plan.placement[1]);
  chosen.times = {0.5, 0.5};
  chosen.target_seconds = 0.5;
  heft.candidate.target_seconds = 0.25;
  heft.candidate.times = {0.25, 0.25};
  result.best = heft.candidate;
  result.challenger = Challenger{chosen, {1.9, 2.1}};
  for (Candidate& candidate : result.candidates) {
    if (candidate.plan == result.best.plan) candidate.target_seconds = 0.25;
  }
  const std::string page = ReportHtml(result);
  EXPECT_THAT(page, HasSubstr("250.000 ms <small>No plan beat <b>" + heft.name + "</b>"));
  EXPECT_THAT(page,
              HasSubstr("The plan of chosen before, chosen before, takes 500.000 ms: 1.90 to 2.10 times as long"));
  EXPECT_THAT(page, HasSubstr(">challenger</th>"));
}

}  // namespace
}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "millrace/plan/hash.h"
#include "millrace/report/account.h"
#include "millrace/report/gantt.h"
#include "millrace/report/readable.h"
#include "millrace/report/scatter.h"
#include "millrace/report/style.h"
#include "millrace/simulate/bounds.h"

namespace millrace {
namespace {

constexpr std::size_t kGroupsListed = 3000;
constexpr double kLeastWin = 1.005;  // what is told as 1.01 times

std::string SecondsOrDash(const std::optional<double>& seconds) { return seconds ? ReadableSeconds(*seconds) : "-"; }

double Least(const std::vector<double>& times) {
  return times.empty() ? 0.0 : *std::min_element(times.begin(), times.end());
}

class Page {
 public:
  explicit Page(const OptimizeResult& result)
      : result_(result), accounts_(AccountsOf(result)), colours_(ColourClasses(accounts_)) {}

  std::string Write() {
    const std::string title = HtmlText(result_.graph.name().empty() ? "plan" : result_.graph.name());
    Put("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width,initial-scale=1\"><title>Millrace: "
        "{}</title><style>{}</style></head><body><main>",
        title, kReportStyle);
    Summary(title);
    Timelines();
    Front();
    Candidates();
    Types();
    Devices();
    Groups();
    Put("</main><script>{}</script></body></html>\n", kReportScript);
    return std::move(html_);
  }

 private:
  template <typename... Arguments>
  void Put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(html_), format, std::forward<Arguments>(arguments)...);
  }

  // The fastest plan one gets without planning, of those that keep to what plans must keep to.
  const BaselineResult* Rival() const {
    const BaselineResult* rival = nullptr;
    for (const BaselineResult& baseline : result_.baselines) {
      if (!baseline.keeps || !baseline.candidate.target_seconds) continue;
      if (rival == nullptr || *baseline.candidate.target_seconds < *rival->candidate.target_seconds) rival = &baseline;
    }
    return rival;
  }

  void Verdict() {
    if (result_.best.value && result_.fastest.value) {
      const bool memory = result_.objective.aim == Objective::Aim::kMemory;
      const auto readable = [memory](double value) { return memory ? ReadableBytes(value) : ReadableSeconds(value); };
      Put("<p class=\"verdict\">{} <small>{}, where the fastest plan has {}; a run takes {} against {}.</small></p>",
          readable(*result_.best.value), memory ? "on the fullest memory" : "from run to run",
          readable(*result_.fastest.value), SecondsOrDash(result_.best.target_seconds),
          SecondsOrDash(result_.fastest.target_seconds));
      return;
    }
    const BaselineResult* rival = Rival();
    if (rival == nullptr || !result_.best.target_seconds) return;
    const std::string best = ReadableSeconds(*result_.best.target_seconds);
    if (result_.target_indifferent) {
      Put("<p class=\"verdict even\">{} <small>Every plan that was measured takes the same time: the target makes no "
          "difference between them.</small></p>",
          best);
      return;
    }
    if (rival->candidate.plan == result_.best.plan) {
      Put("<p class=\"verdict even\">{} <small>No plan beat <b>{}</b> on this target; it is the answer.</small></p>",
          best, HtmlText(rival->name));
      return;
    }
    const bool timed = rival->ratio.second > 0 && result_.best.times.size() > 1;
    const double ratio = *rival->candidate.target_seconds / *result_.best.target_seconds;
    const bool won = ratio >= kLeastWin && (!timed || rival->ratio.first > 1);
    Put("<p class=\"verdict{}\">{}&times; <small>as fast as <b>{}</b>, the fastest of the usual ways ({} against "
        "{}",
        won ? "" : " even", ReadableNumber(ratio, 2), HtmlText(rival->name), best,
        ReadableSeconds(*rival->candidate.target_seconds));
    if (timed)
      Put("; 95 % interval {} to {}", ReadableNumber(rival->ratio.first, 2), ReadableNumber(rival->ratio.second, 2));
    Put("){}</small></p>", won ? "" : ": no difference that counts");
  }

  void Fact(const std::string& value, const char* what) { Put("<li><b>{}</b><span>{}</span></li>", value, what); }

  void Summary(const std::string& title) {
    Put("<section id=\"summary\"><h1>{}</h1><p class=\"quiet\">{} ops on {} ({} devices), target {}, seed {}, graph "
        "{}</p>",
        title, result_.graph.num_ops(), HtmlText(result_.machine.name), result_.machine.devices.size(),
        HtmlText(result_.target), result_.seed, result_.graph_hash);
    Verdict();
    Put("<ul class=\"facts\">");
    Fact(HtmlText(result_.best.method + ", fusion " + result_.best.fusion), "method of the best plan");
    Fact(fmt::format("{} / {}", result_.candidates.size(), result_.proposed), "plans measured / proposed");
    Fact(result_.proxy_rank_correlation ? fmt::format("{:.2f}", *result_.proxy_rank_correlation) : "-",
         "rank correlation, proxy to target");
    Fact(result_.proxy_median_error ? ReadableNumber(100 * *result_.proxy_median_error, 0) + " %" : "-",
         "median error of the proxy");
    Fact(ReadableNumber(100 * Gap(result_.best.proxy_seconds, result_.proven_bound_seconds), 1) + " %",
         "proxy above what no plan can beat, at most");
    Fact(ReadableSeconds(result_.planning_seconds), "planning took");
    Fact(result_.pays_back_after_runs ? ReadableNumber(*result_.pays_back_after_runs, 0) + " runs" : "-",
         "until planning has paid back");
    Put("</ul>");
    for (const std::string& warning : result_.warnings) Put("<p class=\"warning\">{}</p>", HtmlText(warning));
    if (result_.disturbed)
      Put("<p class=\"warning\">Other processes used these processors while the final comparison ran; take its times "
          "with care.</p>");
    Put("<h2>Best plan and baselines, measured in turn after the choice</h2><div "
        "class=\"card\"><table><thead><tr><th>plan</th><th class=\"text\">what it "
        "is</th><th>median</th><th>fastest</th>"
        "<th>runs</th><th>time / best, 95 %</th><th>proxy</th><th>lower bound</th></tr></thead><tbody>");
    Row("best", result_.best.method, result_.best, "1", accounts_[0], true);
    for (std::size_t i = 0; i < result_.baselines.size(); ++i) {
      const BaselineResult& baseline = result_.baselines[i];
      std::string ratio = "-";
      if (baseline.ratio.second > 0 && !result_.target_indifferent)
        ratio = ReadableNumber(baseline.ratio.first, 2) + " .. " + ReadableNumber(baseline.ratio.second, 2);
      Row(baseline.name, baseline.meaning + (baseline.keeps ? "" : "; breaks the pins"), baseline.candidate, ratio,
          accounts_[i + 1], false);
    }
    Put("</tbody></table></div></section>");
  }

  void Row(const std::string& name, const std::string& meaning, const Candidate& candidate, const std::string& ratio,
           const PlanAccount& account, bool best) {
    Put("<tr{}><td>{}</td><td "
        "class=\"text\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
        best ? " class=\"best\"" : "", HtmlText(name), HtmlText(meaning),
        candidate.failure.empty() ? SecondsOrDash(candidate.target_seconds) : HtmlText(candidate.failure),
        ReadableSeconds(Least(candidate.times)), candidate.times.size(), ratio,
        ReadableSeconds(candidate.proxy_seconds), ReadableSeconds(account.lower_bound_seconds));
  }

  void Timelines() {
    Put("<section id=\"timelines\"><h2>Timelines, {}</h2><p class=\"quiet\">One row per unit, one "
        "time axis. A group on several units shows on each. Hover over a bar for its ops; "
        "timeline.trace.json opens in Perfetto.</p><div class=\"card\">{}</div></section>",
        accounts_[0].of_target ? "on the target" : "as the proxy sees them",
        GanttSvg(result_.graph, result_.machine, accounts_, colours_));
  }

  // Where the objective is not latency: what is traded for it.
  void Front() {
    if (result_.front.empty()) return;
    const bool memory = result_.objective.aim == Objective::Aim::kMemory;
    const char* const what = memory ? "peak memory" : "time from run to run";
    const auto readable = [memory](const Candidate& candidate) {
      return memory ? ReadableBytes(*candidate.value) : ReadableSeconds(*candidate.value);
    };
    Put("<section id=\"front\"><h2>Time against {}</h2><p class=\"quiet\">Measured plans none of which another beats "
        "in "
        "both. The best one has the least {} of those that take at most {}.</p><div "
        "class=\"card\"><table><thead><tr><th>method</th><th class=\"text\">fusion</th><th>measured</th><th>{}</th>"
        "</tr></thead><tbody>",
        what, what, ReadableSeconds(result_.objective.Limit(result_.fastest.target_seconds.value_or(0))), what);
    for (const Candidate& candidate : result_.front) {
      Put("<tr{}><td>{}</td><td class=\"text\">{}</td><td>{}</td><td>{}</td></tr>",
          candidate.plan == result_.best.plan ? " class=\"best\"" : "", HtmlText(candidate.method),
          HtmlText(candidate.fusion), SecondsOrDash(candidate.target_seconds), readable(candidate));
    }
    Put("</tbody></table></div></section>");
  }

  void Candidates() {
    Put("<section id=\"candidates\"><h2>Candidates: predicted against measured</h2><div class=\"two\"><div "
        "class=\"card\">{}</div><div class=\"card scroll\"><table><thead><tr><th>method</th>"
        "<th class=\"text\">fusion</th><th>proxy</th><th>measured</th><th>runs</th></tr></thead><tbody>",
        ScatterSvg(result_.candidates, result_.best));
    for (const Candidate& candidate : result_.candidates) {
      Put("<tr{}><td>{}</td><td class=\"text\">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
          candidate.plan == result_.best.plan ? " class=\"best\"" : "", HtmlText(candidate.method),
          HtmlText(candidate.fusion), ReadableSeconds(candidate.proxy_seconds),
          candidate.failure.empty() ? SecondsOrDash(candidate.target_seconds) : HtmlText(candidate.failure),
          candidate.times.size());
    }
    Put("</tbody></table></div></div></section>");
  }

  void Types() {
    const PlanAccount& best = accounts_[0];
    double total = 0;
    for (const TypeShare& share : best.types) total += share.seconds;
    Put("<section id=\"types\"><h2>Where the best plan's time goes</h2><div "
        "class=\"card\"><table><thead><tr><th>ops</th><th>groups</th><th>device time</th><th>share</th><th "
        "class=\"text\"></th></tr></thead><tbody>");
    for (const TypeShare& share : best.types) {
      const double part = total > 0 ? share.seconds / total : 0;
      const std::string& colour = colours_.at(share.type);
      Put("<tr><td><span class=\"key {0}\"></span>{1}</td><td>{2}</td><td>{3}</td><td>{4:.1f} %</td><td "
          "class=\"text\"><span class=\"share {0}\" style=\"width:{5:.1f}px\"></span></td></tr>",
          colour, HtmlText(share.type), share.groups, ReadableSeconds(share.seconds), 100 * part, 260 * part);
    }
    Put("</tbody></table></div></section>");
  }

  void Devices() {
    const PlanAccount& best = accounts_[0];
    const Topology topology = MakeTopology(result_.machine);
    Put("<section id=\"devices\"><h2>What the best plan puts where</h2><div "
        "class=\"card\"><table><thead><tr><th>device</th><th "
        "class=\"text\">kind</th><th>units</th><th>groups</th><th>busy</th>"
        "<th>of the makespan</th><th>peak memory</th></tr></thead><tbody>");
    for (std::size_t d = 0; d < result_.machine.devices.size(); ++d) {
      const Device& device = result_.machine.devices[d];
      const double makespan = best.timeline.makespan;
      Put("<tr><td>{}</td><td class=\"text\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.0f} %</td><td>{}</td></tr>",
          HtmlText(device.name), HtmlText(device.kind), device.units.size(), best.device_groups[d],
          ReadableSeconds(best.device_busy[d]), makespan > 0 ? 100 * best.device_busy[d] / makespan : 0.0,
          ReadableBytes(best.peak_memory[static_cast<std::size_t>(topology.memory_of[d])]));
    }
    Put("</tbody></table></div></section>");
  }

  void Groups() {
    const PlanAccount& best = accounts_[0];
    const Plan& plan = best.candidate->plan;
    Put("<section id=\"groups\"><h2>Every group of the best plan, in order</h2>");
    if (plan.sequence.size() > kGroupsListed)
      Put("<p class=\"quiet\">The first {} of {}; plan.json has all.</p>", kGroupsListed, plan.sequence.size());
    Put("<input id=\"filter\" placeholder=\"Filter by op, type or device\" aria-label=\"Filter groups\"><div "
        "class=\"card scroll\"><table><thead><tr><th>group</th><th class=\"text\">ops</th>"
        "<th class=\"text\">types</th><th class=\"text\">device</th><th>start</th><th>time</th></tr></thead><tbody>");
    for (std::size_t i = 0; i < std::min(plan.sequence.size(), kGroupsListed); ++i) {
      const auto group = static_cast<std::size_t>(plan.sequence[i]);
      std::string names;
      for (const OpId op : plan.groups[group]) names += (names.empty() ? "" : ", ") + result_.graph.op(op).name;
      Put("<tr><td>{}</td><td class=\"text\">{}</td><td class=\"text\">{}</td><td "
          "class=\"text\">{}</td><td>{}</td><td>{}</td></tr>",
          group, HtmlText(names), HtmlText(TypesOf(result_.graph, plan.groups[group])),
          HtmlText(result_.machine.devices[static_cast<std::size_t>(plan.placement[group])].name),
          ReadableSeconds(best.timeline.start[group]),
          ReadableSeconds(best.timeline.finish[group] - best.timeline.start[group]));
    }
    Put("</tbody></table></div></section>");
  }

  const OptimizeResult& result_;
  std::vector<PlanAccount> accounts_;
  std::map<std::string, std::string> colours_;
  std::string html_;
};

}  // namespace

std::string ReportHtml(const OptimizeResult& result) { return Page(result).Write(); }

}  // namespace millrace

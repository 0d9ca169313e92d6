// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "millrace/report/html_text.h"
#include "millrace/report/page.h"
#include "millrace/report/readable.h"
#include "millrace/report/scatter.h"
#include "millrace/report/type_colours.h"
#include "millrace/simulate/bounds.h"

namespace millrace {
namespace {

constexpr std::size_t kGroupsListed = 300;
constexpr std::size_t kCandidatesListed = 200;
constexpr std::size_t kTypesListed = 60;
constexpr double kLeastWin = 1.005;  // what is told as 1.01 times

std::string SecondsOrDash(const std::optional<double>& seconds) { return seconds ? ReadableSeconds(*seconds) : "-"; }

std::string LeastOrDash(const std::vector<double>& times) {
  return times.empty() ? "-" : ReadableSeconds(*std::min_element(times.begin(), times.end()));
}

std::string MeasuredOrFailure(const Candidate& candidate) {
  return candidate.failure.empty() ? SecondsOrDash(candidate.target_seconds) : HtmlText(candidate.failure);
}

class Page {
 public:
  Page(const OptimizeResult& result, std::vector<PlanAccount> accounts)
      : result_(result), accounts_(std::move(accounts)), colours_(accounts_) {}

  std::string Write() {
    const std::string title = result_.graph.name().empty() ? "plan" : result_.graph.name();
    html_ = PageBegin(title);
    Summary(HtmlText(title));
    html_ += TimelinesHtml("Timelines", result_.graph, result_.machine, accounts_, colours_, 0, SecondShown());
    html_ += DevicesHtml(result_.machine, DevicesOf());
    Front();
    Candidates();
    Types();
    Groups();
    Words();
    html_ += PageEnd();
    return std::move(html_);
  }

 private:
  template <typename... Arguments>
  void Put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(html_), format, std::forward<Arguments>(arguments)...);
  }

  // The fastest plan one gets without planning, of those that keep to the pins; -1: none was measured.
  int Rival() const {
    int rival = -1;
    for (std::size_t i = 0; i < result_.baselines.size(); ++i) {
      const std::optional<double>& seconds = result_.baselines[i].candidate.target_seconds;
      if (!seconds || !result_.baselines[i].keeps) continue;
      if (rival < 0 || *seconds < *result_.baselines[static_cast<std::size_t>(rival)].candidate.target_seconds)
        rival = static_cast<int>(i);
    }
    return rival;
  }

  // What stands beside the best plan at first: how it was measured, else the plan it has to beat, or that has to beat
  // it.
  int SecondShown() const {
    const auto is = [](const char* what) { return [what](const PlanAccount& a) { return a.name == what; }; };
    const auto measured = std::find_if(accounts_.begin() + 1, accounts_.end(), is("best"));
    if (measured != accounts_.end()) return static_cast<int>(measured - accounts_.begin());
    const auto challenger = std::find_if(accounts_.begin(), accounts_.end(), is("challenger"));
    if (challenger != accounts_.end()) return static_cast<int>(challenger - accounts_.begin());
    return Rival() < 0 ? -1 : Rival() + 1;
  }

  std::vector<const PlanAccount*> DevicesOf() const {
    std::vector<const PlanAccount*> shown{&accounts_.front()};
    if (SecondShown() > 0) shown.push_back(&accounts_[static_cast<std::size_t>(SecondShown())]);
    return shown;
  }

  // What the objective is about, where it is not latency.
  std::string ValueOf(const Candidate& candidate) const {
    return result_.objective.aim == Objective::Aim::kMemory ? ReadableBytes(*candidate.value)
                                                            : ReadableSeconds(*candidate.value);
  }
  const char* ValueWords() const {
    return result_.objective.aim == Objective::Aim::kMemory ? "peak memory" : "time from run to run";
  }

  // Measured plans none of which another beats in both.
  void Front() {
    if (result_.front.empty()) return;
    Put("<section id=\"front\" aria-labelledby=\"front-h\"><h2 id=\"front-h\">Time against {0}</h2><p "
        "class=\"quiet\">Plans that were measured, but for those that another beats in both. Of those that take at "
        "most "
        "{1} the best one has the least {0}.</p>",
        ValueWords(), ReadableSeconds(result_.objective.Limit(result_.fastest.target_seconds.value_or(0))));
    html_ += TableBegin("", {"method", "fusion"}, {"measured", ValueWords()});
    for (const Candidate& candidate : result_.front) {
      const bool best = candidate.method == result_.best.method && candidate.value == result_.best.value;
      html_ += TableRow({HtmlText(candidate.method), HtmlText(candidate.fusion)},
                        {MeasuredOrFailure(candidate), ValueOf(candidate)}, best ? "best" : "");
    }
    html_ += kTableEnd;
    Put("</section>");
  }

  void Verdict() {
    if (result_.best.value && result_.fastest.value && result_.best.target_seconds) {
      Put("<p class=\"verdict\">{} <small>{}, where the fastest plan has {}; a run takes {} against {}.</small></p>",
          ValueOf(result_.best), ValueWords(), ValueOf(result_.fastest), ReadableSeconds(*result_.best.target_seconds),
          ReadableSeconds(result_.fastest.target_seconds.value_or(0)));
      return;
    }
    if (Rival() < 0 || !result_.best.target_seconds) return;
    const BaselineResult& rival = result_.baselines[static_cast<std::size_t>(Rival())];
    const std::string best = ReadableSeconds(*result_.best.target_seconds);
    if (result_.target_indifferent) {
      Put("<p class=\"verdict even\">{} <small>Every plan that was measured takes the same time: the target makes no "
          "difference between them.</small></p>",
          best);
      return;
    }
    if (rival.candidate.plan == result_.best.plan) {
      Put("<p class=\"verdict even\">{} <small>No plan beat <b>{}</b> on this target; it is the answer.", best,
          HtmlText(rival.name));
      if (result_.challenger && result_.challenger->candidate.target_seconds) {
        const Challenger& challenger = *result_.challenger;
        Put(" The plan of {}, chosen before, takes {}", HtmlText(challenger.candidate.method),
            ReadableSeconds(*challenger.candidate.target_seconds));
        if (challenger.ratio.second > 0)
          Put(": {} to {} times as long, with 95 % confidence", ReadableNumber(challenger.ratio.first, 2),
              ReadableNumber(challenger.ratio.second, 2));
        Put(".");
      }
      Put("</small></p>");
      return;
    }
    const bool timed = rival.ratio.second > 0 && result_.best.times.size() > 1;
    const double ratio = *rival.candidate.target_seconds / *result_.best.target_seconds;
    const bool won = ratio >= kLeastWin && (!timed || rival.ratio.first > 1);
    Put("<p class=\"verdict{}\">{}&times; <small>as fast as <b>{}</b>, the fastest of the usual ways ({} against {}",
        won ? "" : " even", ReadableNumber(ratio, 2), HtmlText(rival.name), best,
        ReadableSeconds(*rival.candidate.target_seconds));
    if (timed)
      Put("; {} to {} with 95 % confidence", ReadableNumber(rival.ratio.first, 2),
          ReadableNumber(rival.ratio.second, 2));
    Put("){}</small></p>", won ? "" : ": no difference that counts");
  }

  void Fact(const std::string& value, const char* what) { Put("<li><b>{}</b><span>{}</span></li>", value, what); }

  void Summary(const std::string& title) {
    Put("<section id=\"summary\" aria-label=\"Summary\"><h1>{}</h1><p class=\"quiet\">{} ops on {} ({} devices), "
        "measured "
        "on {}; seed {}, graph {}</p>",
        title, result_.graph.num_ops(), HtmlText(result_.machine.name), result_.machine.devices.size(),
        HtmlText(result_.target), result_.seed, HtmlText(result_.graph_hash));
    Verdict();
    Put("<ul class=\"facts\">");
    Fact(HtmlText(result_.best.method + ", fusion " + result_.best.fusion), "made the best plan");
    Fact(fmt::format("{} of {}", result_.candidates.size(), result_.proposed), "proposed plans were measured");
    const ProxyJudgement& proxy = result_.proxy_judgement;
    if (proxy.rank_correlation)
      Fact(fmt::format("{:.2f}", *proxy.rank_correlation), "rank correlation, predicted to measured");
    if (proxy.told_apart)
      Fact(fmt::format("{:.2f}", *proxy.told_apart), "the same of pairs that the measurements tell apart");
    if (proxy.median_error) Fact(ReadableNumber(100 * *proxy.median_error, 0) + " %", "median error of the prediction");
    Fact("at most " + ReadableNumber(100 * Gap(result_.best.proxy_seconds, result_.proven_bound_seconds), 1) + " %",
         "predicted above the best possible");
    Fact(ReadableSeconds(result_.planning_seconds), "planning took");
    if (result_.pays_back_after_runs)
      Fact(ReadableNumber(*result_.pays_back_after_runs, 0) + " runs", "until planning has paid back");
    Put("</ul>");
    for (const std::string& warning : result_.warnings) Put("<p class=\"warning\">{}</p>", HtmlText(warning));
    if (result_.disturbed)
      Put("<p class=\"warning\">Other processes used these processors while the final comparison ran; take its times "
          "with care.</p>");
    Compared();
    Put("</section>");
  }

  void Compared() {
    Put("<h2>The best plan and the usual ways, measured in turn after the choice</h2>");
    html_ += TableBegin("", {"plan", "what it is"},
                        {"measured", "fastest", "runs", "time / best, 95 %", "predicted", "cannot be less than"});
    const auto row = [this](const std::string& name, const std::string& meaning, const Candidate& candidate,
                            const std::string& ratio, const PlanAccount& account) {
      html_ +=
          TableRow({HtmlText(name), HtmlText(meaning)},
                   {MeasuredOrFailure(candidate), LeastOrDash(candidate.times), std::to_string(candidate.times.size()),
                    ratio, ReadableSeconds(candidate.proxy_seconds), ReadableSeconds(account.lower_bound_seconds)},
                   name == "best" ? "best" : "");
    };
    const auto interval = [this](const std::pair<double, double>& ratio) {
      if (ratio.second <= 0 || result_.target_indifferent) return std::string("-");
      const std::string low = ReadableNumber(ratio.first, 2), high = ReadableNumber(ratio.second, 2);
      return low == high ? low : low + " to " + high;
    };
    row("best", result_.best.method, result_.best, "1", accounts_[0]);
    for (std::size_t i = 0; i < result_.baselines.size(); ++i) {
      const BaselineResult& baseline = result_.baselines[i];
      row(baseline.name, baseline.meaning + (baseline.keeps ? "" : "; breaks the pins"), baseline.candidate,
          interval(baseline.ratio), accounts_[i + 1]);
    }
    if (result_.challenger) {
      const Candidate& candidate = result_.challenger->candidate;
      row("challenger", "chosen before all were measured again: " + candidate.method, candidate,
          interval(result_.challenger->ratio), accounts_[result_.baselines.size() + 1]);
    }
    html_ += kTableEnd;
  }

  void Candidates() {
    Put("<section id=\"candidates\" aria-labelledby=\"candidates-h\"><h2 id=\"candidates-h\">Candidates: predicted "
        "against measured</h2><p class=\"quiet\">Each dot is a plan that was measured. On the dashed line a plan takes "
        "what "
        "was predicted. The best plan is the large dot.</p><div class=\"two\"><div class=\"card\">{}</div>",
        ScatterSvg(result_.candidates, result_.best));
    html_ += TableBegin("", {"method", "fusion"}, {"predicted", "measured", "runs"});
    std::size_t listed = 0;
    for (const Candidate& candidate : result_.candidates) {
      if (listed++ == kCandidatesListed) break;
      html_ += TableRow({HtmlText(candidate.method), HtmlText(candidate.fusion)},
                        {ReadableSeconds(candidate.proxy_seconds), MeasuredOrFailure(candidate),
                         std::to_string(candidate.times.size())},
                        candidate.plan == result_.best.plan ? "best" : "");
    }
    html_ += kTableEnd;
    Put("</div></section>");
  }

  void Types() {
    const PlanAccount& best = accounts_[0];
    double total = 0;
    for (const TypeShare& share : best.types) total += share.seconds;
    Put("<section id=\"types\" aria-labelledby=\"types-h\"><h2 id=\"types-h\">What the best plan's time is spent "
        "on</h2>");
    html_ += TableBegin("", {"ops", ""}, {"groups", "device time", "share"});
    for (std::size_t i = 0; i < std::min(best.types.size(), kTypesListed); ++i) {
      const TypeShare& share = best.types[i];
      const double part = total > 0 ? share.seconds / total : 0;
      const std::string colour = colours_.ClassOf(share.main);
      html_ +=
          TableRow({fmt::format("<span class=\"key {}\"></span>{}", colour, HtmlText(share.type)),
                    fmt::format("<span class=\"share {}\" style=\"width:{:.1f}%\"></span>", colour, 100 * part)},
                   {std::to_string(share.groups), ReadableSeconds(share.seconds), fmt::format("{:.1f} %", 100 * part)});
    }
    html_ += kTableEnd;
    if (best.types.size() > kTypesListed)
      Put("<p class=\"quiet\">And {} more kinds of groups.</p>", best.types.size() - kTypesListed);
    Put("</section>");
  }

  void Groups() {
    const PlanAccount& best = accounts_[0];
    const Plan& plan = best.candidate->plan;
    Put("<section id=\"groups\" aria-labelledby=\"groups-h\"><h2 id=\"groups-h\">The groups of the best plan, in "
        "order</h2><input id=\"filter\" type=\"search\" placeholder=\"Filter by op, type or device\" "
        "aria-label=\"Filter "
        "groups\"><span id=\"found\" class=\"quiet\" role=\"status\">{}</span>",
        plan.sequence.size() > kGroupsListed
            ? fmt::format("The first {} of {}; plan.json has all.", kGroupsListed, plan.sequence.size())
            : "");
    html_ += TableBegin("", {"group", "ops", "types", "device"}, {"start", "time"});
    for (std::size_t i = 0; i < std::min(plan.sequence.size(), kGroupsListed); ++i) {
      const auto group = static_cast<std::size_t>(plan.sequence[i]);
      std::string names;
      for (const OpId op : plan.groups[group]) names += (names.empty() ? "" : ", ") + result_.graph.op(op).name;
      html_ += TableRow({std::to_string(group), HtmlText(names), HtmlText(TypesOf(result_.graph, plan.groups[group])),
                         HtmlText(result_.machine.devices[static_cast<std::size_t>(plan.placement[group])].name)},
                        {ReadableSeconds(best.timeline.start[group]),
                         ReadableSeconds(best.timeline.finish[group] - best.timeline.start[group])});
    }
    html_ += kTableEnd;
    Put("</section>");
  }

  void Words() {
    html_ += WordsHtml(
        {{"plan", "which op runs where, in which order, fused with which others"},
         {"group", "one op, or several fused into one: what runs as a whole on one device"},
         {"predicted", "by the cost model (the proxy), from the graph and the machine file, without running anything"},
         {"measured", fmt::format("on the target, {}: the median of its runs", HtmlText(result_.target))},
         {"the usual ways", "what one gets without planning; baselines/ has their plans"},
         {"challenger", "the plan that was chosen, where a usual way turned out faster when both were measured again"},
         {"critical path",
          "the chain of ops and transfers, each waiting for the one before, that the whole time goes to"},
         {"cannot be less than", "no plan with these groups is predicted to take less (a lower bound)"},
         {"rank correlation",
          "1: prediction and measurement put the plans in the same order; 0: neither knows of the "
          "other"}});
    Put("<p class=\"quiet\">timeline.trace.json has the same timelines for Perfetto.</p>");
  }

  const OptimizeResult& result_;
  std::vector<PlanAccount> accounts_;
  TypeColours colours_;
  std::string html_;
};

}  // namespace

std::string ReportHtml(const OptimizeResult& result) { return ReportHtml(result, AccountsOf(result)); }

std::string ReportHtml(const OptimizeResult& result, std::vector<PlanAccount> accounts) {
  return Page(result, std::move(accounts)).Write();
}

}  // namespace millrace

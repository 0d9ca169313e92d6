// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "millrace/report/axis.h"
#include "millrace/report/html_text.h"
#include "millrace/report/readable.h"
#include "millrace/report/unit_names.h"

namespace millrace {
namespace {

constexpr double kLaneWidth = 1000;
constexpr std::size_t kGroupsOneByOne = 400;
constexpr std::size_t kStretches = 3200;  // of all lanes of a plan together
constexpr std::size_t kMostStretches = 500;

class Lanes {
 public:
  Lanes(const ComputationGraph& graph, const Machine& machine, const TypeColours& colours, double seconds)
      : graph_(graph),
        machine_(machine),
        topology_(MakeTopology(machine)),
        names_(UnitNames(machine, topology_)),
        colours_(colours),
        seconds_(seconds) {}

  void AddPlan(const PlanAccount& account) {
    Put("<div class=\"gantt-plan\" data-plan=\"{0}\"><h3>{0} <span class=\"quiet\">{1}{2}, {3}</span></h3>",
        HtmlText(account.name), HtmlText(MethodBeside(account)), ReadableSeconds(account.timeline.makespan),
        HtmlText(account.shown));
    const std::vector<std::vector<int>> rows = GroupsByUnit(account);
    const bool one_by_one = account.candidate->plan.groups.size() <= kGroupsOneByOne;
    for (std::size_t unit = 0; unit < rows.size(); ++unit) {
      const double makespan = account.timeline.makespan;
      const double busy = makespan > 0 ? 100 * account.units[unit].computing / makespan : 0;
      Put("<div class=\"row\"><span class=\"unit\" title=\"{0}\">{0}</span><span class=\"busy\">{1:.0f} %</span><svg "
          "class=\"lane\" viewBox=\"0 0 1000 20\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{0}: busy "
          "{1:.0f} % of the time\">",
          HtmlText(names_[unit]), busy);
      one_by_one ? AddBars(account, rows[unit]) : AddStretches(account, rows[unit]);
      html_ += "</svg></div>";
    }
    html_ += "<div class=\"ticks\" aria-hidden=\"true\">";
    for (const double tick : AxisTicks(0, seconds_, 5))
      Put("<span style=\"left:{:.2f}%\">{}</span>", X(tick) / kLaneWidth * 100, RoundSeconds(tick));
    html_ += "</div></div>";
  }

  std::string Finish() { return std::move(html_); }

 private:
  template <typename... Arguments>
  void Put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(html_), format, std::forward<Arguments>(arguments)...);
  }

  double X(double at) const { return seconds_ > 0 ? at / seconds_ * kLaneWidth : 0; }

  std::vector<std::vector<int>> GroupsByUnit(const PlanAccount& account) const {
    std::vector<std::vector<int>> rows(static_cast<std::size_t>(topology_.num_units));
    const Plan& plan = account.candidate->plan;
    for (const int group : plan.sequence) {
      const auto device = static_cast<std::size_t>(plan.placement[static_cast<std::size_t>(group)]);
      for (std::int32_t u = topology_.device_offsets[device]; u < topology_.device_offsets[device + 1]; ++u)
        rows[static_cast<std::size_t>(topology_.device_units[static_cast<std::size_t>(u)])].push_back(group);
    }
    return rows;
  }

  void AddBars(const PlanAccount& account, const std::vector<int>& row) {
    const Plan& plan = account.candidate->plan;
    for (const int number : row) {
      const auto group = static_cast<std::size_t>(number);
      const std::vector<OpId>& ops = plan.groups[group];
      const double start = account.timeline.start[group], finish = account.timeline.finish[group];
      Put("<rect class=\"bar {}\" x=\"{:.2f}\" y=\"0\" width=\"{:.2f}\" height=\"20\"><title>{}\n{}\non {}, {} from {} "
          "to {}</title></rect>",
          colours_.ClassOf(MainTypeOf(graph_, ops)), X(start), X(finish) - X(start), HtmlText(TypesOf(graph_, ops)),
          HtmlText(graph_.op(ops.front()).name, 80),
          HtmlText(machine_.devices[static_cast<std::size_t>(plan.placement[group])].name, 80),
          ReadableSeconds(finish - start), ReadableSeconds(start), ReadableSeconds(finish));
    }
  }

  // The colour that took most of the time, stretch by stretch.
  void AddStretches(const PlanAccount& account, const std::vector<int>& row) {
    const std::size_t count = std::clamp(kStretches / names_.size(), std::size_t{40}, kMostStretches);
    if (seconds_ <= 0) return;
    std::vector<std::array<double, kTypeColours + 1>> busy(count);
    const double width = seconds_ / static_cast<double>(count);
    for (const int number : row) {
      const auto group = static_cast<std::size_t>(number);
      const double start = account.timeline.start[group], finish = account.timeline.finish[group];
      const std::size_t colour = colours_.Of(MainTypeOf(graph_, account.candidate->plan.groups[group]));
      for (auto s = static_cast<std::size_t>(start / width); s < count && static_cast<double>(s) * width < finish;
           ++s) {
        const double from = std::max(start, static_cast<double>(s) * width);
        const double to = std::min(finish, static_cast<double>(s + 1) * width);
        busy[s][colour] += std::max(0.0, to - from);
      }
    }
    constexpr double kSeen = 0.02;  // of a stretch
    std::array<std::string, kTypeColours + 1> paths;
    for (std::size_t s = 0, end = 0; s < count; s = end) {
      const std::size_t colour = MostOf(busy[s]);
      end = s + 1;
      if (busy[s][colour] < kSeen * width) continue;
      while (end < count && MostOf(busy[end]) == colour && busy[end][colour] >= kSeen * width) ++end;
      const double x = kLaneWidth * static_cast<double>(s) / static_cast<double>(count);
      const double w = kLaneWidth * static_cast<double>(end - s) / static_cast<double>(count);
      paths[colour] += fmt::format("M{:.0f} 0h{:.0f}v20h-{:.0f}z", x, w, w);
    }
    for (std::size_t colour = 0; colour < paths.size(); ++colour) {
      if (!paths[colour].empty()) Put("<path class=\"t{}\" d=\"{}\"/>", colour, paths[colour]);
    }
  }

  static std::size_t MostOf(const std::array<double, kTypeColours + 1>& busy) {
    return static_cast<std::size_t>(std::max_element(busy.begin(), busy.end()) - busy.begin());
  }

  const ComputationGraph& graph_;
  const Machine& machine_;
  Topology topology_;
  std::vector<std::string> names_;
  const TypeColours& colours_;
  double seconds_;  // at the right edge
  std::string html_;
};

}  // namespace

std::string LanesHtml(const ComputationGraph& graph, const Machine& machine, const std::vector<PlanAccount>& accounts,
                      const TypeColours& colours) {
  double longest = 0;
  for (const PlanAccount& account : accounts) longest = std::max(longest, account.timeline.makespan);
  Lanes lanes(graph, machine, colours, longest);
  for (const PlanAccount& account : accounts) lanes.AddPlan(account);
  return lanes.Finish();
}

std::string LegendHtml(const TypeColours& colours) {
  std::string html = "<ul class=\"legend\" aria-label=\"Colours of op types\">";
  for (const std::string& type : colours.types())
    html += fmt::format("<li><span class=\"key {}\"></span>{}</li>", colours.ClassOf(type), HtmlText(type, 60));
  if (colours.some_have_none()) html += fmt::format("<li><span class=\"key t{}\"></span>other ops</li>", kTypeColours);
  return html + "</ul>";
}

}  // namespace millrace

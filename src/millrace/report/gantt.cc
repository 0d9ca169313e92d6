// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "millrace/errors/shown.h"
#include "millrace/report/readable.h"

namespace millrace {
namespace {

constexpr double kNamesWidth = 118;  // for the names of units
constexpr double kGanttWidth = 1180;
constexpr double kRow = 24;
constexpr double kBar = 20;
constexpr double kTitle = 26;
constexpr double kPlanGap = 14;
constexpr double kAxis = 24;
constexpr double kNarrow = 0.35;  // pixels below which bars are drawn together
constexpr std::size_t kTypesWithColour = 8;

struct Scale {
  double seconds;  // at the right edge
  double X(double at) const { return kNamesWidth + (seconds > 0 ? at / seconds : 0) * (kGanttWidth - kNamesWidth - 8); }
};

// Names of the units: the single-unit device that owns it, else its number.
std::vector<std::string> UnitNames(const Machine& machine, const Topology& topology) {
  std::vector<std::string> names(static_cast<std::size_t>(topology.num_units));
  for (std::size_t unit = 0; unit < names.size(); ++unit) names[unit] = fmt::format("unit {}", unit);
  for (std::size_t device = 0; device < machine.devices.size(); ++device) {
    if (topology.UnitsOf(static_cast<int>(device)) != 1) continue;
    names[static_cast<std::size_t>(topology.device_units[static_cast<std::size_t>(topology.device_offsets[device])])] =
        machine.devices[device].name;
  }
  return names;
}

class Chart {
 public:
  Chart(const ComputationGraph& graph, const Machine& machine, const std::map<std::string, std::string>& colours,
        Scale scale)
      : graph_(graph), machine_(machine), topology_(MakeTopology(machine)), colours_(colours), scale_(scale) {}

  void AddPlan(const PlanAccount& account) {
    fmt::format_to(out(), "<g class=\"gantt-plan\" data-plan=\"{}\">", HtmlText(account.name));
    fmt::format_to(
        out(), "<text class=\"plan-name\" x=\"0\" y=\"{}\">{} <tspan class=\"quiet\">{}, {} {}</tspan></text>", y_ + 17,
        HtmlText(account.name), HtmlText(account.candidate->method), ReadableSeconds(account.timeline.makespan),
        account.proxy == Proxy::kContended ? "under contention" : "by the proxy");
    y_ += kTitle;
    const std::vector<std::string> names = UnitNames(machine_, topology_);
    for (std::size_t unit = 0; unit < names.size(); ++unit) AddRow(account, static_cast<int>(unit), names[unit]);
    svg_ += "</g>";
    y_ += kPlanGap;
  }

  std::string Finish() {
    std::string axis;
    for (const double tick : AxisTicks(0, scale_.seconds, 8)) {
      const double x = scale_.X(tick);
      axis += fmt::format(
          "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"0\" x2=\"{0:.1f}\" y2=\"{1}\"/><text class=\"tick\" x=\"{0:.1f}\" "
          "y=\"{2}\">{3}</text>",
          x, y_, y_ + 16, RoundSeconds(tick));
    }
    return fmt::format(
        "<svg class=\"gantt\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"Timelines "
        "of the plans\">{2}{3}</svg>",
        kGanttWidth, y_ + kAxis, axis, svg_);
  }

 private:
  std::back_insert_iterator<std::string> out() { return std::back_inserter(svg_); }

  bool Occupies(int device, int unit) const {
    const auto begin = topology_.device_units.begin() + topology_.device_offsets[static_cast<std::size_t>(device)];
    return std::find(begin, begin + topology_.UnitsOf(device), unit) != begin + topology_.UnitsOf(device);
  }

  void AddRow(const PlanAccount& account, int unit, const std::string& name) {
    const double busy = account.timeline.makespan > 0
                            ? account.unit_busy[static_cast<std::size_t>(unit)] / account.timeline.makespan
                            : 0;
    fmt::format_to(out(),
                   "<text class=\"unit\" x=\"{}\" y=\"{}\">{} {:.0f}%</text><rect class=\"row\" x=\"{}\" y=\"{}\" "
                   "width=\"{}\" height=\"{}\"/>",
                   kNamesWidth - 8, y_ + 15, HtmlText(name), 100 * busy, kNamesWidth, y_, kGanttWidth - kNamesWidth - 8,
                   kBar);
    const Plan& plan = account.candidate->plan;
    double crowd_start = -1, crowd_end = -1;
    int crowd = 0;
    const auto flush = [&] {
      if (crowd == 0) return;
      fmt::format_to(out(),
                     "<rect class=\"bar many\" x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"><title>{} short "
                     "groups, too narrow to show one by one</title></rect>",
                     crowd_start, y_, std::max(crowd_end - crowd_start, kNarrow), kBar, crowd);
      crowd = 0;
    };
    for (const int group : plan.sequence) {
      const int device = plan.placement[static_cast<std::size_t>(group)];
      if (!Occupies(device, unit)) continue;
      const double x = scale_.X(account.timeline.start[static_cast<std::size_t>(group)]);
      const double end = scale_.X(account.timeline.finish[static_cast<std::size_t>(group)]);
      if (end - x < kNarrow) {
        if (crowd > 0 && x - crowd_end > 1) flush();
        if (crowd++ == 0) crowd_start = x;
        crowd_end = std::max(x, end);
        continue;
      }
      flush();
      AddBar(account, group, device, x, end);
    }
    flush();
    y_ += kRow;
  }

  void AddBar(const PlanAccount& account, int group, int device, double x, double end) {
    const std::vector<OpId>& ops = account.candidate->plan.groups[static_cast<std::size_t>(group)];
    const std::string types = TypesOf(graph_, ops);
    const auto colour = colours_.find(types);
    const double start = account.timeline.start[static_cast<std::size_t>(group)];
    const double finish = account.timeline.finish[static_cast<std::size_t>(group)];
    const bool gang = topology_.UnitsOf(device) > 1;
    fmt::format_to(out(),
                   "<rect class=\"bar {}{}\" x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"><title>{}\n{}\non "
                   "{}, {} from {} to {}</title></rect>",
                   colour == colours_.end() ? "t8" : colour->second, gang ? " gang" : "", x, y_, end - x, kBar,
                   HtmlText(types), HtmlText(graph_.op(ops.front()).name),
                   HtmlText(machine_.devices[static_cast<std::size_t>(device)].name), ReadableSeconds(finish - start),
                   ReadableSeconds(start), ReadableSeconds(finish));
    const double room = (end - x) / 6.2;
    if (room > static_cast<double>(types.size())) {
      fmt::format_to(out(), "<text class=\"inbar\" x=\"{:.2f}\" y=\"{}\">{}</text>", x + 4, y_ + 14, HtmlText(types));
    }
  }

  const ComputationGraph& graph_;
  const Machine& machine_;
  Topology topology_;
  const std::map<std::string, std::string>& colours_;
  Scale scale_;
  std::string svg_;
  double y_ = 0;
};

}  // namespace

std::map<std::string, std::string> ColourClasses(const std::vector<PlanAccount>& accounts) {
  std::map<std::string, double> seconds;
  for (const PlanAccount& account : accounts) {
    for (const TypeShare& share : account.types) seconds[share.type] += share.seconds;
  }
  std::vector<std::pair<double, std::string>> order;
  order.reserve(seconds.size());
  for (const auto& [type, total] : seconds) order.emplace_back(-total, type);
  std::sort(order.begin(), order.end());
  std::map<std::string, std::string> classes;
  for (std::size_t i = 0; i < order.size(); ++i)
    classes[order[i].second] = fmt::format("t{}", std::min(i, kTypesWithColour));
  return classes;
}

std::string GanttSvg(const ComputationGraph& graph, const Machine& machine, const std::vector<PlanAccount>& accounts,
                     const std::map<std::string, std::string>& colours) {
  double longest = 0;
  for (const PlanAccount& account : accounts) longest = std::max(longest, account.timeline.makespan);
  Chart chart(graph, machine, colours, Scale{longest});
  for (const PlanAccount& account : accounts) chart.AddPlan(account);
  return chart.Finish();
}

std::string HtmlText(const std::string& text) {
  std::string safe;
  for (const char c : Escaped(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::vector<double> AxisTicks(double low, double high, int wanted) {
  if (!(high > low)) return {low};
  const double rough = (high - low) / wanted;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double nice : {5.0, 2.0, 1.0}) {
    if (nice * power >= rough) step = nice * power;
  }
  std::vector<double> ticks;
  for (double tick = std::ceil(low / step); tick * step <= high * (1 + 1e-9); ++tick) ticks.push_back(tick * step);
  return ticks;
}

}  // namespace millrace

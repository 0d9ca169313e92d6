// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "millrace/report/html_text.h"
#include "millrace/report/lanes.h"
#include "millrace/report/readable.h"
#include "millrace/report/style.h"
#include "millrace/report/timeline_data.h"
#include "millrace/report/unit_names.h"
#include "millrace/report/view_script.h"

namespace millrace {
namespace {

struct Part {
  const char* css;
  const char* name;
  double UnitTime::*seconds;
};
constexpr Part kParts[] = {{"computing", "computing", &UnitTime::computing},
                           {"transfers", "waiting for transfers", &UnitTime::for_transfers},
                           {"results", "waiting for results of others", &UnitTime::for_results},
                           {"idle", "nothing to do", &UnitTime::idle}};

std::string UnitBar(const std::string& name, const UnitTime& time, double makespan, double longest) {
  std::string spoken, bar;
  for (const Part& part : kParts) {
    const double seconds = time.*part.seconds;
    if (seconds <= 0 || longest <= 0) continue;
    spoken += fmt::format("{}{} {:.0f} %", spoken.empty() ? "" : ", ", part.name, 100 * seconds / makespan);
    bar += fmt::format("<span class=\"{}\" style=\"width:{:.2f}%\" title=\"{} {}\"></span>", part.css,
                       100 * seconds / longest, part.name, ReadableSeconds(seconds));
  }
  return fmt::format(
      "<div class=\"row\"><span class=\"unit\" title=\"{0}\">{0}</span><span class=\"busy\">{1:.0f} %</span><span "
      "class=\"parts\" role=\"img\" aria-label=\"{0}: {2}\">{3}</span></div>",
      HtmlText(name), makespan > 0 ? 100 * time.computing / makespan : 0.0, spoken, bar);
}

std::string AccountTitle(const PlanAccount& account) {
  return fmt::format("{} <span class=\"quiet\">{}{}</span>", HtmlText(account.name), HtmlText(MethodBeside(account)),
                     HtmlText(account.shown));
}

std::string UnitsHtml(const Machine& machine, const PlanAccount& account, double longest) {
  const std::vector<std::string> names = UnitNames(machine, account.costed->topology);
  const double makespan = account.timeline.makespan;
  std::string html = "<h3>" + AccountTitle(account) + "</h3>";
  for (std::size_t unit = 0; unit < names.size(); ++unit)
    html += UnitBar(names[unit], account.units[unit], makespan, longest);
  std::vector<std::string> columns;
  for (const Part& part : kParts) columns.emplace_back(part.name);
  html += "<details><summary>The same in numbers</summary>" + TableBegin("", {"unit"}, columns);
  for (std::size_t unit = 0; unit < names.size(); ++unit) {
    std::vector<std::string> numbers;
    for (const Part& part : kParts) {
      const double seconds = account.units[unit].*part.seconds;
      numbers.push_back(
          fmt::format("{} ({:.0f} %)", ReadableSeconds(seconds), makespan > 0 ? 100 * seconds / makespan : 0.0));
    }
    html += TableRow({HtmlText(names[unit])}, numbers);
  }
  return html + kTableEnd + "</details>";
}

std::string PlacedHtml(const Machine& machine, const PlanAccount& account) {
  const Topology& topology = account.costed->topology;
  std::string html = TableBegin(account.name + ": what is on which device", {"device", "kind"},
                                {"groups", "busy", "of the time", "received", "peak memory", "memory size"});
  for (std::size_t d = 0; d < machine.devices.size(); ++d) {
    const Device& device = machine.devices[d];
    const auto memory = static_cast<std::size_t>(topology.memory_of[d]);
    const double makespan = account.timeline.makespan;
    html += TableRow({HtmlText(device.name), HtmlText(device.kind)},
                     {std::to_string(account.device_groups[d]), ReadableSeconds(account.device_busy[d]),
                      fmt::format("{:.0f} %", makespan > 0 ? 100 * account.device_busy[d] / makespan : 0.0),
                      ReadableBytes(account.received_bytes[memory]), ReadableBytes(account.peak_memory[memory]),
                      device.memory_bytes ? ReadableBytes(*device.memory_bytes) : "any"});
  }
  return html + kTableEnd;
}

}  // namespace

std::string PageBegin(const std::string& title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><meta name=\"color-scheme\" content=\"light "
      "dark\"><title>Millrace: "
      "{}</title><style>{}</style></head><body><a class=\"skip\" href=\"#main\">To the content</a><main id=\"main\">",
      HtmlText(title), kReportStyle);
}

std::string PageEnd() {
  return fmt::format("</main><script>{}{}{}</script></body></html>\n", kViewDataScript, kViewDrawingScript,
                     kViewToolsScript);
}

std::string TimelinesHtml(const std::string& heading, const ComputationGraph& graph, const Machine& machine,
                          const std::vector<PlanAccount>& accounts, const TypeColours& colours, int first, int second) {
  std::string html = fmt::format(
      "<section id=\"timelines\" aria-labelledby=\"timelines-h\"><h2 id=\"timelines-h\">{}</h2><p class=\"quiet\">Time "
      "runs from left to right. Each row is a unit (a core, a GPU), each bar an op, or several ops fused into one "
      "group, "
      "in the colour of its main type.<span class=\"scripted\" hidden> Click a bar for its details. Drag to move, Ctrl "
      "and the wheel or the buttons to zoom; with the keyboard: arrow keys go from bar to bar, + and - zoom.</span></p>"
      "<div class=\"card\" id=\"view\" data-first=\"{}\" data-second=\"{}\"><div class=\"tools scripted\" "
      "role=\"toolbar\" aria-label=\"What the timelines show\" hidden></div><div id=\"plans\">{}</div>{}<div "
      "id=\"details\" class=\"scripted\" role=\"status\" aria-live=\"polite\" hidden></div></div></section>",
      heading, first, second, LanesHtml(graph, machine, accounts, colours), LegendHtml(colours));
  return html + TimelineDataHtml(graph, machine, accounts, colours, kMostDataBytes);
}

std::string DevicesHtml(const Machine& machine, const std::vector<const PlanAccount*>& accounts) {
  double longest = 0;
  for (const PlanAccount* account : accounts) longest = std::max(longest, account->timeline.makespan);
  std::string html =
      "<section id=\"devices\" aria-labelledby=\"devices-h\"><h2 id=\"devices-h\">Where each unit's time goes</h2><div "
      "class=\"card\"><ul class=\"legend\">";
  for (const Part& part : kParts) html += fmt::format("<li><span class=\"key {}\"></span>{}</li>", part.css, part.name);
  html += "</ul>";
  for (const PlanAccount* account : accounts) html += UnitsHtml(machine, *account, longest);
  html += "</div>";
  for (const PlanAccount* account : accounts)
    html += "<h3>" + AccountTitle(*account) + "</h3>" + PlacedHtml(machine, *account);
  return html + "</section>";
}

std::string TableRow(const std::vector<std::string>& texts, const std::vector<std::string>& numbers,
                     const char* row_class) {
  std::string html = *row_class == '\0' ? "<tr>" : fmt::format("<tr class=\"{}\">", row_class);
  for (std::size_t i = 0; i < texts.size(); ++i)
    html += i == 0 ? "<th scope=\"row\">" + texts[i] + "</th>" : "<td class=\"text\">" + texts[i] + "</td>";
  for (const std::string& number : numbers) html += "<td>" + number + "</td>";
  return html + "</tr>";
}

std::string TableBegin(const std::string& caption, const std::vector<std::string>& texts,
                       const std::vector<std::string>& numbers) {
  std::string html = "<div class=\"card scroll\" tabindex=\"0\"><table>";
  if (!caption.empty()) html += "<caption>" + HtmlText(caption) + "</caption>";
  html += "<thead><tr>";
  for (const std::string& text : texts) html += "<th scope=\"col\" class=\"text\">" + text + "</th>";
  for (const std::string& number : numbers) html += "<th scope=\"col\">" + number + "</th>";
  return html + "</tr></thead><tbody>";
}

std::string WordsHtml(const std::vector<std::pair<std::string, std::string>>& words) {
  std::string html = "<section id=\"words\" aria-labelledby=\"words-h\"><h2 id=\"words-h\">Words on this page</h2><dl>";
  for (const auto& [word, meaning] : words) html += fmt::format("<dt>{}</dt><dd>{}</dd>", word, meaning);
  return html + "</dl></section>";
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/compare_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "millrace/report/account.h"
#include "millrace/report/html_text.h"
#include "millrace/report/page.h"
#include "millrace/report/readable.h"
#include "millrace/report/type_colours.h"

namespace millrace {
namespace {

constexpr std::size_t kMovesListed = 200;

class ComparePage {
 public:
  explicit ComparePage(const PlansToCompare& plans) : plans_(plans) {
    accounts_.push_back(AccountOf("plan", plans.plan, plans.graph, plans.machine, plans.proxy));
    accounts_.push_back(AccountOf("with", plans.with, plans.graph, plans.machine, plans.proxy));
  }

  std::string Write() {
    const std::string graph = plans_.graph.name().empty() ? "graph" : plans_.graph.name();
    std::string html = PageBegin("two plans of " + graph) + Summary(HtmlText(graph));
    html += TimelinesHtml("Timelines of both", plans_.graph, plans_.machine, accounts_, TypeColours(accounts_), 0, 1);
    html += Moves();
    html += DevicesHtml(plans_.machine, {&accounts_[0], &accounts_[1]});
    html += WordsHtml(
        {{"group", "one op, or several fused into one: what runs as a whole on one device"},
         {"critical path",
          "the chain of ops and transfers, each waiting for the one before, that the whole time goes to"},
         {"put back", "the second plan with these ops on the device where the first has them, its order kept"}});
    return html + PageEnd();
  }

 private:
  double Makespan(std::size_t account) const { return accounts_[account].timeline.makespan; }

  std::string Verdict() const {
    const double a = Makespan(0), b = Makespan(1);
    if (a == b)
      return fmt::format("<p class=\"verdict even\">{} <small>Both plans take the same time.</small></p>",
                         ReadableSeconds(a));
    return fmt::format("<p class=\"verdict\">{} % <small>faster is the {} plan: {} against {}</small></p>",
                       ReadableNumber(100 * (1 - std::min(a, b) / std::max(a, b)), 2), b < a ? "second" : "first",
                       ReadableSeconds(std::min(a, b)), ReadableSeconds(std::max(a, b)));
  }

  std::string Summary(const std::string& graph) const {
    std::string html = fmt::format(
        "<section id=\"summary\" aria-label=\"Summary\"><h1>Two plans of {}</h1><p class=\"quiet\">{} ops on {}, {}; "
        "first the plan of {}, with it that of {}</p>{}",
        graph, plans_.graph.num_ops(), HtmlText(plans_.machine.name), HtmlText(accounts_[0].shown),
        HtmlText(plans_.plan.method), HtmlText(plans_.with.method), Verdict());
    html += TableBegin("", {""}, {"plan", "with"});
    const auto row = [&](const std::string& name, const auto& value) {
      html += TableRow({HtmlText(name)}, {value(accounts_[0]), value(accounts_[1])});
    };
    row("takes", [](const PlanAccount& account) { return ReadableSeconds(account.timeline.makespan); });
    row("groups", [](const PlanAccount& account) { return std::to_string(account.costed->num_groups); });
    row("critical path: computing", [](const PlanAccount& account) {
      const std::vector<double>& busy = account.explanation.path_busy;
      return ReadableSeconds(std::accumulate(busy.begin(), busy.end(), 0.0));
    });
    row("critical path: transfers",
        [](const PlanAccount& account) { return ReadableSeconds(account.explanation.path_transfers); });
    row("critical path: behind other transfers",
        [](const PlanAccount& account) { return ReadableSeconds(account.explanation.path_queues); });
    row("sent from memory to memory",
        [](const PlanAccount& account) { return ReadableBytes(account.explanation.transferred_bytes); });
    return html + kTableEnd + "</section>";
  }

  std::string Moves() const {
    const PlanDifference& difference = plans_.difference;
    std::string html = fmt::format(
        "<section id=\"moves\" aria-labelledby=\"moves-h\"><h2 id=\"moves-h\">What moved, and what it is "
        "worth</h2><p>{} "
        "of {} ops are on another device, {} are fused with other ops. A move that costs time when it is put back is "
        "worth "
        "making.</p>",
        difference.moved_ops, plans_.graph.num_ops(), difference.regrouped_ops);
    if (difference.moved.empty()) return html + "</section>";
    html += TableBegin("", {"ops", "from", "to"},
                       {"takes where it was", "takes where it is", "put back, the second plan takes", "change"});
    for (std::size_t m = 0; m < std::min(kMovesListed, difference.moved.size()); ++m) html += Move(difference.moved[m]);
    html += kTableEnd;
    if (difference.moved.size() > kMovesListed)
      html += fmt::format("<p class=\"quiet\">And {} more; compare --json has them all.</p>",
                          difference.moved.size() - kMovesListed);
    return html + "</section>";
  }

  std::string Move(const MovedOps& moved) const {
    const auto device = [this](int number) {
      return HtmlText(plans_.machine.devices[static_cast<std::size_t>(number)].name);
    };
    std::string ops = plans_.graph.op(moved.ops.front()).name;
    if (moved.ops.size() > 1)
      ops += fmt::format(" .. {} ({} ops)", plans_.graph.op(moved.ops.back()).name, moved.ops.size());
    std::string back = "-", change = "-";
    if (moved.makespan_if_back) {
      back = ReadableSeconds(*moved.makespan_if_back);
      change = fmt::format("{:+.2f} %", 100 * (*moved.makespan_if_back / Makespan(1) - 1));
    }
    return TableRow({fmt::format("<button type=\"button\" class=\"to\" data-op=\"{}\">{}</button>", moved.ops.front(),
                                 HtmlText(ops)),
                     device(moved.from), device(moved.to)},
                    {ReadableSeconds(moved.seconds_on_from), ReadableSeconds(moved.seconds_on_to), back, change});
  }

  const PlansToCompare& plans_;
  std::vector<PlanAccount> accounts_;
};

}  // namespace

std::string CompareHtml(const PlansToCompare& plans) { return ComparePage(plans).Write(); }

}  // namespace millrace

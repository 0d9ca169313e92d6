// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/targets/proxy_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/engines/simgrid/flow_timeline.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/experiments/summary.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/machine/preset.h"
#include "millrace/simulate/timeline.h"
#include "millrace/target/statistics.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

enum By : std::size_t { kLinear, kContended, kSimGrid };

constexpr int kDevices = 4;
constexpr double kLatency = 1e-3;
constexpr double kBandwidth = 1e9;  // for which random graphs state their CCR

// By ordered pair, the channel; -1: its own.
using ChannelOf = int (*)(int from, int to);

int NoChannel(int /*from*/, int /*to*/) { return -1; }
int OneChannel(int /*from*/, int /*to*/) { return 0; }

// Within a pair of devices a channel each way; between the pairs one for all.
int TreeChannel(int from, int to) { return from / 2 == to / 2 ? 1 + from : 0; }

struct Network {
  const char* name;
  ChannelOf channel;
};
constexpr Network kNetworks[] = {{"pairs", NoChannel}, {"bus", OneChannel}, {"tree", TreeChannel}};

Machine MachineOf(const Network& network) {
  Machine machine = *MachinePreset(fmt::format("homogeneous:{}", kDevices));
  machine.name = network.name;
  for (int from = 0; from < kDevices; ++from) {
    for (int to = 0; to < kDevices; ++to) {
      if (from == to) continue;
      Link link{from, to, kLatency, kBandwidth, std::nullopt};
      if (network.channel(from, to) >= 0) link.channel = network.channel(from, to);
      machine.links.push_back(link);
    }
  }
  return machine;
}

std::vector<Assignment> DrawPlans(const CostedGraph& costed, int plans, Random& random) {
  std::vector<Assignment> drawn;
  for (const auto& [method, samples] : {std::pair{"random", plans / 2}, {"randomised-list", plans - plans / 2}}) {
    Budget budget;
    budget.samples = samples;
    MakeHeuristic(method)->Propose(costed, budget, random,
                                   [&drawn](const ProposedPlan& plan) { drawn.push_back(plan.assignment); });
  }
  return drawn;
}

ProxyAgreement CompareOn(const Network& network, const std::string& family, double ccr,
                         const ProxyAgreementOptions& options) {
  RandomGraphOptions graph_options;
  graph_options.ops = options.ops;
  graph_options.ccr = ccr;
  graph_options.seed = options.seed;
  const ComputationGraph graph = MakeRandomGraph(family, graph_options);
  const Machine machine = MachineOf(network);
  const CostedGraph linear =
      MakeCostedGraph(*MakeAnalyticCostModel(graph, machine, Proxy::kLinear), SingleOpGroups(graph));
  CostedGraph contended = linear;
  contended.topology.proxy = Proxy::kContended;
  Random random(options.seed);
  Simulator by_linear(linear), by_contended(contended);
  ProxyAgreement agreement{network.name, family, ccr, {}};
  for (const Assignment& assignment : DrawPlans(linear, options.plans, random)) {
    StopIfInterrupted();
    agreement.seconds.push_back(
        {by_linear.Makespan(assignment), by_contended.Makespan(assignment), FlowTimeline(linear, assignment).makespan});
  }
  return agreement;
}

std::vector<double> Column(const ProxyAgreement& agreement, By model) {
  std::vector<double> column;
  for (const std::array<double, 3>& seconds : agreement.seconds) column.push_back(seconds[model]);
  return column;
}

double MedianError(const ProxyAgreement& agreement, By model) {
  std::vector<double> errors;
  for (const std::array<double, 3>& seconds : agreement.seconds)
    errors.push_back(std::abs(seconds[model] / seconds[kSimGrid] - 1));
  return Median(errors);
}

// By SimGrid: the plan that the model ranks first, over the best.
double ChoiceOf(const ProxyAgreement& agreement, By model) {
  const auto less = [](By by) {
    return [by](const std::array<double, 3>& a, const std::array<double, 3>& b) { return a[by] < b[by]; };
  };
  const auto& seconds = agreement.seconds;
  return (*std::min_element(seconds.begin(), seconds.end(), less(model)))[kSimGrid] /
         (*std::min_element(seconds.begin(), seconds.end(), less(kSimGrid)))[kSimGrid];
}

}  // namespace

std::vector<ProxyAgreement> CompareProxies(const ProxyAgreementOptions& options,
                                           const std::function<void(int, int)>& progress) {
  if (!HasSimGrid()) throw InvalidInput("there is no SimGrid here; install libsimgrid-dev and build again");
  std::vector<ProxyAgreement> agreements;
  const int total = static_cast<int>(std::size(kNetworks) * options.families.size() * options.ccr.size());
  for (const Network& network : kNetworks) {
    for (const double ccr : options.ccr) {
      for (const std::string& family : options.families) {
        progress(static_cast<int>(agreements.size()), total);
        agreements.push_back(CompareOn(network, family, ccr, options));
      }
    }
  }
  return agreements;
}

std::vector<Table> ProxyAgreementTables(const std::vector<ProxyAgreement>& agreements) {
  Table agreement{"agreement",
                  "",
                  {"network", "CCR", "rank: linear, contended", "rank: linear, SimGrid", "rank: contended, SimGrid",
                   "error of linear", "error of contended"},
                  {}};
  Table choice{"choice", "", {"network", "CCR", "chosen by linear", "chosen by contended"}, {}};
  for (auto first = agreements.begin(); first != agreements.end();) {
    const auto last = std::find_if(first, agreements.end(), [first](const ProxyAgreement& other) {
      return other.machine != first->machine || other.ccr != first->ccr;
    });
    const auto mean = [first, last](const auto& figure) {
      std::vector<double> figures;
      for (auto one = first; one != last; ++one) figures.push_back(figure(*one));
      return Mean(figures);
    };
    const auto rank = [&mean](By a, By b) {
      return Number(mean([a, b](const ProxyAgreement& one) { return RankCorrelation(Column(one, a), Column(one, b)); }),
                    3);
    };
    const auto error = [&mean](By model) {
      return Number(100 * mean([model](const ProxyAgreement& one) { return MedianError(one, model); }), 2);
    };
    const auto chosen = [&mean](By model) {
      return Number(mean([model](const ProxyAgreement& one) { return ChoiceOf(one, model); }), 3);
    };
    const Cell network = Words(first->machine);
    const Cell ccr = Number(first->ccr, 1);
    agreement.rows.push_back({network, ccr, rank(kLinear, kContended), rank(kLinear, kSimGrid),
                              rank(kContended, kSimGrid), error(kLinear), error(kContended)});
    choice.rows.push_back({network, ccr, chosen(kLinear), chosen(kContended)});
    first = last;
  }
  agreement.caption =
      "Spearman's rank correlation of plans by two models; median of |model / SimGrid - 1|, in percent.";
  choice.caption = "What the plan that a model ranks first takes by SimGrid, over the best plan there.";
  return {agreement, choice};
}

}  // namespace millrace

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
#include "millrace/target/measurement.h"
#include "millrace/target/statistics.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

enum By : std::size_t { kLinear, kContended, kFair, kSimGrid, kMeasured };
constexpr const char* kNames[] = {"linear", "contended", "fair", "SimGrid", "measured"};

using Seconds = std::array<double, 5>;  // by By

constexpr int kWarmUp = 1, kRepetitions = 3;

constexpr int kDevices = 4;
constexpr double kLatency = 1e-3;
constexpr double kBandwidth = 1e9;    // for which random graphs state their CCR
constexpr double kMeanSeconds = 0.5;  // of their ops

// By ordered pair, the channel; -1: its own.
using ChannelOf = int (*)(int from, int to);

int NoChannel(int /*from*/, int /*to*/) { return -1; }
int OneChannel(int /*from*/, int /*to*/) { return 0; }

// Within a pair of devices a channel each way; between the pairs one for all.
int TreeChannel(int from, int to) { return from / 2 == to / 2 ? 1 + from : 0; }

// One for what a host sends, and one for what it receives.
int SendingChannel(int from, int /*to*/) { return from; }
int ReceivingChannel(int /*from*/, int to) { return kDevices + to; }

struct Network {
  const char* name;
  ChannelOf channel;
  ChannelOf entry;
};
constexpr Network kNetworks[] = {{"pairs", NoChannel, NoChannel},
                                 {"bus", OneChannel, NoChannel},
                                 {"tree", TreeChannel, NoChannel},
                                 {"hosts", SendingChannel, ReceivingChannel}};

Machine MachineOf(const Network& network) {
  Machine machine = *MachinePreset(fmt::format("homogeneous:{}", kDevices));
  machine.name = network.name;
  for (int from = 0; from < kDevices; ++from) {
    for (int to = 0; to < kDevices; ++to) {
      if (from == to) continue;
      Link link{from, to, kLatency, kBandwidth, std::nullopt};
      if (network.channel(from, to) >= 0) link.channel = network.channel(from, to);
      if (network.entry(from, to) >= 0) link.entry_channel = network.entry(from, to);
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

// Seconds and bytes times these.
ComputationGraph Scaled(GraphData graph, double seconds, double bytes) {
  for (Op& op : graph.ops) {
    if (op.seconds.everywhere) *op.seconds.everywhere *= seconds;
  }
  for (Tensor& tensor : graph.tensors) tensor.bytes *= bytes;
  return ComputationGraph(std::move(graph));
}

ComputationGraph GraphOf(const std::string& family, double ccr, const ProxyAgreementOptions& options) {
  RandomGraphOptions graph_options;
  graph_options.ops = options.ops;
  graph_options.ccr = ccr;
  graph_options.seed = options.seed;
  ComputationGraph graph = MakeRandomGraph(family, graph_options);
  if (options.network == nullptr) return graph;
  double bandwidth = 0;
  for (const Link& link : options.network->machine.links) bandwidth = std::max(bandwidth, link.bandwidth);
  const double shorter = kMeasuredSeconds / kMeanSeconds;
  return Scaled(graph.data(), shorter, shorter * bandwidth / kBandwidth);
}

double Measured(Target& target, const Plan& plan) {
  MeasureOptions options;
  options.warm_up = kWarmUp;
  options.repetitions = kRepetitions;
  const Measurement measured = MeasurePlan(*target.Load(plan), options);
  if (measured.failed) throw WorkFailed("measuring failed: " + measured.error);
  return measured.median;
}

ProxyAgreement CompareOn(const Machine& machine, const std::string& family, double ccr,
                         const ProxyAgreementOptions& options) {
  const ComputationGraph graph = GraphOf(family, ccr, options);
  const auto cost = MakeAnalyticCostModel(graph, machine, Proxy::kLinear);
  const CostedGraph linear = MakeCostedGraph(*cost, SingleOpGroups(graph));
  CostedGraph contended = linear;
  contended.topology.proxy = Proxy::kContended;
  contended.topology.sharing = Sharing::kOneAtATime;
  CostedGraph fair = contended;
  fair.topology.sharing = Sharing::kFair;
  const std::unique_ptr<Target> target = options.network == nullptr ? nullptr : options.network->target(graph, *cost);
  Random random(options.seed);
  Simulator by_linear(linear), by_contended(contended), by_fair(fair);
  ProxyAgreement agreement{machine.name, family, ccr, {}};
  for (const Assignment& assignment : DrawPlans(linear, options.plans, random)) {
    StopIfInterrupted();
    agreement.seconds.push_back(
        {by_linear.Makespan(assignment), by_contended.Makespan(assignment), by_fair.Makespan(assignment),
         FlowTimeline(linear, assignment).makespan,
         target == nullptr ? 0 : Measured(*target, {linear.groups, assignment.placement, assignment.sequence})});
  }
  return agreement;
}

std::vector<double> Column(const ProxyAgreement& agreement, By model) {
  std::vector<double> column;
  for (const Seconds& seconds : agreement.seconds) column.push_back(seconds[model]);
  return column;
}

bool WasMeasured(const ProxyAgreement& agreement) {
  return std::all_of(agreement.seconds.begin(), agreement.seconds.end(),
                     [](const Seconds& seconds) { return seconds[kMeasured] > 0; });
}

By TruthOf(const ProxyAgreement& agreement) { return WasMeasured(agreement) ? kMeasured : kSimGrid; }

double MedianError(const ProxyAgreement& agreement, By model) {
  const By truth = TruthOf(agreement);
  std::vector<double> errors;
  for (const Seconds& seconds : agreement.seconds) errors.push_back(std::abs(seconds[model] / seconds[truth] - 1));
  return Median(errors);
}

// In truth: the plan that the model ranks first, over the best.
double ChoiceOf(const ProxyAgreement& agreement, By model) {
  const auto less = [](By by) { return [by](const Seconds& a, const Seconds& b) { return a[by] < b[by]; }; };
  const auto& seconds = agreement.seconds;
  const By truth = TruthOf(agreement);
  return (*std::min_element(seconds.begin(), seconds.end(), less(model)))[truth] /
         (*std::min_element(seconds.begin(), seconds.end(), less(truth)))[truth];
}

}  // namespace

std::vector<ProxyAgreement> CompareProxies(const ProxyAgreementOptions& options,
                                           const std::function<void(int, int)>& progress) {
  if (!HasSimGrid()) throw InvalidInput("there is no SimGrid here; install libsimgrid-dev and build again");
  std::vector<Machine> machines;
  if (options.network != nullptr) {
    machines.push_back(options.network->machine);
    machines.back().name = options.network->name;
  } else {
    for (const Network& network : kNetworks) machines.push_back(MachineOf(network));
  }
  std::vector<ProxyAgreement> agreements;
  const int total = static_cast<int>(machines.size() * options.families.size() * options.ccr.size());
  for (const Machine& machine : machines) {
    for (const double ccr : options.ccr) {
      for (const std::string& family : options.families) {
        progress(static_cast<int>(agreements.size()), total);
        agreements.push_back(CompareOn(machine, family, ccr, options));
      }
    }
  }
  return agreements;
}

std::vector<Table> ProxyAgreementTables(const std::vector<ProxyAgreement>& agreements) {
  const By truth = agreements.empty() ? kSimGrid : TruthOf(agreements.front());
  Table agreement{"agreement", "", {"network", "CCR", "rank: linear, contended"}, {}};
  Table choice{"choice", "", {"network", "CCR"}, {}};
  for (std::size_t model = kLinear; model < truth; ++model) {
    agreement.columns.push_back(fmt::format("rank: {}, {}", kNames[model], kNames[truth]));
    choice.columns.push_back(fmt::format("chosen by {}", kNames[model]));
  }
  for (std::size_t model = kLinear; model < truth; ++model)
    agreement.columns.push_back(fmt::format("error of {}", kNames[model]));
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
    std::vector<Cell>& row = agreement.rows.emplace_back(
        std::vector<Cell>{Words(first->machine), Number(first->ccr, 1), rank(kLinear, kContended)});
    std::vector<Cell>& chosen =
        choice.rows.emplace_back(std::vector<Cell>{Words(first->machine), Number(first->ccr, 1)});
    for (std::size_t model = kLinear; model < truth; ++model) {
      const By by = static_cast<By>(model);
      row.push_back(rank(by, truth));
      chosen.push_back(Number(mean([by](const ProxyAgreement& one) { return ChoiceOf(one, by); }), 3));
    }
    for (std::size_t model = kLinear; model < truth; ++model) {
      const By by = static_cast<By>(model);
      row.push_back(Number(100 * mean([by](const ProxyAgreement& one) { return MedianError(one, by); }), 2));
    }
    first = last;
  }
  agreement.caption = fmt::format(
      "Spearman's rank correlation of plans by two models; median of |model / {} - 1|, in percent.", kNames[truth]);
  choice.caption = fmt::format("What the plan that a model ranks first takes {}, over the best plan there.",
                               truth == kMeasured ? "as measured" : "by SimGrid");
  return {agreement, choice};
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/problems.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/train/gflownet/colocated_graph.h"
#include "millrace/workloads/random_graph.h"
#include "millrace/workloads/task_graph.h"

namespace millrace {
namespace {

constexpr double kBytesPerSecond = 1e9;  // of every link: the one on which RandomGraphOptions' CCR holds
constexpr double kFlopsPerSecond = 1e12;
constexpr double kMemoryBandwidth = 1e11;

using Kinds = std::vector<std::pair<std::string, double>>;

int LogUniformInteger(int low, int high, Random& random) {
  return std::min(high, static_cast<int>(LogUniform(low, high + 1, random)));
}

int UniformInteger(int low, int high, Random& random) {
  return low + static_cast<int>(random.Below(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1));
}

Device MakeDevice(std::string name, std::string kind, std::vector<int> units) {
  return {.name = std::move(name),
          .kind = std::move(kind),
          .units = std::move(units),
          .flops_per_second = kFlopsPerSecond,
          .memory_bandwidth = kMemoryBandwidth,
          .memory_bytes = std::nullopt,
          .launch_seconds = 0};
}

const std::string& DrawFamily(const ProblemSettings& settings, Random& random) {
  double sum = 0;
  for (const auto& family : settings.families) sum += family.second;
  double draw = random.Uniform() * sum;
  for (const auto& family : settings.families) {
    draw -= family.second;
    if (draw < 0) return family.first;
  }
  return settings.families.back().first;
}

std::vector<std::string> FamilyNames() {
  std::vector<std::string> names = RandomFamilyNames();
  names.insert(names.end(), TaskGraphNames().begin(), TaskGraphNames().end());
  return names;
}

ComputationGraph MakeGraph(const std::string& family, const RandomGraphOptions& options) {
  const std::vector<std::string>& random = RandomFamilyNames();
  if (std::find(random.begin(), random.end(), family) != random.end()) return MakeRandomGraph(family, options);
  return MakeTaskGraph(family, {.ops = options.ops,
                                .ccr = options.ccr,
                                .seed = options.seed,
                                .kinds = options.kinds,
                                .heterogeneity = options.heterogeneity});
}

// About as many ops as asked for, some of which must share a device.
ComputationGraph MakeColocatedGraph(const std::string& family, RandomGraphOptions options, Random& random) {
  if (random.Uniform() < 0.5) return WithRandomColocations(MakeGraph(family, options), random);
  constexpr int kMostCopies = 12;
  const int copies = LogUniformInteger(2, std::clamp(static_cast<int>(options.ops / 2), 2, kMostCopies), random);
  options.ops = std::max<std::int64_t>(2, options.ops / copies);
  return SideBySide(MakeGraph(family, options), copies);
}

// A machine and what its kinds of device are to the ops.
struct Host {
  Machine machine;
  Kinds kinds;  // empty: all alike
  double heterogeneity = 0;
};

Host DrawHost(const ProblemSettings& settings, Random& random) {
  Host host;
  int devices = UniformInteger(settings.fewest_devices, settings.most_devices, random);
  if (random.Uniform() < settings.one_device_share) devices = 1;
  const bool unlike = devices > 1 && random.Uniform() < settings.unlike_share;
  const bool gang = devices > 1 && random.Uniform() < settings.gang_share;
  host.machine.name = "training";
  const int second_kind = unlike ? UniformInteger(1, devices - 1, random) : 0;
  for (int device = 0; device < devices; ++device) {
    host.machine.devices.push_back(
        MakeDevice(fmt::format("d{}", device), device < devices - second_kind ? "a" : "b", {device}));
  }
  if (unlike || gang) {
    host.heterogeneity = random.Uniform(0, 1);
    host.kinds.emplace_back("a", 1);
  }
  if (unlike) host.kinds.emplace_back("b", LogUniform(0.4, 4, random));
  if (gang) {
    const int members = random.Uniform() < 0.5 ? devices : UniformInteger(2, devices, random);
    std::vector<int> units(static_cast<std::size_t>(members));
    std::iota(units.begin(), units.end(), 0);
    host.machine.devices.push_back(MakeDevice("gang", "gang", std::move(units)));
    host.kinds.emplace_back("gang", LogUniform(1.0 / members, 1, random));
  }
  const double latency = random.Uniform() < settings.latency_share ? random.Uniform(0, 0.25) : 0;
  host.machine.default_link = DefaultLink{.latency_seconds = latency, .bandwidth = kBytesPerSecond};
  return host;
}

double SecondsOf(const ComputationGraph& graph, const CostModel& model, OpId id) {
  const StatedSeconds& stated = graph.op(id).seconds;
  if (!stated.by_kind.empty()) {
    double sum = 0;
    for (const auto& entry : stated.by_kind) sum += entry.second;
    return sum / static_cast<double>(stated.by_kind.size());
  }
  return model.GroupSeconds(std::span(&id, 1), 0);
}

// Ids of connected ops, ascending. `number` of each op in the piece or -1 is left in `place`.
std::vector<OpId> DrawConnected(const ComputationGraph& graph, int ops, Random& random, std::vector<OpId>& place) {
  place.assign(static_cast<std::size_t>(graph.num_ops()), -1);
  std::vector<OpId> chosen, border;
  std::vector<bool> seen(place.size(), false);
  const auto offer = [&](OpId id) {
    if (seen[static_cast<std::size_t>(id)]) return;
    seen[static_cast<std::size_t>(id)] = true;
    border.push_back(id);
  };
  while (static_cast<int>(chosen.size()) < ops) {
    if (border.empty()) {  // of a graph in several pieces, take up another one
      OpId id = static_cast<OpId>(random.Below(place.size()));
      while (seen[static_cast<std::size_t>(id)]) id = (id + 1) % graph.num_ops();
      offer(id);
    }
    const std::size_t at = random.Below(border.size());
    const OpId id = border[at];
    border[at] = border.back();
    border.pop_back();
    chosen.push_back(id);
    for (const OpId neighbour : graph.Predecessors(id)) offer(neighbour);
    for (const OpId neighbour : graph.Successors(id)) offer(neighbour);
  }
  std::sort(chosen.begin(), chosen.end());
  for (std::size_t i = 0; i < chosen.size(); ++i) place[static_cast<std::size_t>(chosen[i])] = static_cast<OpId>(i);
  return chosen;
}

}  // namespace

SettingsTable TableOf(ProblemSettings& s) {
  const Allowed share = Between(0, 1);
  return {
      {"families", &s.families, NotEmpty({.least = 0, .most = 1e6, .words = FamilyNames()}),
       "families of graphs, random ones and task graphs, by weight"},
      {"fewest_ops", &s.fewest_ops, Between(2, 100'000), "fewest ops of a graph; their number is log-uniform"},
      {"most_ops", &s.most_ops, From("fewest_ops", s.fewest_ops, 100'000), "most ops of a graph that is drawn whole"},
      {"fewest_devices", &s.fewest_devices, Between(1, 256), "fewest devices; their number is uniform"},
      {"most_devices", &s.most_devices, From("fewest_devices", s.fewest_devices, 256), "most devices"},
      {"one_device_share", &s.one_device_share, share,
       "share of problems with one device, whatever the fewest are: only the order is left to choose"},
      {"free_share", &s.free_share, share, "share of problems with free transfers"},
      {"lowest_ccr", &s.lowest_ccr, Between(1e-6, 1e6),
       "lowest ratio of communication to computation of the others; it is log-uniform"},
      {"highest_ccr", &s.highest_ccr, From("lowest_ccr", s.lowest_ccr, 1e6),
       "highest ratio of communication to computation"},
      {"latency_share", &s.latency_share, share,
       "share of problems whose links have a latency too, up to half the mean seconds of an op"},
      {"unlike_share", &s.unlike_share, share, "share of problems with two kinds of devices"},
      {"gang_share", &s.gang_share, share,
       "share of problems with one more device that owns several or all units, and is faster"},
      {"colocated_share", &s.colocated_share, share,
       "share of problems with ops that must share a device: half are copies of a small graph side by side, each op "
       "with its copies, half have random sets of ops"},
      {"graph_share", &s.graph_share, share, "share of pieces of real graphs, where there are any"},
      {"smallest_piece", &s.smallest_piece, Between(2, 100'000), "fewest ops of a piece of a real graph"},
      {"largest_piece", &s.largest_piece, From("smallest_piece", s.smallest_piece, 100'000),
       "most ops of a piece of a real graph"}};
}

void CheckSettings(const ProblemSettings& settings) { CheckRowsOf(settings); }

double LogUniform(double low, double high, Random& random) {
  return low * std::exp(random.Uniform() * std::log(high / low));
}

Problem::Problem(const ComputationGraph& graph, const Machine& machine)
    : costed_(MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph))), environment_(costed_) {}

ProblemSource::ProblemSource(ProblemSettings settings, std::vector<ComputationGraph> graphs)
    : settings_(std::move(settings)), graphs_(std::move(graphs)) {
  CheckSettings(settings_);
  for (const ComputationGraph& graph : graphs_) {
    if (graph.num_ops() == 0) throw InvalidInput("graph '" + graph.name() + "' has no ops to train on");
  }
}

std::unique_ptr<Problem> ProblemSource::Draw(int most_ops, Random& random) const {
  const Host host = DrawHost(settings_, random);
  const double ccr =
      random.Uniform() < settings_.free_share ? 0 : LogUniform(settings_.lowest_ccr, settings_.highest_ccr, random);
  if (!graphs_.empty() && random.Uniform() < settings_.graph_share) {
    const ComputationGraph& graph = graphs_[random.Below(graphs_.size())];
    const int ops = UniformInteger(settings_.smallest_piece, settings_.largest_piece, random);
    return std::make_unique<Problem>(DrawPiece(graph, ops, ccr, host.kinds, host.heterogeneity, random), host.machine);
  }
  RandomGraphOptions options;
  const std::string& family = DrawFamily(settings_, random);
  options.ops = LogUniformInteger(settings_.fewest_ops, std::max(settings_.fewest_ops, most_ops), random);
  options.ccr = ccr;
  options.degree = random.Uniform(2, 6);
  options.kinds = host.kinds;
  options.heterogeneity = host.heterogeneity;
  options.seed = random.Next();
  if (settings_.colocated_share > 0 && random.Uniform() < settings_.colocated_share)
    return std::make_unique<Problem>(MakeColocatedGraph(family, options, random), host.machine);
  return std::make_unique<Problem>(MakeGraph(family, options), host.machine);
}

ComputationGraph DrawPiece(const ComputationGraph& graph, int ops, double ccr, const Kinds& kinds, double heterogeneity,
                           Random& random) {
  std::vector<OpId> place;
  const std::vector<OpId> chosen = DrawConnected(graph, std::min(ops, graph.num_ops()), random, place);
  Machine machine;
  machine.devices.push_back(MakeDevice("d", "a", {0}));
  const std::unique_ptr<CostModel> model = MakeAnalyticCostModel(graph, machine);

  GraphData data;
  data.name = graph.name();
  double sum_seconds = 0;
  const double half = heterogeneity / 2;
  for (const OpId id : chosen) {
    Op op;
    op.name = graph.op(id).name;
    op.type = graph.op(id).type;
    const double seconds = SecondsOf(graph, *model, id);
    if (kinds.empty()) {
      op.seconds.everywhere = seconds;
      sum_seconds += seconds;
    }
    for (const auto& [kind, factor] : kinds) {
      const double here = seconds * factor * random.Uniform(1 - half, 1 + half);
      op.seconds.by_kind.emplace_back(kind, here);
      sum_seconds += here / static_cast<double>(kinds.size());
    }
    data.ops.push_back(std::move(op));
  }
  double sum_bytes = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.producer < 0 || place[static_cast<std::size_t>(tensor.producer)] < 0) continue;
    Tensor kept;
    kept.name = tensor.name;
    kept.producer = place[static_cast<std::size_t>(tensor.producer)];
    for (const OpId consumer : tensor.consumers) {
      const OpId there = place[static_cast<std::size_t>(consumer)];
      if (there >= 0) kept.consumers.push_back(there);
    }
    kept.bytes = tensor.bytes;
    kept.output = kept.consumers.empty();
    sum_bytes += tensor.bytes;
    data.tensors.push_back(std::move(kept));
  }
  // The mean over ops is brought to 1/2, as random graphs have it, so that a latency means the same here.
  const double mean = sum_seconds / static_cast<double>(data.ops.size());
  const double second_scale = mean > 0 ? 0.5 / mean : 0;
  for (Op& op : data.ops) {
    if (op.seconds.everywhere) *op.seconds.everywhere *= second_scale;
    for (auto& entry : op.seconds.by_kind) entry.second *= second_scale;
  }
  const double byte_scale =
      sum_bytes > 0 ? ccr * 0.5 * kBytesPerSecond * static_cast<double>(data.tensors.size()) / sum_bytes : 0;
  for (Tensor& tensor : data.tensors) tensor.bytes *= byte_scale;
  return ComputationGraph(std::move(data));
}

std::unique_ptr<Problem> MakeGridProblem(const GridCell& cell, std::uint64_t seed) {
  RandomGraphOptions options;
  options.ops = cell.ops / cell.copies;
  options.ccr = cell.ccr;
  options.seed = seed;
  if (cell.unlike) options.kinds = {{"a", 1}, {"b", 2}};
  Machine machine;
  machine.name = "validation";
  for (int device = 0; device < cell.devices; ++device) {
    machine.devices.push_back(
        MakeDevice(fmt::format("d{}", device), cell.unlike && 2 * device >= cell.devices ? "b" : "a", {device}));
  }
  machine.default_link = DefaultLink{.latency_seconds = 0, .bandwidth = kBytesPerSecond};
  const ComputationGraph graph = MakeGraph(cell.family, options);
  return std::make_unique<Problem>(cell.copies > 1 ? SideBySide(graph, cell.copies) : graph, machine);
}

}  // namespace millrace

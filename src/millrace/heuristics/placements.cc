// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/placements.h"

#include <metis.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/heuristics/placement_orders.h"
#include "millrace/heuristics/upward_rank.h"

namespace millrace {
namespace {

// Units of weight and cut that METIS counts in: fine enough to tell groups apart, and no sum overflows 31 bits.
constexpr double kMetisTotal = 5e8;

// The least a vertex weighs is the mean over this.
constexpr double kLightest = 8;

// Below this METIS may find nothing to split, and says so on standard output.
constexpr idx_t kFewestVerticesPerPart = 16;

// Groups that must share a device, as one.
struct Bound {
  std::vector<int> vertex_of;  // by group
  std::vector<std::vector<int>> groups;
};

Bound BindColocations(const CostedGraph& costed) {
  Bound bound;
  bound.vertex_of.resize(static_cast<std::size_t>(costed.num_groups));
  std::vector<int> of_colocation(static_cast<std::size_t>(costed.num_colocations), -1);
  for (int group = 0; group < costed.num_groups; ++group) {
    const std::int32_t colocation = costed.colocation[static_cast<std::size_t>(group)];
    int vertex = colocation < 0 ? -1 : of_colocation[static_cast<std::size_t>(colocation)];
    if (vertex < 0) {
      vertex = static_cast<int>(bound.groups.size());
      bound.groups.emplace_back();
      if (colocation >= 0) of_colocation[static_cast<std::size_t>(colocation)] = vertex;
    }
    bound.vertex_of[static_cast<std::size_t>(group)] = vertex;
    bound.groups[static_cast<std::size_t>(vertex)].push_back(group);
  }
  return bound;
}

// Devices of the fewest units, no two of which share one, in ascending order.
std::vector<int> LoneDevices(const CostedGraph& costed) {
  int fewest = std::numeric_limits<int>::max();
  for (int device = 0; device < costed.num_devices; ++device)
    fewest = std::min(fewest, costed.topology.UnitsOf(device));
  std::vector<char> taken(static_cast<std::size_t>(costed.topology.num_units), 0);
  std::vector<int> lone;
  for (int device = 0; device < costed.num_devices; ++device) {
    if (costed.topology.UnitsOf(device) != fewest) continue;
    const auto begin =
        costed.topology.device_units.begin() + costed.topology.device_offsets[static_cast<std::size_t>(device)];
    const bool shared =
        std::any_of(begin, begin + fewest, [&](std::int32_t u) { return taken[static_cast<std::size_t>(u)] != 0; });
    if (shared) continue;
    for (int u = 0; u < fewest; ++u) taken[static_cast<std::size_t>(*(begin + u))] = 1;
    lone.push_back(device);
  }
  return lone;
}

double SecondsOf(const CostedGraph& costed, const std::vector<int>& groups, int device) {
  double total = 0;
  for (const int group : groups) total += costed.Seconds(group, device);
  return total;
}

// The wished device, or the fastest where it cannot run them.
int Settle(const CostedGraph& costed, const std::vector<int>& groups, int wished) {
  if (std::isfinite(SecondsOf(costed, groups, wished))) return wished;
  int best = 0;
  for (int device = 1; device < costed.num_devices; ++device) {
    if (SecondsOf(costed, groups, device) < SecondsOf(costed, groups, best)) best = device;
  }
  return best;
}

std::vector<int> Placement(const CostedGraph& costed, const Bound& bound, const std::vector<int>& wished) {
  std::vector<int> placement(static_cast<std::size_t>(costed.num_groups));
  for (std::size_t vertex = 0; vertex < bound.groups.size(); ++vertex) {
    const int device = Settle(costed, bound.groups[vertex], wished[vertex]);
    for (const int group : bound.groups[vertex]) placement[static_cast<std::size_t>(group)] = device;
  }
  return placement;
}

// By group, as the header says; from 0 up, without gaps.
std::vector<int> LayersOf(const CostedGraph& costed) {
  const auto groups = static_cast<std::size_t>(costed.num_groups);
  std::vector<int> layers(costed.layer.begin(), costed.layer.end());
  const auto at = [&layers](int group) -> int& { return layers[static_cast<std::size_t>(group)]; };
  const bool none = std::all_of(layers.begin(), layers.end(), [](int layer) { return layer < 0; });
  for (const std::int32_t group : costed.topological_order) {
    if (!none && costed.layer[static_cast<std::size_t>(group)] >= 0) continue;
    for (const GroupEdge& edge : costed.Predecessors(group)) at(group) = std::max(at(group), at(edge.group) + none);
    if (none) at(group) = std::max(at(group), 0);
  }
  for (std::size_t i = groups; i-- > 0;) {
    const std::int32_t group = costed.topological_order[i];
    if (at(group) >= 0) continue;
    for (const GroupEdge& edge : costed.Successors(group)) {
      if (at(edge.group) >= 0 && (at(group) < 0 || at(edge.group) < at(group))) at(group) = at(edge.group);
    }
  }
  std::map<int, int> number;
  for (int& layer : layers) number[layer = std::max(layer, 0)] = 0;
  int next = 0;
  for (auto& [layer, own] : number) own = next++;
  for (int& layer : layers) layer = number[layer];
  return layers;
}

// Where each layer goes if no device may take longer than `limit`: each takes as many as fit. Empty where the last
// device would take longer.
std::vector<int> Blocks(const std::vector<std::vector<double>>& seconds, double limit) {
  std::vector<int> block_of;
  std::size_t device = 0;
  double taken = 0;
  for (std::size_t layer = 0; layer < seconds.front().size(); ++layer) {
    while (device < seconds.size() && taken + seconds[device][layer] > limit) {
      ++device;
      taken = 0;
    }
    if (device == seconds.size()) return {};
    taken += seconds[device][layer];
    block_of.push_back(static_cast<int>(device));
  }
  return block_of;
}

// `seconds` by device, by layer. Halving the range of limits ends at the best block order but for rounding.
std::vector<int> BalancedBlocks(const std::vector<std::vector<double>>& seconds) {
  double low = 0, high = 0;
  for (const double s : seconds.front()) high += s;
  high = high * (1 + 1e-12);
  std::vector<int> best = Blocks(seconds, high);
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    std::vector<int> blocks = Blocks(seconds, middle);
    if (blocks.empty()) {
      low = middle;
    } else {
      high = middle;
      best = std::move(blocks);
    }
  }
  return best;
}

// Seconds of a group there, or on its fastest device where it cannot run there.
double FiniteSeconds(const CostedGraph& costed, int group, int device) {
  const double here = costed.Seconds(group, device);
  return std::isfinite(here) ? here : costed.fastest_seconds[static_cast<std::size_t>(group)];
}

struct MetisGraph {
  std::vector<idx_t> offsets, neighbours, edge_weights, vertex_weights;
};

idx_t Scaled(double value, double scale) { return static_cast<idx_t>(std::llround(value * scale)); }

MetisGraph MakeMetisGraph(const CostedGraph& costed, const Bound& bound, idx_t parts) {
  const std::size_t vertices = bound.groups.size();
  const MeanTransfer transfer = MeanTransferOf(costed.topology);
  double total_edges = 0;
  // One vertex's edges at a time: of a large graph all together are millions.
  std::vector<std::pair<int, double>> edges;
  const auto gather = [&](std::size_t vertex) {
    edges.clear();
    for (const int group : bound.groups[vertex]) {
      for (const std::span<const GroupEdge> side : {costed.Predecessors(group), costed.Successors(group)}) {
        for (const GroupEdge& edge : side) {
          const int other = bound.vertex_of[static_cast<std::size_t>(edge.group)];
          if (other != static_cast<int>(vertex)) edges.emplace_back(other, transfer.Seconds(edge.bytes));
        }
      }
    }
    std::sort(edges.begin(), edges.end());
    std::size_t kept = 0;
    for (const auto& [other, seconds] : edges) {
      if (kept > 0 && edges[kept - 1].first == other) {
        edges[kept - 1].second += seconds;
      } else {
        edges[kept++] = {other, seconds};
      }
    }
    edges.resize(kept);
  };
  std::size_t joined = 0;
  for (std::size_t vertex = 0; vertex < vertices; ++vertex) {
    gather(vertex);
    joined += edges.size();
    for (const auto& [other, seconds] : edges) total_edges += seconds / 2;  // each is met from both ends
  }
  double total_work = 0;
  for (const double seconds : costed.fastest_seconds) total_work += seconds;
  const double work_scale = total_work > 0 ? kMetisTotal / total_work : 0;
  const double edge_scale = total_edges > 0 ? kMetisTotal / total_edges : 0;
  // A vertex of no weight, or of more than a part's, lets METIS make empty parts, of which it complains on standard
  // output.
  const auto least = static_cast<idx_t>(kMetisTotal / (kLightest * static_cast<double>(vertices)));
  const auto most = std::max(least, static_cast<idx_t>(kMetisTotal / (2.0 * parts)));
  MetisGraph made;
  made.offsets.push_back(0);
  made.neighbours.reserve(joined);
  made.edge_weights.reserve(joined);
  for (std::size_t vertex = 0; vertex < vertices; ++vertex) {
    double work = 0;
    for (const int group : bound.groups[vertex]) work += costed.fastest_seconds[static_cast<std::size_t>(group)];
    made.vertex_weights.push_back(std::clamp(Scaled(work, work_scale), least, most));
    gather(vertex);
    for (const auto& [other, seconds] : edges) {
      made.neighbours.push_back(other);
      made.edge_weights.push_back(std::max<idx_t>(1, Scaled(seconds, edge_scale)));  // METIS wants at least 1
    }
    made.offsets.push_back(static_cast<idx_t>(made.neighbours.size()));
  }
  return made;
}

// Shares of the work: in proportion to how fast each device runs everything.
std::vector<real_t> Shares(const CostedGraph& costed, const std::vector<int>& devices) {
  std::vector<double> speed;
  for (const int device : devices) {
    double seconds = 0;
    for (int group = 0; group < costed.num_groups; ++group) seconds += FiniteSeconds(costed, group, device);
    speed.push_back(seconds > 0 ? 1 / seconds : 1);
  }
  const double all = std::accumulate(speed.begin(), speed.end(), 0.0);
  std::vector<real_t> shares;
  shares.reserve(speed.size());
  for (const double s : speed) shares.push_back(static_cast<real_t>(s / all));
  return shares;
}

// Those whose share of the vertices is not so small that METIS may leave their part empty.
std::vector<int> FastEnough(const CostedGraph& costed, const std::vector<int>& devices, idx_t vertices) {
  const std::vector<real_t> shares = Shares(costed, devices);
  std::vector<int> kept;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const double expected = static_cast<double>(shares[d]) * vertices;
    if (expected >= kFewestVerticesPerPart || shares[d] * static_cast<real_t>(shares.size()) >= 1)
      kept.push_back(devices[d]);
  }
  return kept;
}

// Heaviest first, each to the part that is the furthest below its share.
std::vector<idx_t> DealOut(const MetisGraph& graph, const std::vector<real_t>& shares) {
  std::vector<idx_t> order(graph.vertex_weights.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](idx_t a, idx_t b) {
    return graph.vertex_weights[static_cast<std::size_t>(a)] > graph.vertex_weights[static_cast<std::size_t>(b)];
  });
  std::vector<idx_t> part(order.size(), 0);
  std::vector<double> filled(shares.size(), 0.0);
  for (const idx_t vertex : order) {
    const auto own = static_cast<std::size_t>(std::min_element(filled.begin(), filled.end()) - filled.begin());
    part[static_cast<std::size_t>(vertex)] = static_cast<idx_t>(own);
    filled[own] += static_cast<double>(graph.vertex_weights[static_cast<std::size_t>(vertex)] + 1) / shares[own];
  }
  return part;
}

}  // namespace

std::vector<int> PlaceByLayers(const CostedGraph& costed) {
  if (costed.num_groups == 0) return {};
  const Bound bound = BindColocations(costed);
  const std::vector<int> devices = LoneDevices(costed);
  const std::vector<int> layers = LayersOf(costed);
  const auto count = static_cast<std::size_t>(*std::max_element(layers.begin(), layers.end())) + 1;
  std::vector<int> layer_of(bound.groups.size());
  std::vector<std::vector<double>> seconds(devices.size(), std::vector<double>(count, 0.0));
  for (std::size_t vertex = 0; vertex < bound.groups.size(); ++vertex) {
    layer_of[vertex] = layers[static_cast<std::size_t>(bound.groups[vertex].front())];
    for (std::size_t d = 0; d < devices.size(); ++d) {
      for (const int group : bound.groups[vertex])
        seconds[d][static_cast<std::size_t>(layer_of[vertex])] += FiniteSeconds(costed, group, devices[d]);
    }
  }
  const std::vector<int> blocks = BalancedBlocks(seconds);
  std::vector<int> wished;
  wished.reserve(layer_of.size());
  for (const int layer : layer_of)
    wished.push_back(devices[static_cast<std::size_t>(blocks[static_cast<std::size_t>(layer)])]);
  return Placement(costed, bound, wished);
}

std::vector<int> PlaceByPartition(const CostedGraph& costed) {
  if (costed.num_groups == 0) return {};
  const Bound bound = BindColocations(costed);
  auto vertices = static_cast<idx_t>(bound.groups.size());
  const std::vector<int> devices = FastEnough(costed, LoneDevices(costed), vertices);
  auto parts = static_cast<idx_t>(devices.size());
  std::vector<idx_t> part(bound.groups.size(), 0);
  MetisGraph graph = MakeMetisGraph(costed, bound, parts);
  std::vector<real_t> shares = Shares(costed, devices);
  if (vertices < kFewestVerticesPerPart * parts) {
    part = DealOut(graph, shares);
  } else if (parts > 1) {
    idx_t constraints = 1, cut = 0;
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    const int status = METIS_PartGraphKway(&vertices, &constraints, graph.offsets.data(), graph.neighbours.data(),
                                           graph.vertex_weights.data(), nullptr, graph.edge_weights.data(), &parts,
                                           shares.data(), nullptr, options, &cut, part.data());
    if (status != METIS_OK)
      throw WorkFailed("METIS could not partition the graph (status " + std::to_string(status) + ")");
  }
  std::vector<int> wished;
  wished.reserve(part.size());
  for (const idx_t own : part) wished.push_back(devices[static_cast<std::size_t>(own)]);
  return Placement(costed, bound, wished);
}

std::vector<int> PlaceUntilFull(const CostedGraph& costed) {
  PartialSchedule schedule(costed, PartialSchedule::Gaps::kLeave);
  for (const std::int32_t group : costed.topological_order) {
    schedule.Consider(group);
    schedule.Place(schedule.Choose(group, [](int device) { return static_cast<double>(device); }));
  }
  return schedule.Finish().assignment.placement;
}

PlannedAssignment ScheduleExpert(const CostedGraph& costed) { return BestOfOrders(costed, PlaceByLayers(costed)); }

PlannedAssignment ScheduleMetis(const CostedGraph& costed) { return BestOfOrders(costed, PlaceByPartition(costed)); }

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/placements.h"

#include <metis.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/heuristics/colocated_groups.h"
#include "millrace/heuristics/layer_blocks.h"
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

struct MetisGraph {
  std::vector<idx_t> offsets, neighbours, edge_weights, vertex_weights;
};

idx_t Scaled(double value, double scale) { return static_cast<idx_t>(std::llround(value * scale)); }

MetisGraph MakeMetisGraph(const CostedGraph& costed, const ColocatedGroups& bound, idx_t parts) {
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
  const LayerBlocks blocks(costed);
  return blocks.Placement(blocks.Balanced(blocks.num_devices()));
}

std::vector<int> PlaceByPartition(const CostedGraph& costed) {
  if (costed.num_groups == 0) return {};
  const ColocatedGroups bound = ColocatedGroupsOf(costed);
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
    // METIS draws from the C library's generator, which all threads share: two calls at a time would draw from each
    // other's numbers.
    static std::mutex one_at_a_time;
    const std::scoped_lock lock(one_at_a_time);
    const int status = METIS_PartGraphKway(&vertices, &constraints, graph.offsets.data(), graph.neighbours.data(),
                                           graph.vertex_weights.data(), nullptr, graph.edge_weights.data(), &parts,
                                           shares.data(), nullptr, options, &cut, part.data());
    if (status != METIS_OK)
      throw WorkFailed("METIS could not partition the graph (status " + std::to_string(status) + ")");
  }
  std::vector<int> wished;
  wished.reserve(part.size());
  for (const idx_t own : part) wished.push_back(devices[static_cast<std::size_t>(own)]);
  return PlacementWished(costed, bound, wished);
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

// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/peer_optimum.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/planning/deadline.h"
#include "millrace/target/child_process.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

constexpr std::uint64_t kPeerSeed = kQualitySeed + 60'000;

// Seconds and bytes that are whole numbers, both counted in milliseconds on a link of one byte a "second".
ComputationGraph WholeNumbers(const ComputationGraph& graph) {
  constexpr double kPerSecond = 1000;
  constexpr double kBytesPerSecond = 1e9;
  GraphData data;
  data.name = graph.name();
  for (OpId id = 0; id < graph.num_ops(); ++id) {
    Op op = graph.op(id);
    if (op.seconds.everywhere) op.seconds.everywhere = std::round(*op.seconds.everywhere * kPerSecond);
    for (auto& [kind, seconds] : op.seconds.by_kind) seconds = std::round(seconds * kPerSecond);
    data.ops.push_back(std::move(op));
  }
  for (TensorId id = 0; id < graph.num_tensors(); ++id) {
    Tensor tensor = graph.tensor(id);
    tensor.bytes = std::round(tensor.bytes / kBytesPerSecond * kPerSecond);
    data.tensors.push_back(std::move(tensor));
  }
  return ComputationGraph(std::move(data));
}

std::string DataOf(const CostedGraph& costed) {
  std::string seconds, from, to, transfer;
  double sum = 0;
  for (int group = 0; group < costed.num_groups; ++group) {
    for (int device = 0; device < costed.num_devices; ++device)
      seconds += fmt::format("{},", costed.Seconds(group, device));
    sum += costed.Seconds(group, 0);
    for (const GroupEdge& edge : costed.Successors(group)) {
      from += fmt::format("{},", group + 1);
      to += fmt::format("{},", edge.group + 1);
      transfer += fmt::format("{},", edge.bytes);
    }
  }
  return fmt::format(
      "n = {}; m = {}; edges = {}; horizon = {};\nseconds = array2d(1..{}, 1..{}, [{}]);\nfrom = [{}];\nto = "
      "[{}];\ntransfer = [{}];\n",
      costed.num_groups, costed.num_devices, costed.predecessors.size(), sum, costed.num_groups, costed.num_devices,
      seconds, from, to, transfer);
}

// Nothing where it did not end in time.
std::optional<double> PeerOptimum(const CostedGraph& costed, const std::string& folder, double seconds) {
  const std::string model = folder + "/schedule.mzn";
  const std::string data = folder + "/problem.dzn";
  WriteFileAtomically(model, MiniZincModel());
  WriteFileAtomically(data, DataOf(costed));
  // It is to stop itself: its solver would outlive it.
  constexpr double kToStop = 30;
  const std::string milliseconds = fmt::format("{:.0f}", 1000 * seconds);
  const ChildResult child = RunChild({"minizinc", "--solver", "gecode", "--time-limit", milliseconds, model, data},
                                     {.seconds = seconds + kToStop});
  if (child.ending != ChildEnding::kExited || child.code != 0 || child.output.find("==========") == std::string::npos) {
    if (child.ending == ChildEnding::kExited && child.code != 0) throw WorkFailed("minizinc: " + child.errors);
    return std::nullopt;
  }
  const std::size_t last = child.output.rfind("makespan=");
  return std::atof(child.output.c_str() + last + std::string("makespan=").size());
}

CostedGraph PeerProblem(const QualityInstance& instance) {
  Machine machine = MakeQualityMachine(instance);
  machine.default_link = DefaultLink{0, 1};
  const ComputationGraph graph = WholeNumbers(MakeQualityGraph(instance));
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
}

}  // namespace

bool MiniZincIsInstalled() {
  return RunChild({"minizinc", "--version"}, {.seconds = 60}).ending == ChildEnding::kExited;
}

std::string MiniZincModel() {
  return R"(int: n; int: m; int: edges; int: horizon;
array[1..n, 1..m] of int: seconds;
array[1..edges] of int: from;
array[1..edges] of int: to;
array[1..edges] of int: transfer;
array[1..n] of var 1..m: device;
array[1..n] of var 0..horizon: start;
array[1..n] of var 0..horizon: finish;
var 0..horizon: makespan;
array[1..n * (n - 1) div 2] of var bool: first;
function int: pair(int: a, int: b) = (b - 1) * (b - 2) div 2 + a;
constraint forall(g in 1..n)(finish[g] = start[g] + seconds[g, device[g]] /\ finish[g] <= makespan);
constraint forall(e in 1..edges)(
  start[to[e]] >= finish[from[e]] + bool2int(device[from[e]] != device[to[e]]) * transfer[e]);
constraint forall(a, b in 1..n where a < b)(
  device[a] = device[b] -> (if first[pair(a, b)] then finish[a] <= start[b] else finish[b] <= start[a] endif));
constraint forall(a, b in 1..n where a < b)(device[a] != device[b] -> first[pair(a, b)]);
constraint forall(d in 1..m)(sum(g in 1..n)(bool2int(device[g] = d) * seconds[g, d]) <= makespan);
solve :: seq_search([int_search(device, first_fail, indomain_min), bool_search(first, input_order, indomain_max),
                     int_search([makespan], input_order, indomain_min), int_search(start, smallest, indomain_min)])
  minimize makespan;
output ["makespan=\(makespan)\n"];
)";
}

std::vector<Table> MiniZincTables(const std::string& folder, const OptimalityOptions& options,
                                  const std::function<void(int, int)>& progress) {
  constexpr double kPeerSeconds = 60;
  std::filesystem::create_directories(folder);
  Table table{"minizinc",
              "Optima by MiniZinc with Gecode beside those of `exact`, in milliseconds.",
              {"ops", "devices", "CCR", "family", "exact", "minizinc", "exact s", "minizinc s"},
              {}};
  std::vector<QualityInstance> instances;
  for (const int ops : {8, 12, 16}) {
    for (const char* devices : {"2", "3", "1+1"}) {
      for (const double ccr : {0.1, 1.0, 10.0}) {
        const std::string& family = RandomFamilyNames()[instances.size() % RandomFamilyNames().size()];
        if (!options.quick || ops == 8)
          instances.push_back({ops, devices, ccr, family, 0, kPeerSeed + instances.size()});
      }
    }
  }
  for (const QualityInstance& instance : instances) {
    const CostedGraph costed = PeerProblem(instance);
    const auto [own, own_seconds] = ProveTimed(costed, options, instance.seed);
    const Deadline peer_clock;
    const std::optional<double> peer = PeerOptimum(costed, folder, kPeerSeconds);
    if (own.proven && peer && *peer != own.best->makespan)
      throw WorkFailed(
          fmt::format("minizinc and exact differ on seed {}: {} and {}", instance.seed, *peer, own.best->makespan));
    table.rows.push_back({Count(static_cast<std::size_t>(instance.ops)), Words(instance.devices),
                          Number(instance.ccr, 1), Words(instance.family), Number(own.best->makespan, 0),
                          peer ? Number(*peer, 0) : Words("no end in 60 s"), Number(own_seconds, 2),
                          Number(peer_clock.Elapsed(), 2)});
    progress(static_cast<int>(table.rows.size()), static_cast<int>(instances.size()));
  }
  return {table};
}

}  // namespace millrace

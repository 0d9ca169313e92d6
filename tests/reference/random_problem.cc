// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/random_problem.h"

#include <algorithm>
#include <array>
#include <string>

#include "millrace/graph/reachability.h"
#include "millrace/plan/fusion_table.h"

namespace millrace::testing {
namespace {

constexpr std::array kFusibleTypes = {"Conv", "MatMul", "Relu", "Add", "Sigmoid", "Mul"};
constexpr std::array kOtherTypes = {"Custom", "Split", "", "Loop"};
constexpr std::array kKinds = {"cpu", "dsp", "gpu"};

bool Chance(Random& random, double probability) { return random.Uniform() < probability; }

int Between(Random& random, int low, int high) {
  return low + static_cast<int>(random.Below(static_cast<std::uint64_t>(high - low + 1)));
}

template <typename T>
void Shuffle(Random& random, std::vector<T>& values) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.Below(i)]);
}

// Nothing, or a number of that order of magnitude.
double Cost(Random& random, const RandomProblemOptions& options, double scale) {
  if (Chance(random, 0.15)) return 0;
  if (options.tidy) return static_cast<double>(Between(random, 1, 8)) * 0.5 * scale;
  return random.Uniform(0.0, 4.0) * scale;
}

double Rate(Random& random, const RandomProblemOptions& options) {
  if (options.tidy) return static_cast<double>(1 << Between(random, 0, 3));
  return random.Uniform(0.5, 8.0);
}

StatedSeconds RandomSeconds(Random& random, const RandomProblemOptions& options) {
  StatedSeconds seconds;
  if (!options.kinds || Chance(random, 0.5)) {
    seconds.everywhere = Cost(random, options, 1.0);
    return seconds;
  }
  for (const char* kind : kKinds) {
    if (std::string(kind) == "cpu" || Chance(random, 0.5))
      seconds.by_kind.emplace_back(kind, Cost(random, options, 1.0));
  }
  return seconds;
}

Op RandomOp(Random& random, const RandomProblemOptions& options, int number) {
  Op op;
  op.name = "op" + std::to_string(number);
  op.type = options.fusible && Chance(random, 0.7) ? kFusibleTypes[random.Below(kFusibleTypes.size())]
                                                   : kOtherTypes[random.Below(kOtherTypes.size())];
  op.flops = Cost(random, options, 4.0);
  op.weight_bytes = Chance(random, 0.4) ? Cost(random, options, 2.0) : 0.0;
  if (Chance(random, 0.2)) op.bytes_accessed = Cost(random, options, 4.0);
  if (Chance(random, 0.4)) op.seconds = RandomSeconds(random, options);
  if (options.colocate && Chance(random, 0.15)) op.colocate = std::string(1, static_cast<char>('a' + random.Below(3)));
  if (Chance(random, 0.3)) op.layer = Between(random, 0, 3);
  return op;
}

// Do these groups have an order?
bool HaveAnOrder(const ComputationGraph& graph, const FusionGroups& groups) {
  std::vector<int> group_of(static_cast<std::size_t>(graph.num_ops()));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const OpId op : groups[g]) group_of[static_cast<std::size_t>(op)] = static_cast<int>(g);
  }
  std::vector<char> done(groups.size(), 0);
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (done[g] != 0) continue;
      bool ready = true;
      for (const OpId op : groups[g]) {
        for (const OpId before : graph.Predecessors(op)) {
          const auto other = static_cast<std::size_t>(group_of[static_cast<std::size_t>(before)]);
          ready = ready && (other == g || done[other] != 0);
        }
      }
      if (ready) done[g] = 1, progress = true;
    }
  }
  return std::count(done.begin(), done.end(), 0) == 0;
}

bool CanRun(const ComputationGraph& graph, const std::vector<OpId>& group, const std::string& kind) {
  for (const OpId op : group) {
    if (graph.op(op).seconds.stated() && !graph.op(op).seconds.On(kind)) return false;
  }
  std::vector<OpId> sorted = group;
  std::sort(sorted.begin(), sorted.end());
  return std::none_of(graph.group_seconds().begin(), graph.group_seconds().end(),
                      [&](const GroupTime& entry) { return entry.ops == sorted && !entry.seconds.On(kind); });
}

// A number for every group; groups that must share a device have the same one.
std::vector<int> Ties(const ComputationGraph& graph, const FusionGroups& groups) {
  std::vector<int> tie(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) tie[g] = static_cast<int>(g);
  for (std::size_t a = 0; a < groups.size(); ++a) {
    for (std::size_t b = 0; b < groups.size(); ++b) {
      for (const OpId i : groups[a]) {
        for (const OpId j : groups[b]) {
          const std::string& name = graph.op(i).colocate;
          if (!name.empty() && name == graph.op(j).colocate) std::replace(tie.begin(), tie.end(), tie[b], tie[a]);
        }
      }
    }
  }
  return tie;
}

}  // namespace

ComputationGraph RandomGraph(Random& random, const RandomProblemOptions& options) {
  GraphData data;
  data.name = "random";
  const int ops = Between(random, 1, options.most_ops);
  for (int i = 0; i < ops; ++i) data.ops.push_back(RandomOp(random, options, i));
  // Ids are dealt at random, so their order says nothing.
  std::vector<OpId> order(static_cast<std::size_t>(ops));
  for (int i = 0; i < ops; ++i) order[static_cast<std::size_t>(i)] = i;
  Shuffle(random, order);
  const int inputs = Between(random, 0, 3);
  const double density = random.Uniform(0.02, 0.3);
  for (int position = -inputs; position < ops; ++position) {
    const int tensors = position < 0 ? 1 : Between(random, 0, 2);
    for (int t = 0; t < tensors; ++t) {
      Tensor tensor;
      tensor.name = "tensor" + std::to_string(data.tensors.size());
      tensor.producer = position < 0 ? -1 : order[static_cast<std::size_t>(position)];
      tensor.bytes = Cost(random, options, 2.0);
      tensor.output = Chance(random, 0.1);
      const int first = std::max(position + 1, 0);
      if (first < ops && Chance(random, 0.8)) {
        tensor.consumers.push_back(
            order[static_cast<std::size_t>(Between(random, first, std::min(first + 2, ops - 1)))]);
        for (int later = first; later < ops; ++later) {
          if (Chance(random, density)) tensor.consumers.push_back(order[static_cast<std::size_t>(later)]);
        }
      }
      data.tensors.push_back(std::move(tensor));
    }
  }
  Shuffle(random, data.tensors);
  if (options.group_seconds) {
    for (const Tensor& tensor : data.tensors) {
      if (tensor.producer < 0 || tensor.consumers.empty() || !Chance(random, 0.2)) continue;
      std::vector<OpId> members{tensor.producer};
      if (Chance(random, 0.8)) members.push_back(tensor.consumers.front());
      const bool known = std::any_of(data.group_seconds.begin(), data.group_seconds.end(), [&](const GroupTime& entry) {
        return std::is_permutation(entry.ops.begin(), entry.ops.end(), members.begin(), members.end());
      });
      if (!known) data.group_seconds.push_back({members, RandomSeconds(random, options)});
    }
  }
  return ComputationGraph(std::move(data));
}

Machine RandomMachine(Random& random, const RandomProblemOptions& options) {
  Machine machine;
  machine.name = "random";
  const int devices = Between(random, 1, options.most_devices);
  int next_unit = Between(random, 0, 4);
  std::vector<int> units;
  for (int d = 0; d < devices; ++d) {
    Device device;
    device.name = "device" + std::to_string(d);
    device.kind = d == 0 || !options.kinds ? "cpu" : kKinds[random.Below(kKinds.size())];
    if (options.gangs && !units.empty() && Chance(random, 0.4)) {
      std::vector<int> pool = units;
      Shuffle(random, pool);
      pool.resize(1 + random.Below(std::min<std::size_t>(pool.size(), 3)));
      device.units = pool;
    }
    if (device.units.empty() || (options.gangs && Chance(random, 0.2))) {
      device.units.push_back(next_unit);
      units.push_back(next_unit);
      next_unit += Between(random, 1, 3);
    }
    device.flops_per_second = Rate(random, options);
    device.memory_bandwidth = Rate(random, options);
    device.launch_seconds = Cost(random, options, 0.25);
    if (options.memory && Chance(random, 0.6)) device.memory_bytes = random.Uniform(2.0, 60.0);
    machine.devices.push_back(std::move(device));
  }
  if (options.fair) machine.sharing = Sharing::kFair;
  if (!options.links) return machine;
  if (Chance(random, 0.5)) machine.default_link = DefaultLink{Cost(random, options, 0.25), Rate(random, options)};
  for (int from = 0; from < devices; ++from) {
    for (int to = 0; to < devices; ++to) {
      if (from == to || Chance(random, 0.4)) continue;
      Link link{from, to, Cost(random, options, 0.25), Rate(random, options), std::nullopt};
      if (Chance(random, 0.1)) link.bandwidth = kUnlimitedBandwidth;
      if (Chance(random, 0.5)) link.channel = Between(random, 0, 2);
      machine.links.push_back(link);
    }
  }
  if (!Chance(random, 0.3)) return machine;
  // Some of the entries are channels of other links, too: a host that sends and receives over one.
  for (Link& link : machine.links) {
    if (Chance(random, 0.6)) link.entry_channel = Between(random, 1, 5);
    if (link.entry_channel == link.channel) link.entry_channel.reset();
  }
  return machine;
}

FusionGroups RandomGroups(Random& random, const ComputationGraph& graph) {
  FusionGroups groups = SingleOpGroups(graph);
  Reachability reachability(graph);
  const int tries = Between(random, 0, graph.num_ops());
  for (int i = 0; i < tries; ++i) {
    const auto op = static_cast<OpId>(random.Below(static_cast<std::uint64_t>(graph.num_ops())));
    if (graph.Predecessors(op).empty()) continue;
    const OpId before = graph.Predecessors(op)[random.Below(graph.Predecessors(op).size())];
    FusionGroups merged;
    std::vector<OpId> group;
    for (const std::vector<OpId>& old : groups) {
      const bool joins =
          std::find(old.begin(), old.end(), op) != old.end() || std::find(old.begin(), old.end(), before) != old.end();
      if (joins)
        group.insert(group.end(), old.begin(), old.end());
      else
        merged.push_back(old);
    }
    std::sort(group.begin(), group.end(),
              [&](OpId a, OpId b) { return reachability.position(a) < reachability.position(b); });
    if (WhyNotFusible(graph, reachability, group)) continue;
    merged.push_back(group);
    if (HaveAnOrder(graph, merged)) groups = std::move(merged);
  }
  Shuffle(random, groups);
  return groups;
}

Plan RandomPlan(Random& random, const ComputationGraph& graph, const Machine& machine, FusionGroups groups) {
  Plan plan;
  const std::vector<int> ties = Ties(graph, groups);
  plan.placement.assign(groups.size(), -1);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (plan.placement[g] >= 0) continue;
    std::vector<int> open;
    for (std::size_t d = 0; d < machine.devices.size(); ++d) {
      bool all = true;
      for (std::size_t other = 0; other < groups.size(); ++other)
        all = all && (ties[other] != ties[g] || CanRun(graph, groups[other], machine.devices[d].kind));
      if (all) open.push_back(static_cast<int>(d));
    }
    const int device = open.at(random.Below(open.size()));
    for (std::size_t other = 0; other < groups.size(); ++other) {
      if (ties[other] == ties[g]) plan.placement[other] = device;
    }
  }
  std::vector<int> group_of(static_cast<std::size_t>(graph.num_ops()));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const OpId op : groups[g]) group_of[static_cast<std::size_t>(op)] = static_cast<int>(g);
  }
  std::vector<char> done(groups.size(), 0);
  while (plan.sequence.size() < groups.size()) {
    std::vector<int> ready;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      bool free = done[g] == 0;
      for (const OpId op : groups[g]) {
        for (const OpId before : graph.Predecessors(op)) {
          const auto other = static_cast<std::size_t>(group_of[static_cast<std::size_t>(before)]);
          free = free && (other == g || done[other] != 0);
        }
      }
      if (free) ready.push_back(static_cast<int>(g));
    }
    const int next = ready.at(random.Below(ready.size()));
    done[static_cast<std::size_t>(next)] = 1;
    plan.sequence.push_back(next);
  }
  plan.groups = std::move(groups);
  return plan;
}

}  // namespace millrace::testing

// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/random_graph.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/random/random.h"
#include "millrace/workloads/drawn_costs.h"
#include "millrace/workloads/layered_graph.h"
#include "millrace/workloads/undirected_graph.h"

namespace millrace {
namespace {

constexpr double kMostLinks = 2e8;
constexpr std::int32_t kCommunities = 4;
constexpr double kInsideBlocks = 0.8;
constexpr double kRewired = 0.3;

enum Stream : std::uint64_t { kStructure, kSeconds, kBytes };

void CheckOptions(const RandomGraphOptions& options) {
  CheckDrawnCosts(options.ops, options.ccr, options.kinds, options.heterogeneity);
  if (!(options.degree >= 0) || options.degree * static_cast<double>(options.ops) / 2 > kMostLinks) {
    throw InvalidInput(
        fmt::format("degree: the mean degree is a number >= 0 that makes at most {:.0f} links", kMostLinks));
  }
}

void DrawSeconds(const RandomGraphOptions& options, Random random, std::vector<Op>& ops) {
  auto kinds = options.kinds;
  std::sort(kinds.begin(), kinds.end());
  for (Op& op : ops) {
    const double seconds = random.Uniform();
    StateSeconds(seconds, kinds, options.heterogeneity, random, op);
  }
}

void DrawBytes(Random random, std::vector<Tensor>& tensors) {
  for (Tensor& tensor : tensors) tensor.bytes = 1 - random.Uniform();  // (0, 1], so the sum is never 0
}

Links DrawUndirected(std::string_view family, std::int32_t ops, double degree, Random& random) {
  if (family == "er") return DrawErdosRenyi(ops, degree, random);
  if (family == "sbm") return DrawStochasticBlocks(ops, degree, kCommunities, kInsideBlocks, random);
  if (family == "ws") return DrawWattsStrogatz(ops, degree, kRewired, random);
  return DrawBarabasiAlbert(ops, degree, random);
}

}  // namespace

const std::vector<std::string>& RandomFamilyNames() {
  static const std::vector<std::string> names = {"layered", "er", "sbm", "ws", "ba"};
  return names;
}

ComputationGraph MakeRandomGraph(std::string_view family, const RandomGraphOptions& options) {
  const std::vector<std::string>& names = RandomFamilyNames();
  if (std::find(names.begin(), names.end(), family) == names.end()) {
    throw InvalidInput(fmt::format("'{}' is no random family; there are {}", family, fmt::join(names, ", ")));
  }
  CheckOptions(options);
  const auto ops = static_cast<std::int32_t>(options.ops);
  const Random random(options.seed);
  Random structure = random.Fork(kStructure);

  GraphData data;
  data.name = fmt::format("{}-{}-ccr{}-seed{}", family, ops, options.ccr, options.seed);
  data.ops.resize(static_cast<std::size_t>(ops));
  data.tensors.resize(static_cast<std::size_t>(ops));
  Links links;
  if (family == "layered") {
    LayeredGraph layered = DrawLayeredGraph(ops, structure);
    links = std::move(layered.links);
    for (std::size_t i = 0; i < data.ops.size(); ++i) data.ops[i].layer = layered.layer[i];
  } else {
    links = DrawUndirected(family, ops, options.degree, structure);
    OrientAtRandom(ops, structure, links);
    Connect(ops, structure, links);
  }
  StopIfInterrupted();

  std::vector<std::size_t> consumers(data.tensors.size());
  for (const auto& link : links) ++consumers[static_cast<std::size_t>(link.first)];
  for (std::size_t i = 0; i < data.tensors.size(); ++i) {
    data.ops[i].name = fmt::format("op{}", i);
    data.ops[i].type = "Task";
    Tensor& tensor = data.tensors[i];
    tensor.name = fmt::format("t{}", i);
    tensor.producer = static_cast<OpId>(i);
    tensor.consumers.reserve(consumers[i]);
    tensor.output = consumers[i] == 0;
  }
  for (const auto& [from, to] : links) data.tensors[static_cast<std::size_t>(from)].consumers.push_back(to);
  Links().swap(links);

  DrawSeconds(options, random.Fork(kSeconds), data.ops);
  DrawBytes(random.Fork(kBytes), data.tensors);
  ScaleBytes(options.ccr, MeanStatedSeconds(data.ops), data.tensors);
  StopIfInterrupted();
  return ComputationGraph(std::move(data));
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/random_graph.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/random/random.h"
#include "millrace/workloads/layered_graph.h"
#include "millrace/workloads/undirected_graph.h"

namespace millrace {
namespace {

constexpr std::int64_t kMostOps = 10'000'000;
constexpr double kMostLinks = 2e8;
constexpr std::int32_t kBlocks = 4;
constexpr double kInsideBlocks = 0.8;
constexpr double kRewired = 0.3;
constexpr double kBytesPerSecond = 1e9;  // of the link on which the communication-to-computation ratio holds

enum Stream : std::uint64_t { kStructure, kSeconds, kBytes };

void CheckOptions(const RandomGraphOptions& options) {
  if (options.ops < 1 || options.ops > kMostOps) {
    throw InvalidInput(fmt::format("ops: a random graph has 1 to {} ops, not {}", kMostOps, options.ops));
  }
  if (!(options.ccr >= 0 && options.ccr <= 1e12)) {
    throw InvalidInput("ccr: the communication-to-computation ratio is a number from 0 to 1e12");
  }
  if (!(options.degree >= 0) || options.degree * static_cast<double>(options.ops) / 2 > kMostLinks) {
    throw InvalidInput(
        fmt::format("degree: the mean degree is a number >= 0 that makes at most {:.0f} links", kMostLinks));
  }
  if (!(options.heterogeneity >= 0 && options.heterogeneity <= 2)) {
    throw InvalidInput("heterogeneity: it is a number from 0 to 2");
  }
  for (std::size_t i = 0; i < options.kinds.size(); ++i) {
    const auto& [kind, factor] = options.kinds[i];
    if (kind.empty()) throw InvalidInput("kinds: a device kind needs a name");
    if (!(factor > 0 && factor <= 1e12)) {
      throw InvalidInput("kinds: the factor of '" + kind + "' is a number > 0 and at most 1e12");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (options.kinds[j].first == kind) throw InvalidInput("kinds: '" + kind + "' is named twice");
    }
  }
}

void DrawSeconds(const RandomGraphOptions& options, Random random, std::vector<Op>& ops) {
  auto kinds = options.kinds;
  std::sort(kinds.begin(), kinds.end());
  const double half = options.heterogeneity / 2;
  for (Op& op : ops) {
    const double seconds = random.Uniform();
    if (kinds.empty()) {
      op.seconds.everywhere = seconds;
      continue;
    }
    for (const auto& [kind, factor] : kinds) {
      op.seconds.by_kind.emplace_back(kind, seconds * factor * random.Uniform(1 - half, 1 + half));
    }
  }
}

double MeanSeconds(const std::vector<Op>& ops) {
  double sum = 0;
  for (const Op& op : ops) {
    if (op.seconds.everywhere) {
      sum += *op.seconds.everywhere;
      continue;
    }
    double kinds_sum = 0;
    for (const auto& entry : op.seconds.by_kind) kinds_sum += entry.second;
    sum += kinds_sum / static_cast<double>(op.seconds.by_kind.size());
  }
  return sum / static_cast<double>(ops.size());
}

void DrawBytes(double mean, Random random, std::vector<Tensor>& tensors) {
  double sum = 0;
  for (Tensor& tensor : tensors) {
    tensor.bytes = 1 - random.Uniform();  // (0, 1], so the sum is never 0
    sum += tensor.bytes;
  }
  const double scale = mean * static_cast<double>(tensors.size()) / sum;
  for (Tensor& tensor : tensors) tensor.bytes *= scale;
}

Links DrawUndirected(std::string_view family, std::int32_t ops, double degree, Random& random) {
  if (family == "er") return DrawErdosRenyi(ops, degree, random);
  if (family == "sbm") return DrawStochasticBlocks(ops, degree, kBlocks, kInsideBlocks, random);
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
  DrawBytes(options.ccr * MeanSeconds(data.ops) * kBytesPerSecond, random.Fork(kBytes), data.tensors);
  StopIfInterrupted();
  return ComputationGraph(std::move(data));
}

}  // namespace millrace

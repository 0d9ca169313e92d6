// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/slow_network.h"

#include <algorithm>
#include <cmath>

namespace millrace::testing {
namespace {

Row MeanAndMost(const Weights& weights, const std::string& layer, const std::vector<Row>& h, std::int32_t group,
                const std::vector<std::int32_t>& offsets, const std::vector<std::int32_t>& neighbours,
                const std::vector<float>& edges) {
  const std::size_t width = weights.tensors.at(layer + ".bias").values.size();
  Row mean(width, 0.0), most(width, 0.0);
  const auto g = static_cast<std::size_t>(group);
  for (auto e = static_cast<std::size_t>(offsets[g]); e < static_cast<std::size_t>(offsets[g + 1]); ++e) {
    const Row edge = SlowLinear(weights, layer + ".edge", {edges[e]});
    const Row message = Relu(Plus(SlowLinear(weights, layer, h[static_cast<std::size_t>(neighbours[e])]), edge));
    for (std::size_t i = 0; i < width; ++i) {
      mean[i] += message[i] / (offsets[g + 1] - offsets[g]);
      most[i] = std::max(most[i], message[i]);
    }
  }
  return Joined({mean, most});
}

}  // namespace

Row Relu(Row x) {
  for (double& value : x) value = std::max(value, 0.0);
  return x;
}

Row Plus(Row x, const Row& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  return x;
}

Row Joined(const std::vector<Row>& parts) {
  Row all;
  for (const Row& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Row RowOf(const std::vector<float>& values, std::size_t row, std::size_t width) {
  return {values.begin() + static_cast<std::ptrdiff_t>(row * width),
          values.begin() + static_cast<std::ptrdiff_t>((row + 1) * width)};
}

Row SlowLinear(const Weights& weights, const std::string& layer, const Row& x) {
  const WeightTensor& weight = weights.tensors.at(layer + ".weight");
  Row y(static_cast<std::size_t>(weight.shape[0]), 0.0);
  for (std::size_t o = 0; o < y.size(); ++o) {
    for (std::size_t i = 0; i < x.size(); ++i) y[o] += static_cast<double>(weight.values[o * x.size() + i]) * x[i];
  }
  const auto bias = weights.tensors.find(layer + ".bias");
  return bias == weights.tensors.end() ? y : Plus(y, RowOf(bias->second.values, 0, y.size()));
}

Row SlowCondition(const Weights& weights, const GraphFeatures& graph, double temperature) {
  const Row known = Joined({{std::log(temperature)}, Row(graph.global.begin(), graph.global.end())});
  return Relu(SlowLinear(weights, "condition.1", Relu(SlowLinear(weights, "condition.0", known))));
}

std::vector<Row> SlowMessagePassing(const Weights& weights, const GraphFeatures& graph, const Row& condition) {
  std::vector<Row> h;
  for (int g = 0; g < graph.num_groups; ++g) {
    h.push_back(Relu(SlowLinear(weights, "input", RowOf(graph.nodes, static_cast<std::size_t>(g), kNodeFeatures))));
  }
  for (int r = 0; weights.tensors.contains("round." + std::to_string(r) + ".mix.weight"); ++r) {
    const std::string round = "round." + std::to_string(r);
    const Row scale = SlowLinear(weights, round + ".scale", condition);
    const Row shift = SlowLinear(weights, round + ".shift", condition);
    std::vector<Row> next;
    for (int g = 0; g < graph.num_groups; ++g) {
      const Row& own = h[static_cast<std::size_t>(g)];
      Row z = SlowLinear(weights, round + ".mix",
                         Joined({own,
                                 MeanAndMost(weights, round + ".forward", h, g, graph.predecessor_offsets,
                                             graph.predecessors, graph.predecessor_features),
                                 MeanAndMost(weights, round + ".backward", h, g, graph.successor_offsets,
                                             graph.successors, graph.successor_features)}));
      for (std::size_t i = 0; i < z.size(); ++i) z[i] = z[i] * (1 + scale[i]) + shift[i];
      next.push_back(Plus(own, SlowLinear(weights, round + ".out", Relu(z))));
    }
    h = next;
  }
  return h;
}

double SlowPrior(const Weights& weights, const std::string& head, const Row& condition, const Observation& observation,
                 std::size_t choice) {
  const std::size_t priors = observation.priors.size() / observation.size();
  const Row strength = SlowLinear(weights, head + ".strength", condition);
  double sum = 0;
  for (std::size_t k = 0; k < priors; ++k)
    sum += std::exp(std::clamp(strength[k], -8.0, 8.0)) * observation.priors[choice * priors + k];
  return sum;
}

Row SlowLogits(const Weights& weights, const GraphFeatures& graph, const std::vector<Row>& embeddings,
               const Row& condition, int group, const Observation& observation) {
  const std::string head = group < 0 ? "group" : "device";
  const std::size_t features = observation.features.size() / observation.size();
  Row logits;
  for (std::size_t c = 0; c < observation.size(); ++c) {
    const auto choice = static_cast<std::size_t>(observation.choices[c]);
    const Row& h = embeddings[group < 0 ? choice : static_cast<std::size_t>(group)];
    Row first = Plus(SlowLinear(weights, head + ".embed", h), SlowLinear(weights, head + ".condition", condition));
    first = Plus(first, SlowLinear(weights, head + ".features", RowOf(observation.features, c, features)));
    if (group >= 0) {
      const Row device = SlowLinear(weights, "device.device.0", RowOf(graph.devices, choice, kDeviceFeatures));
      first = Plus(first, SlowLinear(weights, "device.device.1", Relu(device)));
    }
    double prior = SlowPrior(weights, head, condition, observation, c);
    if (weights.tensors.contains(head + ".ahead.weight") && !observation.outlook.empty()) {
      Row outlook = RowOf(observation.outlook, c, kOutlookNumbers);
      const double strength = SlowLinear(weights, head + ".ahead.strength", condition)[0];
      prior += std::exp(std::clamp(strength, -8.0, 8.0)) * outlook.back();
      outlook.pop_back();
      first = Plus(first, SlowLinear(weights, head + ".ahead", outlook));
    }
    const Row hidden = Relu(SlowLinear(weights, head + ".hidden", Relu(first)));
    logits.push_back(SlowLinear(weights, head + ".out", hidden)[0] + prior);
  }
  return logits;
}

}  // namespace millrace::testing

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include "millrace/gflownet/policy/completions.h"
#include "tests/reference/slow_network.h"

namespace millrace::testing {
namespace {

bool HasEdge(const CostedGraph& costed, int from, int to) {
  const auto successors = costed.Successors(from);
  return std::any_of(successors.begin(), successors.end(), [to](const GroupEdge& edge) { return edge.group == to; });
}

// Paths of one edge or more; of two or more where `longer`.
bool HasPath(const CostedGraph& costed, int from, int to, bool longer) {
  if (!longer && HasEdge(costed, from, to)) return true;
  for (const GroupEdge& edge : costed.Successors(from)) {
    if (HasPath(costed, edge.group, to, false)) return true;
  }
  return false;
}

double EdgeFeature(const GraphFeatures& graph, int i, int j) {
  for (std::int32_t e = graph.predecessor_offsets[i]; e < graph.predecessor_offsets[i + 1]; ++e) {
    if (graph.predecessors[e] == j) return graph.predecessor_features[e];
  }
  for (std::int32_t e = graph.successor_offsets[i]; e < graph.successor_offsets[i + 1]; ++e) {
    if (graph.successors[e] == j) return graph.successor_features[e];
  }
  return 0;
}

Row Norm(const Weights& weights, const std::string& name, const Row& x) {
  double mean = 0, variance = 0;
  for (const double value : x) mean += value / x.size();
  for (const double value : x) variance += (value - mean) * (value - mean) / x.size();
  Row y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    y.push_back(weights.tensors.at(name + ".weight").values[i] * (x[i] - mean) / std::sqrt(variance + 1e-5) +
                weights.tensors.at(name + ".bias").values[i]);
  }
  return y;
}

Row Part(const Row& x, std::size_t part, std::size_t width) {
  return {x.begin() + static_cast<std::ptrdiff_t>(part * width),
          x.begin() + static_cast<std::ptrdiff_t>((part + 1) * width)};
}

double Dot(const Row& x, const Row& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

// One head's output: softmax of the scores, times the values.
Row Mixed(const Row& scores, const std::vector<Row>& values, std::size_t width) {
  Row sum(width, 0.0);
  double total = 0;
  for (std::size_t k = 0; k < scores.size(); ++k) {
    const double share = std::exp(scores[k] - *std::max_element(scores.begin(), scores.end()));
    total += share;
    for (std::size_t i = 0; i < width; ++i) sum[i] += share * values[k][i];
  }
  for (double& value : sum) value = total > 0 ? value / total : 0;
  return sum;
}

}  // namespace

int SlowRelation(const CostedGraph& costed, int i, int j) {
  if (HasEdge(costed, j, i)) return HasPath(costed, j, i, true) ? 2 : 0;
  if (HasEdge(costed, i, j)) return HasPath(costed, i, j, true) ? 3 : 1;
  if (HasPath(costed, j, i, false)) return 4;
  if (HasPath(costed, i, j, false)) return 5;
  return 6;
}

std::vector<Row> SlowTopoformer(const Weights& weights, const CostedGraph& costed, const GraphFeatures& graph,
                                const std::vector<StateFeatures::Link>& links, const Row& condition,
                                std::vector<Row> rows) {
  const std::size_t width = 16;
  std::map<std::pair<int, int>, int> relation;
  for (int i = 0; i < graph.num_groups; ++i) {
    for (int j = 0; j < graph.num_groups; ++j) relation[{i, j}] = SlowRelation(costed, i, j);
  }
  for (int l = 0; weights.tensors.contains("layer." + std::to_string(l) + ".join.weight"); ++l) {
    const std::string layer = "layer." + std::to_string(l);
    const std::size_t heads = static_cast<std::size_t>(weights.tensors.at(layer + ".join.weight").shape[1]) / width;
    std::vector<Row> q, k, v;
    for (const Row& row : rows) {
      const Row a = Norm(weights, layer + ".norm.0", row);
      q.push_back(SlowLinear(weights, layer + ".query", a));
      k.push_back(SlowLinear(weights, layer + ".key", a));
      v.push_back(SlowLinear(weights, layer + ".value", a));
    }
    const Row scale = SlowLinear(weights, layer + ".scale", condition);
    const Row shift = SlowLinear(weights, layer + ".shift", condition);
    for (int i = 0; i < graph.num_groups; ++i) {
      std::vector<Row> outputs;
      for (std::size_t r = 0; r < heads; ++r) {
        Row scores;
        std::vector<Row> values;
        const auto see = [&](int j, double more) {
          scores.push_back(Dot(Part(q[i], r, width), Part(k[j], r, width)) / 4 + more);
          values.push_back(Part(v[j], r, width));
        };
        for (int j = 0; j < graph.num_groups; ++j) {
          if (relation.at({i, j}) != static_cast<int>(r)) continue;
          see(j, r < 4 ? weights.tensors.at(layer + ".edge.weight").values[r] * EdgeFeature(graph, i, j) : 0);
        }
        for (const StateFeatures::Link& link : links) {
          if (r == 7 && link.behind == i) see(link.before, 0);
          if (r == 8 && link.before == i) see(link.behind, 0);
        }
        outputs.push_back(Mixed(scores, values, width));
      }
      rows[i] = Plus(rows[i], SlowLinear(weights, layer + ".join", Joined(outputs)));
      Row z = SlowLinear(weights, layer + ".first", Norm(weights, layer + ".norm.1", rows[i]));
      for (std::size_t n = 0; n < z.size(); ++n) z[n] = z[n] * (1 + scale[n]) + shift[n];
      rows[i] = Plus(rows[i], SlowLinear(weights, layer + ".out", Relu(z)));
    }
  }
  for (Row& row : rows) row = Norm(weights, "norm", row);
  return rows;
}

Row SlowPlace(const Weights& weights, const GraphFeatures& graph, const StateFeatures& state, int device) {
  const auto d = static_cast<std::size_t>(device);
  const Row known = Joined({RowOf(graph.devices, d, kDeviceFeatures), RowOf(state.devices, d, kStateDeviceFeatures)});
  return Relu(SlowLinear(weights, "place.1", Relu(SlowLinear(weights, "place.0", known))));
}

Observation CompletionsOf(const State& state, int group, const Observation& devices, double temperature) {
  Observation completions;
  completions.choices = devices.choices;
  Completions(state.environment(), temperature).Append(state, group, devices.choices, completions.features);
  for (const float value : completions.features)
    completions.priors.push_back(static_cast<float>(value * state.environment().num_groups() / temperature));
  return completions;
}

Row SlowJoint(const Weights& weights, const GraphFeatures& graph, const StateFeatures& state, const Row& embedding,
              const Row& condition, const Observation& devices, const Observation& completions) {
  Row logits;
  Row gain = SlowLinear(weights, "joint.gain", condition);
  for (double& value : gain) value = std::exp(std::clamp(value, -8.0, 8.0));
  for (std::size_t c = 0; c < devices.size(); ++c) {
    Row first = Plus(SlowLinear(weights, "joint.embed", embedding), SlowLinear(weights, "joint.condition", condition));
    first = Plus(first, SlowLinear(weights, "joint.place", SlowPlace(weights, graph, state, devices.choices[c])));
    first = Plus(first, SlowLinear(weights, "joint.features", RowOf(devices.features, c, kDeviceChoiceFeatures)));
    first = Plus(first, SlowLinear(weights, "joint.completions", RowOf(completions.features, c, kCompletions)));
    Row hidden = Relu(SlowLinear(weights, "joint.hidden", Relu(first)));
    for (std::size_t k = 0; k < hidden.size(); ++k) hidden[k] *= gain[k];
    logits.push_back(SlowLinear(weights, "joint.out", hidden)[0] + SlowPrior(weights, "joint", condition, devices, c) +
                     SlowPrior(weights, "completion", condition, completions, c));
  }
  return logits;
}

}  // namespace millrace::testing

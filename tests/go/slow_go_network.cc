// SPDX-License-Identifier: Apache-2.0
#include "tests/go/slow_go_network.h"

#include <algorithm>
#include <cmath>

#include "millrace/go/network.h"

namespace millrace::testing {
namespace {

Row Vector(const Weights& weights, const std::string& name) {
  const std::vector<float>& values = weights.tensors.at(name).values;
  return {values.begin(), values.end()};
}

Row Times(Row x, const Row& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= y[i];
  return x;
}

Row Norm(const Weights& weights, const std::string& name, const Row& x) {
  double mean = 0, variance = 0;
  for (const double v : x) mean += v / static_cast<double>(x.size());
  for (const double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
  Row result = x;
  for (double& v : result) v = (v - mean) / std::sqrt(variance + 1e-5);
  return Plus(Times(result, Vector(weights, name + ".weight")), Vector(weights, name + ".bias"));
}

Row Super(const Weights& weights, const std::string& name, const Row& condition) {
  Row factor = SlowLinear(weights, name, condition);
  for (double& v : factor) v += 1;
  return factor;
}

std::vector<Row> Layer(const Weights& weights, const std::string& name, const Row& condition, std::vector<Row> h) {
  const std::size_t n = h.size();
  std::vector<Row> q(n), k(n), v(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Row a = Times(Norm(weights, name + ".norm.0", h[i]), Super(weights, name + ".super.0", condition));
    q[i] = SlowLinear(weights, name + ".query", a);
    k[i] = SlowLinear(weights, name + ".key", a);
    v[i] = SlowLinear(weights, name + ".value", a);
  }
  for (std::size_t i = 0; i < n; ++i) {
    Row attended(kWidth, 0.0);
    for (std::size_t head = 0; head < kSegmentHeads; ++head) {
      double total = 0;
      Row sum(kAttention, 0.0);
      for (std::size_t j = 0; j < n; ++j) {
        if (j / kSegment != i / kSegment && j / kSegment + 1 != i / kSegment) continue;
        double score = 0;
        for (std::size_t x = head * kAttention; x < (head + 1) * kAttention; ++x) score += q[i][x] * k[j][x];
        const double weight = std::exp(score / std::sqrt(kAttention));
        total += weight;
        for (std::size_t x = 0; x < kAttention; ++x) sum[x] += weight * v[j][head * kAttention + x];
      }
      for (std::size_t x = 0; x < kAttention; ++x) attended[head * kAttention + x] = sum[x] / total;
    }
    h[i] = Plus(h[i], SlowLinear(weights, name + ".join", attended));
    const Row fed = Times(Norm(weights, name + ".norm.1", h[i]), Super(weights, name + ".super.1", condition));
    h[i] = Plus(h[i], SlowLinear(weights, name + ".out", Relu(SlowLinear(weights, name + ".first", fed))));
  }
  return h;
}

Row Pooled(const Weights& weights, const std::string& name, const std::vector<std::int32_t>& offsets,
           const std::vector<std::int32_t>& ends, const std::vector<float>& features, const std::vector<Row>& h,
           std::size_t row) {
  Row most(kMessage, 0.0);
  const Row edge = Vector(weights, name + ".edge.weight");
  for (std::int32_t e = offsets[row]; e < offsets[row + 1]; ++e) {
    Row message = SlowLinear(weights, name, h[static_cast<std::size_t>(ends[static_cast<std::size_t>(e)])]);
    for (std::size_t i = 0; i < message.size(); ++i) {
      message[i] += edge[i] * features[static_cast<std::size_t>(e)];
      most[i] = std::max(most[i], message[i]);
    }
  }
  return most;
}

Row Strengths(const Weights& weights, const std::string& head, const Row& condition) {
  Row strengths = SlowLinear(weights, head + ".strength", condition);
  for (double& s : strengths) s = std::exp(std::clamp(s, -8.0, 8.0));
  return strengths;
}

Row PlaceLogits(const Weights& weights, const GoProblem& problem, const GoFeatures& graph, const std::vector<Row>& u,
                const Row& c, const DecisionObservation& before) {
  const auto devices = static_cast<std::size_t>(problem.num_devices());
  const Row strengths = Strengths(weights, "place", c);
  Row logits;
  for (std::int32_t colocation = 0; colocation < problem.num_colocations(); ++colocation) {
    const auto rows = problem.RowsOf(colocation);
    for (std::size_t d = 0; d < devices; ++d) {
      double sum = 0;
      const Row device =
          SlowLinear(weights, "place.device.1",
                     Relu(SlowLinear(weights, "place.device.0", RowOf(graph.devices, d, kGoDeviceFeatures))));
      for (const std::int32_t row : rows) {
        const auto i = static_cast<std::size_t>(row);
        const Row first = Plus(
            Plus(SlowLinear(weights, "place.embed", u[i]), SlowLinear(weights, "place.condition", c)),
            Plus(device, SlowLinear(weights, "place.features", RowOf(before.places, i * devices + d, kPlaceFeatures))));
        sum += SlowLinear(weights, "place.out", Relu(SlowLinear(weights, "place.hidden", Relu(first)))).at(0);
        const Row priors = RowOf(before.place_priors, i * devices + d, kPlacePriors);
        for (std::size_t p = 0; p < priors.size(); ++p) sum += strengths[p] * priors[p];
      }
      const bool open = std::isfinite(problem.Seconds(rows.front(), static_cast<int>(d)));
      logits.push_back(open ? sum / static_cast<double>(rows.size()) : kClosedLogit);
    }
  }
  return logits;
}

Row LevelLogits(const Weights& weights, const std::string& head, const std::vector<Row>& u, const Row& c,
                const std::vector<float>& levels, const std::vector<float>& centres) {
  const Row strengths = Strengths(weights, head, c);
  Row logits;
  for (std::size_t i = 0; i < u.size(); ++i) {
    const Row first =
        Plus(Plus(SlowLinear(weights, head + ".embed", u[i]), SlowLinear(weights, head + ".condition", c)),
             SlowLinear(weights, head + ".features", RowOf(levels, i, kLevelFeatures)));
    const Row scores = SlowLinear(weights, head + ".out", Relu(SlowLinear(weights, head + ".hidden", Relu(first))));
    for (std::size_t level = 0; level < kLevels; ++level) {
      double logit = scores[level];
      for (std::size_t p = 0; p < kLevelPriors; ++p) {
        const double centre = centres[i * kLevelPriors + p];
        if (centre >= 0) logit -= strengths[p] * std::fabs(static_cast<double>(level) - centre);
      }
      logits.push_back(logit);
    }
  }
  return logits;
}

}  // namespace

SlowGoEmbedding SlowSage(const Weights& weights, const GoFeatures& graph) {
  const auto n = static_cast<std::size_t>(graph.num_rows);
  std::vector<Row> h;
  for (std::size_t i = 0; i < n; ++i)
    h.push_back(Relu(SlowLinear(weights, "input", RowOf(graph.ops, i, kGoOpFeatures))));
  for (int l = 0; l < kSageLayers; ++l) {
    const std::string name = "sage." + std::to_string(l);
    std::vector<Row> next = h;
    for (std::size_t i = 0; i < n; ++i) {
      const Row mixed = Joined({h[i],
                                Pooled(weights, name + ".forward", graph.predecessor_offsets, graph.predecessors,
                                       graph.predecessor_features, h, i),
                                Pooled(weights, name + ".backward", graph.successor_offsets, graph.successors,
                                       graph.successor_features, h, i)});
      next[i] = Plus(h[i], Relu(SlowLinear(weights, name + ".mix", mixed)));
    }
    h = next;
  }
  Row mean(kWidth, 0.0), most = h.front();
  for (const Row& row : h) {
    for (std::size_t x = 0; x < kWidth; ++x) {
      mean[x] += row[x] / static_cast<double>(n);
      most[x] = std::max(most[x], row[x]);
    }
  }
  SlowGoEmbedding embedding;
  const Row pooled = Joined({mean, most, Row(graph.global.begin(), graph.global.end())});
  embedding.condition = Relu(SlowLinear(weights, "condition.1", Relu(SlowLinear(weights, "condition.0", pooled))));
  for (int l = 0; l < kSegmentLayers; ++l) h = Layer(weights, "layer." + std::to_string(l), embedding.condition, h);
  for (const Row& row : h) embedding.states.push_back(Norm(weights, "norm", row));
  return embedding;
}

std::vector<Row> SlowIteration(const Weights& weights, const GoProblem& problem, const GoFeatures& graph,
                               const SlowGoEmbedding& embedding, const DecisionObservation& before,
                               const Decisions& decisions) {
  std::vector<Row> logits(kTasks.size());
  std::vector<Row> u = embedding.states;
  Decisions chosen;
  std::vector<float> described;
  for (const Task task : kTasks) {
    if (!decisions.Has(task)) continue;
    DescribeDecisions(problem, chosen, described);
    Row which(kTasks.size(), 0.0);
    which[static_cast<std::size_t>(task)] = 1;
    for (std::size_t i = 0; i < u.size(); ++i) {
      u[i] = Plus(Plus(u[i], SlowLinear(weights, "task.which", which)),
                  Plus(SlowLinear(weights, "task.before", RowOf(before.decisions, i, kDecisionFeatures)),
                       SlowLinear(weights, "task.chosen", RowOf(described, i, kDecisionFeatures))));
    }
    u = Layer(weights, "task", embedding.condition, u);
    Row& of_task = logits[static_cast<std::size_t>(task)];
    switch (task) {
      case Task::kPlacement:
        of_task = PlaceLogits(weights, problem, graph, u, embedding.condition, before);
        chosen.device = decisions.device;
        break;
      case Task::kPriority:
        of_task = LevelLogits(weights, "priority", u, embedding.condition, before.levels, before.priority_centres);
        chosen.priority = decisions.priority;
        break;
      case Task::kFusion:
        of_task = LevelLogits(weights, "fusion", u, embedding.condition, before.levels, before.fusion_centres);
        break;
    }
  }
  return logits;
}

}  // namespace millrace::testing

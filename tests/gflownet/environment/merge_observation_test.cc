// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/merge_observation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/plan/fusion_table.h"
#include "tests/reference/plain_problem.h"
#include "tests/reference/plain_row.h"
#include "tests/reference/random_problem.h"

// The features of an offered merge, each held against the plainest formula for it: from the graph and the cost model.
namespace millrace {
namespace {

using testing::ExpectRow;
using testing::PlainRow;
using testing::Squashed;

double Seconds(const CostModel& model, const std::vector<OpId>& ops, int device) {
  return model.GroupSeconds(ops, device);
}

// Mean of the finite ones; 1 where they are all 0.
double MeanOrOne(const std::vector<double>& numbers) {
  double sum = 0, count = 0;
  for (const double number : numbers) {
    if (!std::isinf(number)) sum += number, count += 1;
  }
  return sum > 0 ? sum / count : 1;
}

bool Has(const std::vector<OpId>& ops, OpId op) { return std::find(ops.begin(), ops.end(), op) != ops.end(); }

struct PlainMerge {
  PlainMerge(const FusionState& state, const CostModel& model) : graph(model.graph()), offer(state.offer()) {
    for (const OpId op : state.union_ops()) {
      fused.push_back(op);
      (state.GroupOf(op) == state.GroupOf(offer.producer) ? first : second).push_back(op);
    }
    std::vector<double> seconds;
    for (OpId op = 0; op < graph.num_ops(); ++op) {
      for (int d = 0; d < state.problem().num_devices(); ++d) seconds.push_back(Seconds(model, {op}, d));
    }
    mean_seconds = MeanOrOne(seconds);
    for (int d = 0; d < state.problem().num_devices(); ++d) {
      const double saved = Seconds(model, first, d) + Seconds(model, second, d) - Seconds(model, fused, d);
      if (std::isnan(saved) || std::isinf(saved) || std::isinf(Seconds(model, fused, d))) continue;
      most_saved = std::max(most_saved, saved);
      if (best < 0 || Seconds(model, fused, d) < Seconds(model, fused, best)) best = d;
    }
  }

  // Bytes that only the consumer's group reads of what the producer's group makes.
  double BytesBetween() const {
    double bytes = 0;
    for (const Tensor& tensor : graph.tensors()) {
      bool crosses = false, leaves = tensor.output;
      for (const OpId reader : tensor.consumers) {
        crosses = crosses || Has(second, reader);
        leaves = leaves || !Has(fused, reader);
      }
      bytes += Has(first, tensor.producer) && crosses && !leaves ? tensor.bytes : 0;
    }
    return bytes;
  }

  const ComputationGraph& graph;
  const Merge offer;
  std::vector<OpId> first, second, fused;
  double mean_seconds = 1, most_saved = -std::numeric_limits<double>::infinity();
  int best = -1;  // the union's fastest device; -1: none
};

PlainRow<MergeFeature> Plain(const FusionState& state, const CostModel& model) {
  using F = MergeFeature;
  const PlainMerge merge(state, model);
  const ComputationGraph& graph = model.graph();
  std::vector<double> bytes;
  for (const Tensor& tensor : graph.tensors()) bytes.push_back(tensor.bytes);
  const auto seconds = [&](const std::vector<OpId>& ops) {
    return merge.best < 0 ? 0 : Seconds(model, ops, merge.best) / merge.mean_seconds;
  };
  const double saved = seconds(merge.first) + seconds(merge.second) - seconds(merge.fused);
  const bool anchor = std::any_of(merge.fused.begin(), merge.fused.end(),
                                  [&](OpId op) { return FusionRoleOf(graph.op(op).type) == FusionRole::kAnchor; });
  const double candidates = static_cast<double>(state.problem().candidates().size());
  return {{F::kSaved, Squashed(saved)},
          {F::kMostSaved, merge.best < 0 ? 0 : Squashed(merge.most_saved / merge.mean_seconds)},
          {F::kBytesSaved, Squashed(merge.BytesBetween() / MeanOrOne(bytes))},
          {F::kSeconds, Squashed(seconds(merge.fused))},
          {F::kProducerSeconds, Squashed(seconds(merge.first))},
          {F::kConsumerSeconds, Squashed(seconds(merge.second))},
          {F::kProducerSize, static_cast<double>(merge.first.size()) / 16},
          {F::kConsumerSize, static_cast<double>(merge.second.size()) / 16},
          {F::kHasAnchor, anchor ? 1 : 0},
          {F::kReaders, std::log(1.0 + static_cast<double>(graph.Successors(merge.offer.producer).size()))},
          {F::kProducers, std::log(1.0 + static_cast<double>(graph.Predecessors(merge.offer.consumer).size()))},
          {F::kPassed, static_cast<double>(state.candidates_passed()) / candidates}};
}

TEST(MergeObservation, IsWhatThePlainFormulasSay) {
  int offers = 0;
  for (int seed = 0; seed < 300; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const testing::RandomProblemOptions options;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    const std::unique_ptr<CostModel> model = MakeAnalyticCostModel(graph, machine);
    const FusionProblem problem(*model);
    MergeObserver observer(problem);
    MergeObservation observation;
    for (FusionState state(problem); !state.done(); ++offers) {
      observer.Observe(state, observation);
      ExpectRow<MergeFeature>(
          observation.features, Plain(state, *model), 1e-5,
          "seed " + std::to_string(seed) + ", candidate " + std::to_string(state.candidates_passed()));
      if (random.Below(3) > 0)
        state.Accept();
      else
        state.Decline();
    }
  }
  EXPECT_GT(offers, 500);
}

}  // namespace
}  // namespace millrace

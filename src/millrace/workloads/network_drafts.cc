// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "millrace/workloads/task_families.h"
#include "millrace/workloads/undirected_graph.h"

namespace millrace {
namespace {

constexpr double kHalf = 0.5;

// One stage of randwire behind `input`: its last op.
OpId AddRandomStage(std::int32_t nodes, int stage, OpId input, Random& random, TaskDraft& draft) {
  constexpr double kNeighbours = 4;
  constexpr double kRewired = 0.75;
  const double size = std::pow(kHalf, stage);
  const OpId first = draft.Add("StageInput", stage, 0.1, size);
  draft.Link(input, first);
  for (std::int32_t node = 0; node < nodes; ++node) draft.Add("Node", stage, 1, size);
  std::vector<char> reads(static_cast<std::size_t>(nodes), 0), is_read(reads);
  for (const auto& [a, b] : DrawWattsStrogatz(nodes, kNeighbours, kRewired, random)) {
    const auto [from, to] = std::minmax(a, b);
    draft.Link(first + 1 + from, first + 1 + to);
    reads[static_cast<std::size_t>(to)] = is_read[static_cast<std::size_t>(from)] = 1;
  }
  const OpId last = draft.Add("StageMean", stage, 0.1, size);
  for (std::int32_t node = 0; node < nodes; ++node) {
    if (reads[static_cast<std::size_t>(node)] == 0) draft.Link(first, first + 1 + node);
    if (is_read[static_cast<std::size_t>(node)] == 0) draft.Link(first + 1 + node, last);
  }
  return last;
}

constexpr int kBlocks = 5;
constexpr std::int64_t kCellOps = 2 + 3 * kBlocks + 1;

struct CellOp {
  const char* type;
  double work;
};

// Two ops on results of the cell so far: 0 and 1 are its inputs, 2 + b is block b.
struct CellBlock {
  std::array<CellOp, 2> ops;
  std::array<std::size_t, 2> reads;
};

using DrawnCell = std::array<CellBlock, kBlocks>;

DrawnCell DrawCell(Random& random) {
  constexpr std::array<CellOp, 6> kKinds = {{{"Separable3x3", 1},
                                             {"Separable5x5", 1.6},
                                             {"Separable7x7", 2.2},
                                             {"AveragePool3x3", 0.2},
                                             {"MaxPool3x3", 0.2},
                                             {"Conv1x1", 0.6}}};
  DrawnCell cell;
  for (std::size_t block = 0; block < cell.size(); ++block) {
    for (std::size_t side = 0; side < 2; ++side) {
      cell[block].ops[side] = kKinds[random.Below(kKinds.size())];
      cell[block].reads[side] = random.Below(block + 2);
    }
  }
  return cell;
}

// The cell behind two results: what it makes.
OpId AddCell(const DrawnCell& cell, int layer, double size, OpId before_last, OpId last, TaskDraft& draft) {
  std::vector<OpId> results;
  for (const OpId input : {before_last, last}) {
    results.push_back(draft.Add("Adjust", layer, 0.6, size));
    draft.Link(input, results.back());
  }
  std::vector<char> is_read(2 + cell.size(), 0);
  for (const CellBlock& block : cell) {
    std::array<OpId, 2> sides{};
    for (std::size_t side = 0; side < 2; ++side) {
      sides[side] = draft.Add(block.ops[side].type, layer, block.ops[side].work, size);
      draft.Link(results[block.reads[side]], sides[side]);
      is_read[block.reads[side]] = 1;
    }
    results.push_back(draft.Add("BlockSum", layer, 0.1, size));
    for (const OpId side : sides) draft.Link(side, results.back());
  }
  const OpId joined = draft.Add("CellConcat", layer, 0.1, 2 * size);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (is_read[i] == 0) draft.Link(results[i], joined);
  }
  return joined;
}

// Tokens of each expert where every token goes to two different ones.
std::vector<double> DrawLoads(std::size_t experts, Random& random) {
  constexpr std::size_t kTokensPerExpert = 32;
  std::vector<double> popularity(experts);  // running sums
  double sum = 0;
  for (double& entry : popularity) entry = sum += -std::log1p(-random.Uniform()) + 0.1;
  const auto draw = [&] {
    const auto found = std::upper_bound(popularity.begin(), popularity.end(), random.Uniform() * sum);
    return std::min(static_cast<std::size_t>(found - popularity.begin()), experts - 1);
  };
  std::vector<double> loads(experts, 1);  // an expert without tokens still runs
  for (std::size_t token = 0; token < kTokensPerExpert * experts; ++token) {
    const std::size_t first = draw();
    std::size_t second = draw();
    while (second == first) second = draw();
    ++loads[first];
    ++loads[second];
  }
  for (double& load : loads) load /= 2 * kTokensPerExpert;
  return loads;
}

}  // namespace

void DraftRandwire(std::int64_t ops, Random& random, TaskDraft& draft) {
  constexpr std::int64_t kStageOps = 32 + 2;
  const std::int64_t inside = std::max<std::int64_t>(ops - 2, 3);  // without stem and head; a stage has a node at least
  const std::int64_t stages = std::max<std::int64_t>(1, (inside + kStageOps / 2) / kStageOps);
  OpId last = draft.Add("Stem", 0, 1, 2);
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    const std::int64_t stage_ops = inside * (stage + 1) / stages - inside * stage / stages;
    last = AddRandomStage(static_cast<std::int32_t>(stage_ops - 2), static_cast<int>(stage), last, random, draft);
  }
  draft.Link(last, draft.Add("Head", static_cast<int>(stages), 1, 0.1));
}

void DraftNasCells(std::int64_t ops, Random& random, TaskDraft& draft) {
  const std::int64_t cells = NearestSize(ops, 1, [](std::int64_t n) { return 2 + kCellOps * n; });
  const DrawnCell normal = DrawCell(random);
  const DrawnCell reduction = DrawCell(random);
  const std::int64_t third = std::max<std::int64_t>(1, (cells + 1) / 3);  // normal cells, then one reduction
  OpId before_last = draft.Add("Stem", 0, 1, 2);
  OpId last = before_last;
  double size = 1;
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    const bool reduces = cell % third == third - 1 && cell + 1 < cells && third > 1;
    if (reduces) size *= kHalf;
    const OpId next = AddCell(reduces ? reduction : normal, static_cast<int>(cell), size, before_last, last, draft);
    before_last = last;
    last = next;
  }
  draft.Link(last, draft.Add("Head", static_cast<int>(cells), 1, 0.1));
}

void DraftMixtureOfExperts(std::int64_t ops, Random& random, TaskDraft& draft) {
  const double power = std::round(std::log2(std::sqrt(static_cast<double>(ops))));
  const std::int64_t experts = std::clamp<std::int64_t>(std::int64_t{1} << static_cast<int>(power), 4, 128);
  const std::int64_t layers = NearestSize(ops, 1, [&](std::int64_t n) { return 2 + n * (experts + 3); });
  OpId last = draft.Add("Embed", 0, 0.5);
  for (std::int64_t i = 0; i < layers; ++i) {
    const int layer = static_cast<int>(i);
    const OpId attention = draft.Add("Attention", layer, 1);
    draft.Link(last, attention);
    const OpId router = draft.Add("Router", layer, 0.1);
    draft.Link(attention, router);
    const std::vector<double> loads = DrawLoads(static_cast<std::size_t>(experts), random);
    const auto share = static_cast<double>(2) / static_cast<double>(experts);  // of all tokens, at a mean load
    const OpId first = router + 1;
    for (const double load : loads) draft.Send(router, draft.Add("Expert", layer, load, load * share), load * share);
    last = draft.Add("Combine", layer, 0.2);
    for (OpId expert = first; expert < last; ++expert) draft.Link(expert, last);
    draft.Link(attention, last);
  }
  draft.Link(last, draft.Add("Head", static_cast<int>(layers), 1));
}

void DraftSkipPipeline(std::int64_t ops, TaskDraft& draft) {
  constexpr int kMostHalvings = 6;
  const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(ops)));
  const std::int64_t levels = std::max<std::int64_t>(1, root / 2);
  const std::int64_t stages = 2 * levels + 1;
  const std::int64_t batches = NearestSize(ops, 1, [&](std::int64_t n) { return n * stages; });
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    std::vector<OpId> made;  // by stage
    for (std::int64_t stage = 0; stage < stages; ++stage) {
      const std::int64_t level = std::min(stage, stages - 1 - stage);
      const char* type = stage < levels ? "Encode" : stage == levels ? "Middle" : "Decode";
      const double size = std::pow(kHalf, std::min<std::int64_t>(level, kMostHalvings));
      const OpId op = draft.Add(type, static_cast<int>(stage), stage > levels ? 2 : 1, size);
      draft.Colocate(op, "stage" + std::to_string(stage));
      if (stage > 0) draft.Link(made.back(), op);
      if (stage > levels) draft.Link(made[static_cast<std::size_t>(level)], op);
      made.push_back(op);
    }
  }
}

}  // namespace millrace

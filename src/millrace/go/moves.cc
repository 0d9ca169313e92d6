// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/moves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "millrace/go/decoder.h"
#include "millrace/go/move_features.h"
#include "millrace/go/network.h"
#include "millrace/go/sampler.h"
#include "millrace/graph/index.h"

namespace millrace {

std::vector<double> BlockLogits(const GoProblem& problem, const GoBlocks& blocks, std::span<const float> logits) {
  const auto devices = Index(problem.num_devices());
  std::vector<double> of_blocks(Index(blocks.count()) * devices, 0.0);
  for (std::int32_t block = 0; block < blocks.count(); ++block) {
    double rows = 0;
    for (const std::int32_t colocation : blocks.ColocationsOf(block)) {
      const auto weight = static_cast<double>(problem.RowsOf(colocation).size());
      rows += weight;
      for (std::size_t d = 0; d < devices; ++d)
        of_blocks[Index(block) * devices + d] += weight * logits[Index(colocation) * devices + d];
    }
    for (std::size_t d = 0; d < devices; ++d) of_blocks[Index(block) * devices + d] /= rows;
  }
  return of_blocks;
}

std::vector<GoMove> MovesOf(const GoProblem& problem, const GoBlocks& blocks, std::span<const double> logits,
                            std::span<const std::int32_t> device_of, double softmax_temperature, Random& random) {
  const int devices = problem.num_devices();
  const std::vector<int> now = DevicesOfBlocks(problem, blocks, device_of);
  std::vector<GoMove> moves;
  std::vector<double> scores(Index(devices));
  for (std::int32_t block = 0; block < blocks.count(); ++block) {
    for (int d = 0; d < devices; ++d) {
      scores[Index(d)] = logits[Index(block) * Index(devices) + Index(d)];
      if (softmax_temperature > 0) scores[Index(d)] += softmax_temperature * random.Gumbel();
    }
    const int here = now[Index(block)];
    const double stay = scores[Index(here)];
    scores[Index(here)] = -std::numeric_limits<double>::infinity();
    const auto most = static_cast<int>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    const double sureness = scores[Index(most)] - stay;
    if (most != here && sureness > kClosedLogit / 2) moves.push_back({block, most, sureness});
  }
  std::stable_sort(moves.begin(), moves.end(),
                   [](const GoMove& a, const GoMove& b) { return a.sureness > b.sureness; });
  return moves;
}

GoMoveProposer::GoMoveProposer(const GoProblem& problem, const CostedGraph& fused, const PreparedGoPolicy& policy,
                               const GoMoveOptions& options)
    : problem_(problem),
      fused_(fused),
      softmax_temperature_(options.softmax_temperature),
      pass_(policy.MakePass(LoopOf(options.threads))) {
  for (GoBlocks& blocks : MakeGoBlocks(problem, fused, options.fewest_blocks)) {
    Level level;
    level.groups = GroupsByBlock(problem, fused, blocks);
    level.blocks = std::move(blocks);
    levels_.push_back(std::move(level));
  }
}

std::vector<PlacementMove> GoMoveProposer::Propose(const Assignment& plan, Random& random) {
  const Level& level = levels_[next_level_];
  next_level_ = (next_level_ + 1) % levels_.size();
  Decisions placed;
  placed.device = DevicesByColocation(problem_, fused_, plan.placement);
  ObserveMoves(problem_, placed, fused_, plan, level.blocks, observation_);
  pass_.Begin(observation_);
  const std::vector<double> logits = BlockLogits(problem_, level.blocks, pass_.Score(Task::kPlacement, {}));
  std::vector<PlacementMove> moves;
  for (const GoMove& move : MovesOf(problem_, level.blocks, logits, placed.device, softmax_temperature_, random))
    moves.push_back({level.groups[Index(move.block)], move.device});
  return moves;
}

PlacementSearchOptions SearchWithGo(GoMoveProposer& proposer, int looks) {
  PlacementSearchOptions search;
  search.proposer = &proposer;
  search.evaluations = std::int64_t{search.tries} * looks;
  search.first_temperature_share = 0.004;
  search.last_temperature_share = 0.0002;
  return search;
}

}  // namespace millrace

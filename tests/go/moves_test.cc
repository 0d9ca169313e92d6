// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include "millrace/fusion/greedy_fusion.h"
#include "millrace/go/block_paths.h"
#include "millrace/go/move_features.h"
#include "millrace/go/network.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/timeline.h"
#include "tests/go/go_case.h"
#include "tests/reference/plain_problem.h"
#include "tests/reference/plain_row.h"
#include "tests/reference/shaken_weights.h"

// Moves of blocks: what a block is, what the policy is told of it, and that moves only ever help.
namespace millrace::testing {
namespace {

constexpr int kCases = 60;

CostedGraph GreedilyFused(const GoCase& of) { return MakeCostedGraph(*of.model, GreedyFusion(of.graph)); }

Decisions Placed(const GoProblem& problem, Random& random) {
  Decisions decisions = RandomDecisions(problem, random, true);
  decisions.priority.clear();
  decisions.fusion.clear();
  return decisions;
}

GoPolicy AnyPolicy(Random& random) { return GoPolicy(Shaken(InitialGoMoveWeights(random), random, 0.1)); }

TEST(GoBlocks, ArePartitionsThatNeverCutAGroupAndComeFromFineToCoarse) {
  Random random(1);
  for (int i = 0; i < kCases; ++i) {
    const std::unique_ptr<GoCase> of = OddCase(random);
    const CostedGraph costed = GreedilyFused(*of);
    const std::vector<int> fewest = {4, 0};
    const std::vector<GoBlocks> levels = MakeGoBlocks(of->problem, costed, fewest);
    ASSERT_GE(levels.size(), 1u);
    for (const GoBlocks& blocks : levels) {
      std::multiset<std::int32_t> seen;
      for (std::int32_t block = 0; block < blocks.count(); ++block) {
        EXPECT_FALSE(blocks.ColocationsOf(block).empty());
        for (const std::int32_t colocation : blocks.ColocationsOf(block)) {
          EXPECT_EQ(blocks.block_of[static_cast<std::size_t>(colocation)], block);
          seen.insert(colocation);
        }
      }
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(of->problem.num_colocations()));
      for (const std::vector<OpId>& group : costed.groups) {
        const auto block_of = [&](OpId op) {
          return blocks.block_of[static_cast<std::size_t>(of->problem.ColocationOf(of->problem.RowOf(op)))];
        };
        for (const OpId op : group) EXPECT_EQ(block_of(op), block_of(group.front()));
      }
    }
    EXPECT_LE(levels.front().count(), levels.back().count());
  }
}

TEST(GoBlocks, LevelsThatComeToTheSameAreThereOnce) {
  Random random(2);
  const std::unique_ptr<GoCase> of = OddCase(random);
  const std::vector<int> fewest = {1'000'000, 0, 0};
  EXPECT_EQ(MakeGoBlocks(of->problem, GreedilyFused(*of), fewest).size(), 1u);
}

TEST(MoveFeatures, OfABlockAreThoseOfThePlainestFormulas) {
  Random random(3);
  for (int i = 0; i < kCases; ++i) {
    const std::unique_ptr<GoCase> of = OddCase(random);
    const GoProblem& problem = of->problem;
    const CostedGraph& costed = problem.costed();
    const std::vector<int> fewest = {3};
    const GoBlocks blocks = MakeGoBlocks(problem, GreedilyFused(*of), fewest).front();
    const Decisions placed = Placed(problem, random);
    DecisionObservation told, plain;
    const CostedGraph fused = GreedilyFused(*of);
    const Assignment plan = GoDecoder(problem, fused).Decode(placed).assignment;
    ObserveMoves(problem, placed, fused, plan, blocks, told);
    ObserveDecisions(problem, placed, plain);
    EXPECT_EQ(told.levels, plain.levels);
    BlockPaths paths(fused, plan);
    const double makespan = paths.timeline().makespan;
    const std::vector<int> devices_now = DevicesOfBlocks(problem, blocks, placed.device);
    std::vector<std::int32_t> block_of_group;
    for (const std::vector<OpId>& group : fused.groups)
      block_of_group.push_back(
          blocks.block_of[static_cast<std::size_t>(problem.ColocationOf(problem.RowOf(group.front())))]);
    const std::vector<double> room = paths.Room(block_of_group, blocks.count(), 0.04 * makespan);
    const auto colocation_of = [&](OpId op) {
      return static_cast<std::size_t>(problem.ColocationOf(problem.RowOf(op)));
    };
    const auto device_of = [&](OpId op) { return placed.device[colocation_of(op)]; };
    double all = 0;
    for (OpId op = 0; op < problem.num_rows(); ++op) all += costed.Seconds(op, device_of(op));
    const double even = all > 0 ? all / costed.num_devices : 1;
    for (std::int32_t row = 0; row < problem.num_rows(); ++row) {
      const OpId own = problem.order()[static_cast<std::size_t>(row)];
      const std::int32_t block = blocks.block_of[colocation_of(own)];
      const auto inside = [&](OpId op) { return blocks.block_of[colocation_of(op)] == block; };
      std::vector<std::int32_t> groups;
      double slack = makespan;
      for (const int group : plan.sequence) {
        if (!inside(fused.groups[static_cast<std::size_t>(group)].front())) continue;
        groups.push_back(group);
        slack = std::min(slack, paths.Slack(group));
      }
      const double late = std::exp(-100 * slack / makespan);
      EXPECT_NEAR(RowAt<MoveRowFeature>(std::as_const(told.decisions),
                                        static_cast<std::size_t>(row))[MoveRowFeature::kBlockRoom],
                  makespan > 0 ? room[static_cast<std::size_t>(block)] / (0.04 * makespan) : 0, 1e-5);
      for (int device = 0; device < costed.num_devices; ++device) {
        if (!std::isfinite(problem.Seconds(row, device))) continue;
        double load = 0, in = 0, in_there = 0, out = 0, out_there = 0;
        for (OpId op = 0; op < problem.num_rows(); ++op) {
          const bool moves = inside(op) && std::isfinite(costed.Seconds(op, device));
          const int where = moves ? device : device_of(op);
          // What of the block cannot run there counts as long as it takes now.
          if (inside(op)) {
            load += moves ? costed.Seconds(op, device) : costed.Seconds(op, device_of(op));
          } else if (where == device) {
            load += costed.Seconds(op, device);
          }
          for (const GroupEdge& edge : costed.Predecessors(op)) {
            if (inside(op) == inside(edge.group)) continue;
            if (inside(op)) {
              in += edge.bytes + 1;
              in_there += device_of(edge.group) == device ? edge.bytes + 1 : 0;
            } else {
              out += edge.bytes + 1;
              out_there += device_of(op) == device ? edge.bytes + 1 : 0;
            }
          }
        }
        const std::size_t at = static_cast<std::size_t>(row) * static_cast<std::size_t>(costed.num_devices) +
                               static_cast<std::size_t>(device);
        const auto f = RowAt<MovePlaceFeature>(std::as_const(told.places), at);
        EXPECT_NEAR(f[MovePlaceFeature::kBlockInput], in > 0 ? in_there / in : 0, 1e-5);
        EXPECT_NEAR(f[MovePlaceFeature::kBlockOutput], out > 0 ? out_there / out : 0, 1e-5);
        EXPECT_NEAR(f[MovePlaceFeature::kBlockLoad], Squashed(load / even - 1), 1e-4);
        const auto runs = [&](int on) {
          return std::all_of(groups.begin(), groups.end(), [&](int g) { return std::isfinite(fused.Seconds(g, on)); });
        };
        if (!(makespan > 0) || !runs(device)) continue;
        const double above = 50 * (paths.Longest(groups, device) / makespan - 1);
        EXPECT_NEAR(f[MovePlaceFeature::kBlockPath], Squashed(above), 1e-4);
        const int here = devices_now[static_cast<std::size_t>(block)];
        if (runs(here)) {
          const double grows = 50 * (paths.Longest(groups, device) - paths.Longest(groups, here)) / makespan;
          EXPECT_NEAR(f[MovePlaceFeature::kBlockPathGrows], Squashed(grows), 1e-4);
        }
        const double could = 50 * room[static_cast<std::size_t>(block)] / makespan;
        const double likely = std::clamp(above < 0 ? -std::min(-above * late, could) : above, -2.0, 2.0);
        EXPECT_NEAR(RowAt<MovePrior>(std::as_const(told.place_priors), at)[MovePrior::kBlockPath],
                    device == here ? 0 : -likely, 1e-4);
      }
    }
  }
}

TEST(MoveFeatures, SlackIsNoneSomewhereAndNeverBelow) {
  Random random(4);
  for (int i = 0; i < kCases; ++i) {
    const std::unique_ptr<GoCase> of = OddCase(random);
    const std::vector<int> fewest = {3};
    const GoBlocks blocks = MakeGoBlocks(of->problem, GreedilyFused(*of), fewest).front();
    DecisionObservation told;
    const CostedGraph fused = GreedilyFused(*of);
    const Decisions placed = Placed(of->problem, random);
    ObserveMoves(of->problem, placed, fused, GoDecoder(of->problem, fused).Decode(placed).assignment, blocks, told);
    float least = 1;
    for (int row = 0; row < of->problem.num_rows(); ++row) {
      const auto f = RowAt<MoveRowFeature>(std::as_const(told.decisions), static_cast<std::size_t>(row));
      EXPECT_GE(f[MoveRowFeature::kSlack], 0);
      EXPECT_LE(f[MoveRowFeature::kStart] + f[MoveRowFeature::kSlack], 1 + 1e-5);
      least = std::min(least, f[MoveRowFeature::kSlack]);
    }
    EXPECT_NEAR(least, 0, 1e-6);
  }
}

TEST(BlockLogits, AreMeansOverTheRowsOfTheirColocations) {
  Random random(5);
  for (int i = 0; i < kCases; ++i) {
    const std::unique_ptr<GoCase> of = OddCase(random);
    const GoProblem& problem = of->problem;
    const std::vector<int> fewest = {3};
    const GoBlocks blocks = MakeGoBlocks(problem, GreedilyFused(*of), fewest).front();
    std::vector<float> logits(static_cast<std::size_t>(problem.num_colocations() * problem.num_devices()));
    for (float& logit : logits) logit = static_cast<float>(random.Normal());
    const std::vector<double> of_blocks = BlockLogits(problem, blocks, logits);
    for (std::int32_t block = 0; block < blocks.count(); ++block) {
      for (int d = 0; d < problem.num_devices(); ++d) {
        double sum = 0, rows = 0;
        for (std::int32_t row = 0; row < problem.num_rows(); ++row) {
          const std::int32_t colocation = problem.ColocationOf(row);
          if (blocks.block_of[static_cast<std::size_t>(colocation)] != block) continue;
          sum += logits[static_cast<std::size_t>(colocation * problem.num_devices() + d)];
          ++rows;
        }
        EXPECT_NEAR(of_blocks[static_cast<std::size_t>(block * problem.num_devices() + d)], sum / rows, 1e-5);
      }
    }
  }
}

TEST(MovesOf, NamesEveryBlockOnceWithAnotherDeviceTheSurestFirst) {
  Random random(6);
  for (int i = 0; i < kCases; ++i) {
    const std::unique_ptr<GoCase> of = OddCase(random);
    const GoProblem& problem = of->problem;
    const std::vector<int> fewest = {3};
    const GoBlocks blocks = MakeGoBlocks(problem, GreedilyFused(*of), fewest).front();
    const Decisions placed = Placed(problem, random);
    std::vector<double> logits(static_cast<std::size_t>(blocks.count() * problem.num_devices()));
    for (double& logit : logits) logit = random.Normal();
    const std::vector<int> now = DevicesOfBlocks(problem, blocks, placed.device);
    for (const double temperature : {0.0, 0.7}) {
      const std::vector<GoMove> moves = MovesOf(problem, blocks, logits, placed.device, temperature, random);
      EXPECT_EQ(moves.size(), problem.num_devices() > 1 ? static_cast<std::size_t>(blocks.count()) : 0u);
      std::set<std::int32_t> seen;
      for (std::size_t m = 0; m < moves.size(); ++m) {
        EXPECT_TRUE(seen.insert(moves[m].block).second);
        EXPECT_NE(moves[m].device, now[static_cast<std::size_t>(moves[m].block)]);
        EXPECT_LE(moves[m].sureness, moves[m == 0 ? 0 : m - 1].sureness);
      }
    }
  }
}

// A move is surer than staying as often as the softmax of the logits says that a draw is another device, and goes to
// each of the others as often as their share of it says.
TEST(MovesOf, DrawsDevicesFromTheSoftmaxOfTheLogits) {
  Random random(16);
  std::unique_ptr<GoCase> of = OddCase(random);
  while (of->problem.num_devices() < 3) of = OddCase(random);
  const GoProblem& problem = of->problem;
  const auto devices = static_cast<std::size_t>(problem.num_devices());
  const std::vector<int> fewest = {3};
  const GoBlocks blocks = MakeGoBlocks(problem, GreedilyFused(*of), fewest).front();
  const Decisions placed = Placed(problem, random);
  const auto here = static_cast<std::size_t>(DevicesOfBlocks(problem, blocks, placed.device).front());
  std::vector<double> logits(static_cast<std::size_t>(blocks.count()) * devices);
  for (double& logit : logits) logit = 0.5 * random.Normal();
  constexpr double kTemperature = 0.7;
  std::vector<double> chances;
  double sum = 0;
  for (std::size_t d = 0; d < devices; ++d) {
    chances.push_back(std::exp(logits[d] / kTemperature));
    sum += chances.back();
  }
  constexpr int kDraws = 20000;
  std::vector<double> times(devices, 0);
  int moved = 0;
  for (int i = 0; i < kDraws; ++i) {
    for (const GoMove& move : MovesOf(problem, blocks, logits, placed.device, kTemperature, random)) {
      if (move.block != 0) continue;
      times[static_cast<std::size_t>(move.device)] += 1.0 / kDraws;
      moved += move.sureness > 0 ? 1 : 0;
    }
  }
  EXPECT_NEAR(static_cast<double>(moved) / kDraws, 1 - chances[here] / sum, 0.02);
  for (std::size_t d = 0; d < devices; ++d)
    EXPECT_NEAR(times[d], d == here ? 0 : chances[d] / (sum - chances[here]), 0.02) << d;
}

TEST(GoMoveProposer, ProposesBlocksOfOneLevelAfterTheOtherAndTheSameOnesEachTime) {
  Random random(7);
  std::size_t proposed = 0;
  for (int i = 0; i < kCases; ++i) {
    const std::unique_ptr<GoCase> of = OddCase(random);
    const GoProblem& problem = of->problem;
    const CostedGraph fused = GreedilyFused(*of);
    const Decisions placed = Placed(problem, random);
    const Assignment plan = GoDecoder(problem, fused).Decode(placed).assignment;
    const GoPolicy policy = AnyPolicy(random);
    const PreparedGoPolicy prepared = policy.Prepare(problem);
    GoMoveOptions options;
    options.fewest_blocks = {3, 0};
    options.softmax_temperature = i % 2 == 0 ? 0.5 : 0;
    const std::vector<GoBlocks> levels = MakeGoBlocks(problem, fused, options.fewest_blocks);
    GoMoveProposer one(problem, fused, prepared, options), other(problem, fused, prepared, options);
    Random own(8), same(8);
    for (std::size_t look = 0; look < 2 * levels.size(); ++look) {
      const GoBlocks& blocks = levels[look % levels.size()];
      const std::vector<PlacementMove> moves = one.Propose(plan, own);
      const std::vector<PlacementMove> again = other.Propose(plan, same);
      ASSERT_EQ(moves.size(), again.size());
      proposed += moves.size();
      std::set<std::int32_t> moved;
      for (std::size_t m = 0; m < moves.size(); ++m) {
        EXPECT_TRUE(
            std::equal(moves[m].groups.begin(), moves[m].groups.end(), again[m].groups.begin(), again[m].groups.end()));
        EXPECT_EQ(moves[m].device, again[m].device);
        for (const std::int32_t group : moves[m].groups) {
          EXPECT_TRUE(moved.insert(group).second);
          const auto block_of = [&](std::int32_t of_group) {
            const OpId op = fused.groups[static_cast<std::size_t>(of_group)].front();
            return blocks.block_of[static_cast<std::size_t>(problem.ColocationOf(problem.RowOf(op)))];
          };
          EXPECT_EQ(block_of(group), block_of(moves[m].groups.front()));
        }
      }
    }
  }
  EXPECT_GT(proposed, 10u * kCases);
}

}  // namespace
}  // namespace millrace::testing

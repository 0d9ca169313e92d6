// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/placement_search.h"

#include <gtest/gtest.h>

#include <exception>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/heuristics/placements.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/contention.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

PlacementSearchOptions Tries(std::int64_t evaluations) {
  PlacementSearchOptions options;
  options.evaluations = evaluations;
  return options;
}

// Of ops that may run anywhere, each by itself.
ComputationGraph PlainGraph(Random& random, int most_ops) {
  testing::RandomProblemOptions options;
  options.most_ops = most_ops;
  options.kinds = options.gangs = options.colocate = false;
  return testing::RandomGraph(random, options);
}

CostedGraph OpsApart(const ComputationGraph& graph, const Machine& machine) {
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
}

TEST(PlacementSearch, FindsValidPlansThatFitAndTakeWhatItSays) {
  Random random(1);
  int found = 0;
  for (int i = 0; i < 120; ++i) {
    testing::RandomProblemOptions options;
    options.memory = i % 2 == 0;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    CostedGraph costed;
    try {
      costed = OpsApart(graph, machine);
    } catch (const std::exception&) {
      continue;  // what must share a device can run nowhere
    }
    Random own(static_cast<std::uint64_t>(i));
    const std::optional<FoundPlacement> best = SearchPlacement(costed, Tries(60), own);
    if (!best) continue;
    ++found;
    ASSERT_EQ(WhyNotValid(graph, machine, {costed.groups, best->assignment.placement, best->assignment.sequence}),
              std::nullopt)
        << "problem " << i;
    EXPECT_TRUE(FitsInMemory(costed, best->assignment));
    EXPECT_EQ(best->makespan, ContendedTimeline(costed, best->assignment).makespan);
  }
  EXPECT_GT(found, 60);
}

TEST(PlacementSearch, IsNoWorseThanItsStartsAndBetterForMoreTries) {
  Random random(2);
  double few = 0, many = 0;
  for (int i = 0; i < 20; ++i) {
    const ComputationGraph graph = PlainGraph(random, 40);
    const Machine machine = *MachinePreset("homogeneous:3,latency=0.1,bandwidth=10");
    const CostedGraph costed = OpsApart(graph, machine);
    const double expert =
        ContendedTimeline(costed, SchedulePlaced(costed, PlaceByLayers(costed), {}).assignment).makespan;
    Random one(3), other(3);
    const double quick = SearchPlacement(costed, Tries(10), one)->makespan;
    const double thorough = SearchPlacement(costed, Tries(1500), other)->makespan;
    EXPECT_LE(quick, expert);
    few += quick;
    many += thorough;
  }
  EXPECT_LT(many, 0.97 * few);
}

// Every placement of six groups on two devices, in the two orders it chooses between.
TEST(PlacementSearch, FindsTheBestPlacementOfATinyGraph) {
  Random random(4);
  int best_found = 0, problems = 0;
  for (int i = 0; i < 30; ++i) {
    const ComputationGraph graph = PlainGraph(random, 6);
    const Machine machine = *MachinePreset("homogeneous:2,latency=0.1,bandwidth=10");
    const CostedGraph costed = OpsApart(graph, machine);
    double least = std::numeric_limits<double>::infinity();
    for (int bits = 0; bits < 1 << costed.num_groups; ++bits) {
      std::vector<int> placement;
      for (int group = 0; group < costed.num_groups; ++group) placement.push_back(bits >> group & 1);
      least = std::min(least, ContendedTimeline(costed, SchedulePlaced(costed, placement, {}).assignment).makespan);
    }
    ++problems;
    Random own(5);
    if (SearchPlacement(costed, Tries(800), own)->makespan <= least * (1 + 1e-9)) ++best_found;
  }
  EXPECT_GE(best_found, problems - 2);
}

TEST(PlacementSearch, KeepsTheOrderOfAStartThatIsBetterThanItsOwn) {
  Random random(9);
  int kept = 0;
  for (int i = 0; i < 40; ++i) {
    const ComputationGraph graph = PlainGraph(random, 30);
    const Machine machine = *MachinePreset("homogeneous:3,latency=0.1,bandwidth=10");
    const CostedGraph costed = OpsApart(graph, machine);
    const auto seconds = [&costed](const PlacementStart& start) {
      return ContendedTimeline(costed, SchedulePlaced(costed, start.placement, start.priorities).assignment).makespan;
    };
    PlacementStart start{SearchPlacement(costed, Tries(200), random)->assignment.placement, {}};
    start.priorities.resize(static_cast<std::size_t>(costed.num_groups));
    for (int tries = 0; tries < 100; ++tries) {
      PlacementStart other = start;
      for (double& priority : other.priorities) priority = random.Uniform();
      if (seconds(other) < seconds(start)) start = other;
    }
    const double own = seconds(start);
    PlacementSearchOptions search = Tries(1);  // the starts alone
    search.starts = {start};
    Random chance(1), other(1);
    const double with = SearchPlacement(costed, search, chance)->makespan;
    const double without = SearchPlacement(costed, Tries(1), other)->makespan;
    EXPECT_LE(with, std::min(own, without));
    if (own < without) {
      EXPECT_DOUBLE_EQ(with, own);
      ++kept;
    }
  }
  EXPECT_GT(kept, 0);
}

TEST(PlacementSearch, AnswersTheSameForTheSameSeed) {
  Random random(6);
  const ComputationGraph graph = testing::RandomGraph(random, {.most_ops = 40, .group_seconds = false});
  const Machine machine = testing::RandomMachine(random);
  const CostedGraph costed = MakeCostedGraph(*MakeUnitCostModel(graph, machine), SingleOpGroups(graph));
  Random one(7), other(7);
  EXPECT_EQ(SearchPlacement(costed, Tries(200), one)->assignment,
            SearchPlacement(costed, Tries(200), other)->assignment);
}

// Says that everything had better be where it is in a placement that it knows, one group after the other.
class Knowing : public MoveProposer {
 public:
  Knowing(const ComputationGraph& graph, const Machine& machine, const CostedGraph& costed, std::vector<int> known)
      : graph_(graph), machine_(machine), costed_(costed), known_(std::move(known)) {
    for (std::int32_t group = 0; group < costed.num_groups; ++group) groups_.push_back(group);
  }

  std::vector<PlacementMove> Propose(const Assignment& plan, Random&) override {
    ++asked;
    EXPECT_EQ(WhyNotValid(graph_, machine_, {costed_.groups, plan.placement, plan.sequence}), std::nullopt);
    std::vector<PlacementMove> moves;
    for (std::size_t group = 0; group < known_.size(); ++group) {
      if (plan.placement[group] != known_[group])
        moves.push_back({std::span(groups_).subspan(group, 1), known_[group]});
    }
    return moves;
  }

  int asked = 0;

 private:
  const ComputationGraph& graph_;
  const Machine& machine_;
  const CostedGraph& costed_;
  std::vector<int> known_;
  std::vector<std::int32_t> groups_;
};

TEST(PlacementSearch, TriesWhatIsProposedAndFindsWithItWhatChanceDoesNot) {
  Random random(10);
  double knowing_all = 0, knowing_nothing = 0;
  for (int i = 0; i < testing::Rounds(20); ++i) {
    const ComputationGraph graph = PlainGraph(random, 40);
    const Machine machine = *MachinePreset("homogeneous:3,latency=0.1,bandwidth=10");
    const CostedGraph costed = OpsApart(graph, machine);
    if (costed.num_groups == 0) continue;
    Random own(3), other(3);
    Knowing knowing(graph, machine, costed, SearchPlacement(costed, Tries(3000), random)->assignment.placement);
    PlacementSearchOptions search = Tries(150);
    search.own_starts = false;
    search.starts = {{std::vector<int>(static_cast<std::size_t>(costed.num_groups), 0), {}}};
    search.first_temperature_share = 0.05;
    knowing_nothing += SearchPlacement(costed, search, own)->makespan;
    search.proposer = &knowing;
    search.tries = 10;
    search.proposed = 0.9;
    knowing_all += SearchPlacement(costed, search, other)->makespan;
    EXPECT_GE(knowing.asked, 14);
    EXPECT_LE(knowing.asked, 15);
  }
  EXPECT_LT(knowing_all, 0.98 * knowing_nothing);
}

TEST(PlacementSearch, JudgesByTheProxyWhereItIsToldTo) {
  Random random(11);
  for (int i = 0; i < 30; ++i) {
    testing::RandomProblemOptions options;
    options.colocate = false;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    for (const Proxy proxy : {Proxy::kLinear, Proxy::kContended}) {
      const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine, proxy), SingleOpGroups(graph));
      PlacementSearchOptions search = Tries(60);
      search.judge = PlacementJudge::kProxy;
      const std::optional<FoundPlacement> found = SearchPlacement(costed, search, random);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->makespan, MakeTimeline(costed, found->assignment).makespan);
    }
  }
}

TEST(PlacementSearch, BeginsAtItsStartsAloneIfToldTo) {
  Random random(12);
  const ComputationGraph graph = testing::RandomGraph(random, {.most_ops = 40, .kinds = false, .gangs = false});
  const CostedGraph costed = MakeCostedGraph(
      *MakeAnalyticCostModel(graph, *MachinePreset("homogeneous:3,latency=0.1,bandwidth=10")), SingleOpGroups(graph));
  PlacementSearchOptions search = Tries(1);
  search.own_starts = false;
  search.starts = {{std::vector<int>(static_cast<std::size_t>(costed.num_groups), 2), {}}};
  EXPECT_EQ(SearchPlacement(costed, search, random)->assignment.placement, search.starts.front().placement);
}

TEST(PlacementSearch, EndsWithItsFirstStartWhereItIsAskedToStop) {
  Random random(9);
  const CostedGraph costed = OpsApart(PlainGraph(random, 40), *MachinePreset("homogeneous:3,latency=0.1,bandwidth=10"));
  std::stop_source source;
  source.request_stop();
  PlacementSearchOptions options = Tries(1000);
  options.stop = source.get_token();
  const std::optional<FoundPlacement> found = SearchPlacement(costed, options, random);
  ASSERT_TRUE(found);
  EXPECT_LT(found->evaluations, 10);
}

TEST(PlacementSearch, FindsNothingWhereNoStartFits) {
  GraphData data;
  data.ops.resize(2);
  for (Op& op : data.ops) op.weight_bytes = 10;
  const ComputationGraph graph(std::move(data));
  Machine machine = *MachinePreset("homogeneous:2");
  for (Device& device : machine.devices) device.memory_bytes = 5;
  const CostedGraph costed = OpsApart(graph, machine);
  Random random(8);
  EXPECT_FALSE(SearchPlacement(costed, Tries(50), random));
}

}  // namespace
}  // namespace millrace

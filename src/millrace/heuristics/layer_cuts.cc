// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/layer_cuts.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "millrace/errors/interrupt.h"
#include "millrace/heuristics/layer_blocks.h"
#include "millrace/heuristics/placement_orders.h"
#include "millrace/planning/deadline.h"

namespace millrace {
namespace {

constexpr std::int64_t kMostTries = 100;
constexpr std::int64_t kVisits = 4'000'000;  // groups and edges, over all tries

class CutSearch {
 public:
  CutSearch(const CostedGraph& costed, const Deadline& deadline)
      : costed_(costed), blocks_(costed), deadline_(deadline), left_(std::min(kMostTries, kVisits / costed.Visits())) {}

  Assignment Search() {
    Try(blocks_.Balanced(blocks_.num_devices()));
    for (int devices = blocks_.num_devices() - 1; devices > 0 && Goes(); --devices) Try(blocks_.Balanced(devices));
    constexpr int kFirstPart = 8;
    for (int step = std::max(1, blocks_.num_layers() / kFirstPart); step > 0 && Goes();) {
      if (!MoveBorders(step)) step /= 2;
    }
    return std::move(best_.assignment);
  }

 private:
  bool Goes() const { return left_ > 0 && !deadline_.Passed(); }

  // Every border once either way.
  bool MoveBorders(int step) {
    bool faster = false;
    for (int block = 1; block < blocks_.num_devices(); ++block) {
      for (const int by : {-step, step}) {
        if (!Goes()) return faster;
        std::vector<int> moved = cuts_;
        const auto border = std::lower_bound(cuts_.begin(), cuts_.end(), block) - cuts_.begin();
        const auto to = border + by;
        if (to < 0 || to > blocks_.num_layers()) continue;
        for (auto layer = to; layer < border; ++layer)
          moved[static_cast<std::size_t>(layer)] = std::max(moved[static_cast<std::size_t>(layer)], block);
        for (auto layer = border; layer < to; ++layer)
          moved[static_cast<std::size_t>(layer)] = std::min(moved[static_cast<std::size_t>(layer)], block - 1);
        if (moved != cuts_ && Try(std::move(moved))) faster = true;
      }
    }
    return faster;
  }

  bool Try(std::vector<int> cuts) {
    StopIfInterrupted();
    --left_;
    PlannedAssignment planned = BestOfOrders(costed_, blocks_.Placement(cuts));
    if (!(planned.makespan < best_.makespan)) return false;
    best_ = std::move(planned);
    cuts_ = std::move(cuts);
    return true;
  }

  const CostedGraph& costed_;
  LayerBlocks blocks_;
  const Deadline& deadline_;
  std::int64_t left_;      // tries
  std::vector<int> cuts_;  // by layer: its block
  PlannedAssignment best_{{}, std::numeric_limits<double>::infinity()};
};

class LayerCuts final : public Planner {
 public:
  using Planner::Planner;

  void Propose(const PlanningProblem& problem, const Budget& budget, Random&, const Offer& offer) const override {
    const CostedGraph& costed = problem.costed();
    if (costed.num_groups == 0) {
      offer(Assignment{});
      return;
    }
    const Deadline deadline(budget.seconds);
    offer(CutSearch(costed, deadline).Search());
  }
};

}  // namespace

PlannerTraits LayerCutsTraits() {
  return {.name = "layer-cuts",
          .meaning = "human placement, the borders of its blocks moved while that is faster",
          .seconds_per_visit = 2e-6};
}

std::unique_ptr<Planner> MakeLayerCuts() { return std::make_unique<LayerCuts>(LayerCutsTraits()); }

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/best_of.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

// How far beyond its capacity the fullest memory is; infinite where a memory of size 0 holds something.
double WorstFullness(const CostedGraph& costed, const std::vector<double>& peaks) {
  double worst = 0;
  for (std::size_t memory = 0; memory < peaks.size(); ++memory) {
    if (peaks[memory] > costed.topology.memory_bytes[memory])
      worst = std::max(worst, peaks[memory] / costed.topology.memory_bytes[memory]);
  }
  return worst;
}

bool SameGroups(const RatedAssignment& a, const std::shared_ptr<const CostedGraph>& costed) {
  if (a.costed == costed) return true;
  return a.costed != nullptr && costed != nullptr && a.costed->groups == costed->groups;
}

class Keeper {
 public:
  Keeper(const PlanningProblem& problem, std::size_t most) : problem_(problem), most_(most) {
    if (!problem.fusion_open()) given_.emplace(problem.costed());
  }

  void Take(ProposedPlan plan) {
    StopIfInterrupted();
    ++best_.offered;
    const CostedGraph& costed = plan.costed ? *plan.costed : problem_.costed();
    const double makespan =
        plan.costed ? Simulator(costed).Makespan(plan.assignment) : given_->Makespan(plan.assignment);
    std::vector<RatedAssignment>& kept = best_.kept;
    if (most_ == 0 || (kept.size() == most_ && kept.back().makespan <= makespan)) return;
    const auto worse = [](double value, const RatedAssignment& entry) { return value < entry.makespan; };
    const auto at = std::upper_bound(kept.begin(), kept.end(), makespan, worse);
    for (auto same = at; same != kept.begin() && std::prev(same)->makespan == makespan; --same) {
      if (std::prev(same)->assignment == plan.assignment && SameGroups(*std::prev(same), plan.costed)) return;
    }
    if (!Fits(costed, plan.assignment)) return;
    kept.insert(at, RatedAssignment{std::move(plan.assignment), makespan, std::move(plan.costed)});
    if (kept.size() > most_) kept.pop_back();
  }

  BestOf Finish() { return std::move(best_); }

 private:
  bool Fits(const CostedGraph& costed, const Assignment& assignment) {
    if (!costed.limited_memory) return true;
    Simulator(costed).Run(assignment, timeline_);
    std::vector<double> peaks = PeakMemory(costed, assignment, timeline_);
    if (millrace::Fits(costed, peaks)) return true;
    ++best_.overfull;
    const double fullness = WorstFullness(costed, peaks);
    if (best_.nearest_peaks.empty() || fullness < least_fullness_) {
      best_.nearest_peaks = std::move(peaks);
      best_.nearest = assignment;
      least_fullness_ = fullness;
    }
    return false;
  }

  const PlanningProblem& problem_;
  std::optional<Simulator> given_;  // of the problem's groups
  Timeline timeline_;
  std::size_t most_;
  double least_fullness_ = 0;
  BestOf best_;
};

}  // namespace

BestOf RunPlanner(const Planner& planner, const PlanningProblem& problem, const Budget& budget, Random& random,
                  std::size_t most) {
  return RunPlannerShown(planner, problem, problem, budget, random, most);
}

BestOf RunPlannerShown(const Planner& planner, const PlanningProblem& shown, const PlanningProblem& problem,
                       const Budget& budget, Random& random, std::size_t most) {
  Keeper keeper(problem, most);
  planner.Propose(shown, budget, random, [&keeper](ProposedPlan plan) { keeper.Take(std::move(plan)); });
  return keeper.Finish();
}

}  // namespace millrace

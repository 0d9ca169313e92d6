// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/local_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/planning/course.h"
#include "millrace/search/contended_live_plan.h"
#include "millrace/search/live_plan.h"
#include "millrace/simulate/memory_check.h"

namespace millrace {

struct LocalSearch::Workspace {
  explicit Workspace(const CostedGraph& graph) : memory(graph) {
    if (graph.topology.proxy == Proxy::kContended) {
      contended.emplace(graph);
    } else {
      linear.emplace(graph);
    }
  }

  std::optional<LivePlan> linear;  // one of the two: that of the proxy
  std::optional<ContendedLivePlan> contended;
  MemoryCheck memory;
};

LocalSearch::LocalSearch(const CostedGraph& costed)
    : costed_(costed), workspace_(costed.num_groups > 0 ? std::make_unique<Workspace>(costed) : nullptr) {}

LocalSearch::~LocalSearch() = default;

RatedAssignment LocalSearch::Improve(Assignment start, const LocalSearchOptions& options, Random& random) {
  changes_tried_ = 0;
  if (workspace_ == nullptr) return {};
  if (workspace_->linear) return ImproveLive(*workspace_->linear, std::move(start), options, random);
  return ImproveLive(*workspace_->contended, std::move(start), options, random);
}

template <typename Live>
RatedAssignment LocalSearch::ImproveLive(Live& plan, Assignment start, const LocalSearchOptions& options,
                                         Random& random) {
  constexpr std::int64_t kStepsBetweenLooks = 64;  // at the clock, the temperature and Ctrl-C
  plan.Start(std::move(start));
  Moves moves(plan, options.moves);
  std::optional<std::int64_t> iterations = options.iterations;
  if (!iterations && !options.seconds) iterations = options.iterations_per_group * costed_.num_groups;
  const Course course(iterations, options.seconds);
  RatedAssignment best{plan.assignment(), plan.makespan()};
  bool fits = workspace_->memory.Fits(plan.assignment());
  bool best_fits = fits;
  const double share = plan.makespan() / costed_.num_groups;
  const double first = options.first_annealing_temperature * share;
  // A geometric fall does not reach 0.
  const double last = std::clamp(options.last_annealing_temperature * share, 1e-9 * first, first);
  const double cooling = first > 0 ? std::log(last / first) : 0.0;
  double temperature = first;
  const std::int64_t most = iterations.value_or(std::numeric_limits<std::int64_t>::max());
  for (std::int64_t iteration = 0; iteration < most; ++iteration) {
    if (iteration % kStepsBetweenLooks == 0) {
      StopIfInterrupted();
      const double done = course.Done(iteration);
      if (done >= 1 || options.stop.stop_requested()) break;
      temperature = first * std::exp(cooling * done);
      moves.Refresh();
    }
    ++changes_tried_;
    moves.Draw(random);
    if (!plan.changed()) continue;
    // A plan as fast but for rounding is as good.
    const double limit = plan.makespan() * (1 + 1e-12) - temperature * std::log(1.0 - random.Uniform());
    const bool taken = plan.Price(limit) <= limit;
    const bool now_fits = taken && workspace_->memory.FitsWith(plan.assignment(), plan.ChangedGroups());
    if (!taken || (fits && !now_fits)) {
      plan.TakeBack();
      continue;
    }
    plan.Keep();
    fits = now_fits;
    if ((fits && !best_fits) || (fits == best_fits && plan.makespan() < best.makespan)) {
      best.assignment = plan.assignment();
      best.makespan = plan.makespan();
      best_fits = fits;
    }
  }
  return best;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/experts.h"

#include <limits>
#include <utility>

#include "millrace/search/anneal.h"
#include "millrace/simulate/timeline.h"

namespace millrace {

ExpertPool::ExpertPool(const ProblemSource& source, int count, std::int64_t visits, const Random& random)
    : source_(source), visits_(visits), random_(random), slots_(static_cast<std::size_t>(count)) {}

const Expert& ExpertPool::Get(int index) {
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  std::call_once(slot.made, [&] {
    Random random = random_.Fork(static_cast<std::uint64_t>(index));
    slot.expert.problem = source_.Draw(random);
    const CostedGraph& costed = slot.expert.problem->costed();
    Simulator simulator(costed);
    double best = std::numeric_limits<double>::infinity();
    MakeAnnealing(AnnealOptions{.visits = visits_})
        ->Propose(costed, SourceBudget{}, random, [&](Assignment assignment) {
          const double makespan = simulator.Makespan(assignment);
          if (makespan >= best) return;
          best = makespan;
          slot.expert.assignment = std::move(assignment);
        });
  });
  return slot.expert;
}

}  // namespace millrace

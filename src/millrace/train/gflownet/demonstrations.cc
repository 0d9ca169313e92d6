// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/demonstrations.h"

#include <limits>
#include <utility>

#include "millrace/search/anneal.h"
#include "millrace/simulate/timeline.h"

namespace millrace {

DemonstrationPool::DemonstrationPool(const ProblemSource& source, int count, std::int64_t visits, const Random& random)
    : source_(source), visits_(visits), random_(random), slots_(static_cast<std::size_t>(count)) {}

const Demonstration& DemonstrationPool::Get(int index) {
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  std::call_once(slot.made, [&] {
    Random random = random_.Fork(static_cast<std::uint64_t>(index));
    slot.demonstration.problem = source_.Draw(random);
    const CostedGraph& costed = slot.demonstration.problem->costed();
    Simulator simulator(costed);
    double best = std::numeric_limits<double>::infinity();
    MakeAnnealing(AnnealOptions{.visits = visits_})->Propose(costed, Budget{}, random, [&](ProposedPlan plan) {
      Assignment& assignment = plan.assignment;
      const double makespan = simulator.Makespan(assignment);
      if (makespan >= best) return;
      best = makespan;
      slot.demonstration.assignment = std::move(assignment);
    });
  });
  return slot.demonstration;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/best_of.h"

#include <algorithm>
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

class Keeper {
 public:
  Keeper(const CostedGraph& costed, std::size_t most) : costed_(costed), simulator_(costed), most_(most) {}

  void Take(Assignment assignment) {
    StopIfInterrupted();
    ++best_.offered;
    const double makespan = simulator_.Makespan(assignment);
    std::vector<RatedAssignment>& kept = best_.kept;
    if (most_ == 0 || (kept.size() == most_ && kept.back().makespan <= makespan)) return;
    const auto worse = [](double value, const RatedAssignment& entry) { return value < entry.makespan; };
    const auto at = std::upper_bound(kept.begin(), kept.end(), makespan, worse);
    for (auto same = at; same != kept.begin() && std::prev(same)->makespan == makespan; --same) {
      if (std::prev(same)->assignment == assignment) return;
    }
    if (!Fits(assignment)) return;
    kept.insert(at, RatedAssignment{std::move(assignment), makespan});
    if (kept.size() > most_) kept.pop_back();
  }

  BestOf Finish() { return std::move(best_); }

 private:
  bool Fits(const Assignment& assignment) {
    if (!costed_.limited_memory) return true;
    simulator_.Run(assignment, timeline_);
    std::vector<double> peaks = PeakMemory(costed_, assignment, timeline_);
    if (millrace::Fits(costed_, peaks)) return true;
    ++best_.overfull;
    const double fullness = WorstFullness(costed_, peaks);
    if (best_.nearest_peaks.empty() || fullness < least_fullness_) {
      best_.nearest_peaks = std::move(peaks);
      best_.nearest = assignment;
      least_fullness_ = fullness;
    }
    return false;
  }

  const CostedGraph& costed_;
  Simulator simulator_;
  Timeline timeline_;
  std::size_t most_;
  double least_fullness_ = 0;
  BestOf best_;
};

}  // namespace

BestOf RunSource(const CandidateSource& source, const CostedGraph& costed, const SourceBudget& budget, Random& random,
                 std::size_t most) {
  return RunSourceShown(source, costed, costed, budget, random, most);
}

BestOf RunSourceShown(const CandidateSource& source, const CostedGraph& shown, const CostedGraph& costed,
                      const SourceBudget& budget, Random& random, std::size_t most) {
  Keeper keeper(costed, most);
  source.Propose(shown, budget, random, [&keeper](Assignment assignment) { keeper.Take(std::move(assignment)); });
  return keeper.Finish();
}

}  // namespace millrace

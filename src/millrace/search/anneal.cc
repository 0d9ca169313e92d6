// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/anneal.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "millrace/errors/interrupt.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

constexpr double kCannotRun = std::numeric_limits<double>::infinity();
constexpr int kLongestStretch = 12;

// A plan under change: one proposal at a time can be taken back.
class Draft {
 public:
  Draft(const CostedGraph& costed, Assignment start)
      : costed_(costed),
        current_(std::move(start)),
        position_(current_.sequence.size()),
        members_(static_cast<std::size_t>(costed.num_colocations)) {
    for (std::size_t i = 0; i < current_.sequence.size(); ++i)
      position_[Index(current_.sequence[i])] = static_cast<int>(i);
    for (int group = 0; group < costed.num_groups; ++group) {
      const std::int32_t tied = costed.colocation[Index(group)];
      if (tied >= 0) members_[Index(tied)].push_back(group);
    }
  }

  const Assignment& current() const { return current_; }

  void Propose(Random& random) {
    undo_placement_.clear();
    moved_from_ = moved_to_ = -1;
    const std::uint64_t kind = random.Below(8);
    const int group = static_cast<int>(random.Below(static_cast<std::uint64_t>(costed_.num_groups)));
    if (costed_.num_devices == 1 || kind < 3) {
      MoveInSequence(group, random);
    } else if (kind < 6) {
      Place(group, static_cast<int>(random.Below(static_cast<std::uint64_t>(costed_.num_devices))));
    } else if (kind == 6) {
      PlaceStretch(group, random);
    } else {
      PlacePath(group, random);
    }
  }

  void TakeBack() {
    if (moved_from_ >= 0) Shift(moved_to_, moved_from_);
    for (auto change = undo_placement_.rbegin(); change != undo_placement_.rend(); ++change)
      current_.placement[Index(change->first)] = change->second;
  }

 private:
  static std::size_t Index(int number) { return static_cast<std::size_t>(number); }

  void MoveInSequence(int group, Random& random) {
    int low = 0;
    int high = costed_.num_groups - 1;
    for (const GroupEdge& edge : costed_.Predecessors(group)) low = std::max(low, position_[Index(edge.group)] + 1);
    for (const GroupEdge& edge : costed_.Successors(group)) high = std::min(high, position_[Index(edge.group)] - 1);
    if (low >= high) return;
    moved_from_ = position_[Index(group)];
    moved_to_ = low + static_cast<int>(random.Below(static_cast<std::uint64_t>(high - low + 1)));
    Shift(moved_from_, moved_to_);
  }

  void Shift(int from, int to) {
    const auto begin = current_.sequence.begin();
    if (from < to) std::rotate(begin + from, begin + from + 1, begin + to + 1);
    if (to < from) std::rotate(begin + to, begin + from, begin + from + 1);
    for (int i = std::min(from, to); i <= std::max(from, to); ++i) position_[Index(current_.sequence[Index(i)])] = i;
  }

  void PlaceOne(int group, int device) {
    int& placed = current_.placement[Index(group)];
    if (placed == device) return;
    undo_placement_.emplace_back(group, placed);
    placed = device;
  }

  // With all groups it must share a device with; not at all where it cannot run there.
  void Place(int group, int device) {
    if (costed_.Seconds(group, device) == kCannotRun) return;
    const std::int32_t tied = costed_.colocation[Index(group)];
    if (tied < 0) {
      PlaceOne(group, device);
    } else {
      for (const int member : members_[Index(tied)]) PlaceOne(member, device);
    }
  }

  int DrawLength(Random& random) const { return 2 + static_cast<int>(random.Below(kLongestStretch - 1)); }

  void PlaceStretch(int group, Random& random) {
    const int first = position_[Index(group)];
    const int last = std::min(costed_.num_groups, first + DrawLength(random));
    const int device = static_cast<int>(random.Below(static_cast<std::uint64_t>(costed_.num_devices)));
    for (int i = first; i < last; ++i) Place(current_.sequence[Index(i)], device);
  }

  void PlacePath(int group, Random& random) {
    const int device = static_cast<int>(random.Below(static_cast<std::uint64_t>(costed_.num_devices)));
    for (int left = DrawLength(random); left > 0; --left) {
      Place(group, device);
      const auto next = costed_.Successors(group);
      if (next.empty()) return;
      group = next[random.Below(next.size())].group;
    }
  }

  const CostedGraph& costed_;
  Assignment current_;
  std::vector<int> position_;              // of each group in the sequence
  std::vector<std::vector<int>> members_;  // groups of each colocation
  std::vector<std::pair<int, int>> undo_placement_;
  int moved_from_ = -1, moved_to_ = -1;
};

// How far a chain has come, 0..1: by proposals, by the clock, or by whichever is further along where both are limited.
class Course {
 public:
  Course(std::optional<std::int64_t> iterations, std::optional<double> seconds)
      : iterations_(iterations), seconds_(seconds), start_(std::chrono::steady_clock::now()) {}

  double Done(std::int64_t iteration) const {
    double done = 0;
    if (iterations_)
      done = static_cast<double>(iteration) / static_cast<double>(std::max<std::int64_t>(1, *iterations_));
    if (seconds_)
      done = std::max(done, std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() /
                                std::max(*seconds_, 1e-9));
    return done;
  }

 private:
  std::optional<std::int64_t> iterations_;
  std::optional<double> seconds_;
  std::chrono::steady_clock::time_point start_;
};

std::int64_t VisitsOfASimulation(const CostedGraph& costed) {
  return costed.num_groups + static_cast<std::int64_t>(costed.predecessors.size());
}

class Annealing final : public CandidateSource {
 public:
  explicit Annealing(const AnnealOptions& options) : options_(options) {}

  std::string name() const override { return "anneal"; }

  void Propose(const CostedGraph& costed, const SourceBudget& budget, Random& random,
               const std::function<void(Assignment)>& offer) const override {
    if (costed.num_groups == 0) {
      offer({});
      return;
    }
    for (int chain = 0; chain < options_.chains; ++chain) {
      Random stream = random.Fork(static_cast<std::uint64_t>(chain));
      std::optional<std::int64_t> iterations = budget.iterations;
      std::optional<double> seconds = budget.seconds;
      if (!iterations && !seconds) iterations = options_.visits / VisitsOfASimulation(costed);
      if (iterations) *iterations /= options_.chains;
      if (seconds) *seconds /= options_.chains;
      offer(Chain(costed, Start(costed, chain, stream), Course(iterations, seconds), stream));
    }
  }

 private:
  // The first chain starts from HEFT, the others from perturbed list schedules.
  static Assignment Start(const CostedGraph& costed, int chain, Random& random) {
    // The first sample of the randomised list is the plain one.
    Assignment start;
    SourceBudget budget;
    budget.samples = chain == 0 ? 1 : 2;
    MakeHeuristic(chain == 0 ? "heft" : "randomised-list")
        ->Propose(costed, budget, random, [&start](Assignment offered) { start = std::move(offered); });
    return start;
  }

  Assignment Chain(const CostedGraph& costed, Assignment start, const Course& course, Random& random) const {
    constexpr std::int64_t kStepsBetweenLooks = 64;  // at the clock, the temperature and Ctrl-C
    Simulator simulator(costed);
    Draft draft(costed, std::move(start));
    double makespan = simulator.Makespan(draft.current());
    bool fits = FitsInMemory(costed, draft.current());
    Assignment best = draft.current();
    double best_makespan = makespan;
    bool best_fits = fits;
    // On small graphs one group is a large share of the makespan, and a step has to be able to pay for it.
    const double first = (options_.first_temperature + 1.0 / costed.num_groups) * makespan;
    const double cooling = std::log(options_.last_temperature * makespan / first);
    double temperature = first;
    for (std::int64_t iteration = 0;; ++iteration) {
      if (iteration % kStepsBetweenLooks == 0) {
        StopIfInterrupted();
        const double done = course.Done(iteration);
        if (done >= 1) break;
        temperature = first * std::exp(cooling * done);
      }
      draft.Propose(random);
      const double proposed = simulator.Makespan(draft.current());
      const double threshold = makespan - temperature * std::log(1.0 - random.Uniform());
      const bool taken = proposed <= threshold;
      const bool now_fits = taken && (!costed.limited_memory || FitsInMemory(costed, draft.current()));
      if (!taken || (fits && !now_fits)) {
        draft.TakeBack();
        continue;
      }
      makespan = proposed;
      fits = now_fits;
      if ((fits && !best_fits) || (fits == best_fits && makespan < best_makespan)) {
        best = draft.current();
        best_makespan = makespan;
        best_fits = fits;
      }
    }
    return best;
  }

  AnnealOptions options_;
};

}  // namespace

std::unique_ptr<CandidateSource> MakeAnnealing(const AnnealOptions& options) {
  return std::make_unique<Annealing>(options);
}

}  // namespace millrace

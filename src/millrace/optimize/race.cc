// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/race.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/target/disturbance.h"
#include "millrace/target/measured_timeline.h"
#include "millrace/target/measurement.h"
#include "millrace/target/statistics.h"

namespace millrace {
namespace {

struct Runner {
  Candidate* candidate;
  std::unique_ptr<LoadedPlan> loaded;
};

// Tells whether one more run is likely to end in time, going by the longest so far.
class Pace {
 public:
  explicit Pace(const Deadline& end) : end_(end) {}

  bool Allows() const { return longest_ == 0 || longest_ < end_.Left(); }

  template <typename Work>
  auto Time(Work work) {
    const Deadline clock;
    auto result = work();
    longest_ = std::max(longest_, clock.Elapsed());
    return result;
  }

 private:
  Deadline end_;
  double longest_ = 0;
};

// Half of the time is kept for runs. Those that must not be missing load even where the race has no time for them; what
// is loaded after them is likely to take as long as the mean of those before.
std::vector<Runner> LoadAll(Target& target, std::vector<Candidate>& candidates, const Deadline& race,
                            const RaceOptions& options) {
  const auto for_loads = [&target](const Deadline& end) {
    return target.deterministic() ? end : end.Within(end.Left() / 2);
  };
  Deadline end = for_loads(options.end);
  std::vector<Runner> runners;
  const Deadline clock;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (static_cast<int>(i) == options.sought_ones) end = for_loads(race);
    Candidate& candidate = candidates[i];
    if (candidate.target_seconds || !candidate.failure.empty()) continue;
    StopIfInterrupted();
    const auto loads = static_cast<int>(runners.size());
    if (loads >= options.first_ones && clock.Elapsed() / loads > end.Left()) break;
    if (auto loaded = TryLoad(target, candidate.plan, &candidate.failure))
      runners.push_back({&candidate, std::move(loaded)});
  }
  return runners;
}

// The median of the leader among those still running, and the survivors of this round.
void DropTheSlow(std::vector<Runner>& runners, const RaceOptions& options) {
  double leader = std::numeric_limits<double>::infinity();
  for (const Runner& runner : runners) leader = std::min(leader, Median(runner.candidate->times));
  std::stable_sort(runners.begin(), runners.end(), [](const Runner& a, const Runner& b) {
    return Median(a.candidate->times) < Median(b.candidate->times);
  });
  while (static_cast<int>(runners.size()) > options.least_survivors) {
    const std::vector<double>& times = runners.back().candidate->times;
    if (*std::min_element(times.begin(), times.end()) <= options.drop_factor * leader) break;
    runners.pop_back();
  }
}

}  // namespace

void Race(Target& target, std::vector<Candidate>& candidates, const RaceOptions& options, const Deadline& deadline,
          const std::function<void(int, int)>& progress) {
  const DisturbanceWatch watch(options.cpus);
  // Where time is limited, what comes after the race needs its share, too: the best and its baselines side by side.
  const bool all = target.deterministic() || !options.end.Limited();
  std::vector<Runner> runners = LoadAll(target, candidates, all ? options.end : deadline, options);
  std::vector<std::vector<TimedRun>> timed(candidates.size());
  Pace pace(options.end);
  const int rounds = target.deterministic() ? 1 : options.rounds;
  int done = 0;
  int left = static_cast<int>(runners.size()) * rounds;
  for (int round = 0; round < rounds && !runners.empty(); ++round) {
    if (round > 0 && deadline.Passed()) break;
    for (Runner& runner : runners) {
      StopIfInterrupted();
      if (done >= options.first_ones && !pace.Allows()) break;
      if (auto run = pace.Time([&] { return TryRunTimed(*runner.loaded, &runner.candidate->failure); })) {
        runner.candidate->times.push_back(run->seconds);
        if (!target.deterministic() && !run->timeline.start.empty())
          timed[static_cast<std::size_t>(runner.candidate - candidates.data())].push_back(*std::move(run));
      }
      progress(++done, std::max(left, done));
    }
    std::erase_if(runners, [](const Runner& runner) { return runner.candidate->times.empty(); });
    if (!pace.Allows()) break;
    std::erase_if(runners, [](const Runner& runner) { return !runner.candidate->failure.empty(); });
    if (runners.empty()) break;
    if (round + 1 >= options.rounds_before_drop) DropTheSlow(runners, options);
    std::rotate(runners.begin(), runners.begin() + 1, runners.end());
    left = done + static_cast<int>(runners.size()) * (rounds - round - 1);
  }
  progress(done, done);
  const bool disturbed = watch.Disturbed();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Candidate& candidate = candidates[i];
    if (candidate.times.empty() || !candidate.failure.empty()) continue;
    candidate.target_seconds = Median(candidate.times);
    candidate.disturbed = disturbed;
    if (std::optional<MeasuredTimeline> timeline = MedianOf(std::move(timed[i]))) {
      candidate.measured = std::move(timeline->run);
      candidate.group_seconds = std::move(timeline->group_seconds);
    }
  }
}

}  // namespace millrace

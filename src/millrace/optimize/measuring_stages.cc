// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/heuristics/placement_orders.h"
#include "millrace/heuristics/start.h"
#include "millrace/optimize/candidate_list.h"
#include "millrace/optimize/context_fit.h"
#include "millrace/optimize/guessed_plans.h"
#include "millrace/optimize/pipeline.h"
#include "millrace/optimize/profile.h"
#include "millrace/optimize/race.h"
#include "millrace/runtime/host_units.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/target/hand_over.h"
#include "millrace/target/measured_timeline.h"
#include "millrace/target/measurement.h"
#include "millrace/target/profile_cache.h"

// The stages that ask the target.
namespace millrace {
namespace {

// How the plans that are made after the first measurements are shared out over rounds of measuring and correcting.
constexpr std::size_t kPlacesPerRound = 5;
constexpr std::size_t kMostRounds = 4;

// What was measured of them, failures aside.
void Forget(std::vector<Candidate>& candidates) {
  for (Candidate& candidate : candidates) {
    candidate.times.clear();
    candidate.target_seconds.reset();
    candidate.measured.reset();
    candidate.group_seconds.clear();
  }
}

// Of the time that profiling takes.
constexpr double kShareOfGangs = 0.7;

// Of plans whose times only the records knew.
constexpr int kTimedRuns = 5;

// The units of a machine we execute on ourselves are processors of this host.
std::vector<int> ProcessorsOf(const Machine& machine, const Target& target) {
  return target.runs_on_our_units() ? UnitsOf(machine) : std::vector<int>{};
}

// Every plan of methods that draw nothing by which searches begin, the placements by hand among them, and the best plan
// of every other method for every way of fusing.
std::vector<const PoolEntry*> ObviousEntries(const Pool& pool) {
  const std::vector<std::string> all_of = StartHeuristicNames();
  std::vector<const PoolEntry*> obvious;
  for (const PoolEntry& entry : pool.entries) {
    const auto same = std::find_if(obvious.begin(), obvious.end(), [&entry](const PoolEntry* other) {
      return other->method == entry.method && other->fusion == entry.fusion;
    });
    const bool every = std::find(all_of.begin(), all_of.end(), entry.method) != all_of.end();
    if (same == obvious.end() || every) {
      obvious.push_back(&entry);
    } else if (entry.proxy_seconds < (*same)->proxy_seconds) {
      *same = &entry;
    }
  }
  return obvious;
}

}  // namespace

void Pipeline::Profile() {
  const std::optional<GroupTiming> timing = options_.timing ? options_.timing : target_->group_timing();
  if (!timing) return;
  ProfileCache cache = options_.profile_cache.empty() ? ProfileCache() : ProfileCache(options_.profile_cache);
  if (!cache.warning().empty()) result_.warnings.push_back(cache.warning());
  if (options_.reprofile) cache.MeasureAnew();
  const double share = deadline_.Limited() ? effort_.profile_share * End().Left() : deadline_.Left();
  ProfileGraphOptions profiling;
  profiling.seconds_per_group = effort_.profile_seconds;
  profiling.time_group = timing->time;
  profiling.processors = timing->processors;
  const FusionGroups fused = GreedyFusion(*proxy_);
  if (target_->runs_on_our_units()) processors_ = ProcessorWatch(machine_, options_.hand_overs);
  const Deadline end = deadline_.Within(share);
  ProfileSummary summary;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    if (processors_.watches()) result_.machine = processors_.Measure();
    const Deadline clock;
    ProfileSummary anew;
    result_.graph = ProfileGraph(
        *loaded_.model, loaded_.graph, result_.machine, fused, profiling, cache, end,
        [this](int done, int total) { Tell("profile", "", static_cast<double>(done) / total); }, anew);
    anew.seconds += summary.seconds;
    anew.measured += summary.measured;
    anew.disturbed += summary.disturbed;
    // What this run itself has put there since is none of an earlier run's.
    if (attempt > 0) anew.from_cache = summary.from_cache;
    summary = anew;
    // What gangs take is of where their processors lay then, and better than an estimate where time is short.
    const bool room = !end.Limited() || end.Left() > kShareOfGangs * clock.Elapsed();
    if (!processors_.Moved() || !room) break;
  }
  result_.profile = summary;
  cache.Save();
  proxy_ = SteeredModel();
  target_->Reprice(*proxy_);
  if (summary.disturbed > 0)
    result_.warnings.push_back("other processes used these processors during " + std::to_string(summary.disturbed) +
                               " of " + std::to_string(summary.measured) +
                               " op timings: those are guesses, and the next run takes them again");
  if (summary.left_out == 0) return;
  result_.warnings.push_back(std::to_string(summary.left_out) + " of " + std::to_string(summary.distinct) +
                             " distinct op timings were left out for lack of time and are estimates");
}

void Pipeline::Measure(double share, int sought_ones) {
  RaceOptions options;
  options.first_ones = target_->deterministic() ? sought_ones : 1;
  options.sought_ones = sought_ones;
  options.rounds = effort_.race_rounds;
  options.cpus = ProcessorsOf(result_.machine, *target_);
  const double seconds = deadline_.Limited() ? share * effort_.race_share * End().Left() : share * effort_.race_seconds;
  options.end = End();
  Tell("measure", "", 0);
  // Plans that were measured elsewhere do not compare with these.
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const bool again = processors_.Moved() && RoomToMeasureAgain();
    if (attempt > 0 && !again) break;
    if (again) Forget(result_.candidates);
    const Deadline clock;
    millrace::Race(
        *target_, result_.candidates, options, deadline_.Within(std::min(seconds, effort_.race_seconds)),
        [this](int done, int total) { Tell("measure", "", static_cast<double>(done) / std::max(1, total)); });
    race_seconds_ = std::max(race_seconds_, clock.Elapsed());
  }
  std::erase_if(result_.candidates,
                [](const Candidate& candidate) { return !candidate.target_seconds && candidate.failure.empty(); });
  resume_->Note(result_.candidates);
  if (!options_.robust) return;
  for (Candidate& candidate : result_.candidates) {
    if (!candidate.fragility) FindFragility(candidate);
  }
}

bool Pipeline::RoomToMeasureAgain() const {
  constexpr double kMargin = 3;
  return race_seconds_ > 0 && (!deadline_.Limited() || kMargin * race_seconds_ < End().Left());
}

void Pipeline::Race() {
  // Baselines go through the race too: if one of them is the fastest known plan, that is the answer.
  for (const Baseline& baseline : baselines_) {
    if (baseline.keeps) AddUnlessKnown(baseline.candidate, result_.candidates);
  }
  const int sought_ones = PutObviousFirst();
  if (result_.candidates.empty()) {
    throw WorkFailed("no plan found fits in the machine's memory (" + std::to_string(pool_.infeasible) +
                     " were tried)");
  }
  resume_ = std::make_unique<Resume>(options_.records, result_.graph_hash, machine_, *target_, options_.seed);
  result_.recalled = resume_->Recall(result_.candidates);
  for (const std::string& warning : resume_->warnings()) result_.warnings.push_back(warning);
  MeasureFreeBaselines();
  Measure(places_.after_fit > 0 ? 0.6 : 1.0, sought_ones);
}

int Pipeline::PutObviousFirst() {
  std::vector<Candidate>& candidates = result_.candidates;
  const auto fastest =
      std::min_element(candidates.begin(), candidates.end(),
                       [](const Candidate& a, const Candidate& b) { return a.proxy_seconds < b.proxy_seconds; });
  if (fastest != candidates.end()) std::rotate(candidates.begin(), fastest, fastest + 1);
  const auto put_first = [&](const Baseline& baseline, std::size_t after) {
    std::stable_partition(candidates.begin() + static_cast<std::ptrdiff_t>(std::min(after, candidates.size())),
                          candidates.end(),
                          [&baseline](const Candidate& one) { return one.plan == baseline.candidate.plan; });
  };
  // The fastest baseline by the proxy is put there last, and so comes first of them.
  std::vector<const Baseline*> obvious;
  for (const Baseline& baseline : baselines_) {
    if (baseline.keeps) obvious.push_back(&baseline);
  }
  std::stable_sort(obvious.begin(), obvious.end(), [](const Baseline* a, const Baseline* b) {
    return a->candidate.proxy_seconds > b->candidate.proxy_seconds;
  });
  for (const Baseline* baseline : obvious) put_first(*baseline, baseline->name == target_->usual_baseline() ? 0 : 1);
  return 1 + static_cast<int>(obvious.size());
}

void Pipeline::MeasureFreeBaselines() {
  std::vector<Candidate> free;
  for (const Baseline& baseline : baselines_) {
    if (!baseline.keeps) free.push_back(baseline.candidate);
  }
  resume_->Recall(free);
  for (Candidate& candidate : free) {
    if (candidate.target_seconds || !candidate.failure.empty()) continue;
    if (End().Passed()) break;
    StopIfInterrupted();
    const std::unique_ptr<LoadedPlan> loaded = TryLoad(*target_, candidate.plan, &candidate.failure);
    if (loaded != nullptr) candidate.target_seconds = TryRun(*loaded, &candidate.failure);
    if (candidate.target_seconds) candidate.times = {*candidate.target_seconds};
    resume_->Note({candidate});
  }
  auto measured = free.begin();
  for (Baseline& baseline : baselines_) {
    if (!baseline.keeps) baseline.candidate = std::move(*measured++);
  }
}

void Pipeline::CorrectProxy(const Deadline& deadline) {
  // A simulated target is asked as a machine would be whose plans' times alone are known.
  std::optional<ContextFit> context;
  if (!target_->deterministic()) context = FitContext(*proxy_, result_.machine, result_.candidates);
  if (context) {
    result_.transfer_fit = TransferFit{context->hand_over, context->durations.error_before, context->durations.error};
    result_.duration_fit = std::move(context->durations);
    return;
  }
  result_.transfer_fit = FitTransfers(*proxy_, result_.machine, result_.candidates, deadline);
  result_.duration_fit = FitDurations(*GuessedModel(*proxy_, result_.machine, result_.transfer_fit->guess),
                                      result_.machine, result_.candidates);
}

void Pipeline::Calibrate() {
  // Every few measurements make the next plans' model better.
  const std::size_t rounds = std::clamp<std::size_t>(places_.after_fit / kPlacesPerRound, 1, kMostRounds);
  for (std::size_t round = 0; places_.after_fit > 0 && round < rounds && !settled_ && TimeToPlanAgain(); ++round) {
    const double share = effort_.calibrate_share / static_cast<double>(rounds - round);
    CorrectProxy(Deadline(PlanningSeconds(share / 2)));
    const std::unique_ptr<CostModel> with_transfers =
        GuessedModel(*proxy_, result_.machine, result_.transfer_fit->guess);
    const std::size_t next = places_.after_fit * (round + 1) / rounds - places_.after_fit * round / rounds;
    std::vector<Candidate> corrected;
    for (const Candidate& candidate :
         PlansUnder(*CorrectedModel(*with_transfers, result_.machine, *result_.duration_fit), result_.machine,
                    *planners_, OptionsUnderGuess(guesses_.size() + round, share), options_.top_k, pool_,
                    Watching("propose for the corrected proxy"))) {
      if (corrected.size() < next && !Contains(result_.candidates, candidate)) corrected.push_back(candidate);
    }
    result_.recalled += resume_->Recall(corrected);
    result_.candidates.insert(result_.candidates.end(), corrected.begin(), corrected.end());
    Measure(1.0);
  }
}

void Pipeline::MeasureObvious() {
  if (settled_ || !target_->deterministic()) return;
  const double share = effort_.race_share;
  const Deadline deadline(deadline_.Limited() ? std::optional(share * End().Left()) : std::nullopt);
  Candidate best = FastestMeasured(result_.candidates, options_.robust);
  const auto measure = [&](Candidate candidate) {
    if (deadline.Passed() || Contains(result_.candidates, candidate)) return;
    StopIfInterrupted();
    const std::unique_ptr<LoadedPlan> loaded = TryLoad(*target_, candidate.plan, &candidate.failure);
    if (loaded == nullptr) return;
    candidate.target_seconds = TryRun(*loaded, &candidate.failure);
    if (!candidate.target_seconds) return;
    candidate.times = {*candidate.target_seconds};
    if (options_.robust) FindFragility(candidate);
    if (JudgedSeconds(candidate, options_.robust) < JudgedSeconds(best, options_.robust)) best = std::move(candidate);
  };
  Tell("measure", "", 1);
  for (const PoolEntry* entry : ObviousEntries(pool_)) measure(MakeCandidate(pool_, *entry));
  const Candidate placing = best;
  const PoolFusion* const fusion = FusionOf(placing);
  if (fusion != nullptr) {
    for (const OrderedPlacement& placed : PlacedInOrders(fusion->costed, placing.plan.placement)) {
      const Assignment& assignment = placed.planned.assignment;
      if (!FitsInMemory(fusion->costed, assignment)) continue;
      Candidate candidate = placing;
      candidate.plan.sequence = assignment.sequence;
      candidate.proxy_seconds = placed.planned.makespan;
      measure(std::move(candidate));
    }
  }
  AddUnlessKnown(best, result_.candidates);
}

void Pipeline::Compare() {
  Tell("compare", "", 0);
  std::vector<Candidate*> compared{&result_.best};
  if (options_.objective.aim != Objective::Aim::kLatency) compared.push_back(&result_.fastest);
  for (BaselineResult& baseline : result_.baselines) compared.push_back(&baseline.candidate);
  // Measured once, a plan would take the same time again.
  if (target_->deterministic()) return;
  std::vector<std::unique_ptr<LoadedPlan>> loaded;
  std::vector<LoadedPlan*> plans;
  std::vector<Candidate*> running;
  double round_seconds = 0;
  double longest_load = 0;
  for (Candidate* candidate : compared) {
    if (deadline_.Limited() && 2 * longest_load > End().Left()) return;
    const Deadline clock;
    std::unique_ptr<LoadedPlan> plan = TryLoad(*target_, candidate->plan, &candidate->failure);
    longest_load = std::max(longest_load, clock.Elapsed());
    if (plan == nullptr) continue;
    loaded.push_back(std::move(plan));
    plans.push_back(loaded.back().get());
    running.push_back(candidate);
    round_seconds += candidate->target_seconds.value_or(0);
  }
  std::vector<OwnMode> modes = OwnModes();
  for (const OwnMode& mode : modes) {
    std::string failure;
    round_seconds += TryRun(*mode.plan, &failure).value_or(0);
    plans.push_back(mode.plan.get());
  }
  MeasureOptions measure;
  measure.cpus = ProcessorsOf(result_.machine, *target_);
  const double budget = std::min(effort_.comparison_seconds, End().Left());
  measure.warm_up = 1;
  const double rounds = budget / std::max(round_seconds, 1e-9) - measure.warm_up;
  // What the race found stands where time does not allow more.
  if (deadline_.Limited() && rounds < 1) return;
  // A warm-up round may take twice as long as one that counts.
  if (deadline_.Limited()) measure.seconds = std::max(0.0, End().Left() - 2 * measure.warm_up * round_seconds);
  measure.repetitions = static_cast<int>(
      std::clamp(rounds, deadline_.Limited() ? 1.0 : 3.0, static_cast<double>(effort_.comparison_rounds)));
  const double raced_with = processors_.latest();
  std::vector<Measurement> measured;
  for (int attempt = 1;; ++attempt) {
    measured = MeasureInterleaved(plans, measure);
    if (!processors_.Moved() || attempt == kMostAttempts) break;
    if (deadline_.Limited() && End().Left() < 2 * (measure.repetitions + measure.warm_up) * round_seconds) break;
  }
  Tell("compare", "", 1);
  for (std::size_t i = 0; i < running.size(); ++i) {
    Candidate& candidate = *running[i];
    // A winner that fails now keeps what the race said of it; the failure is told.
    if (measured[i].failed) {
      result_.warnings.push_back("the plan of " + candidate.method +
                                 " failed when measured again: " + measured[i].error);
      continue;
    }
    candidate.times = measured[i].times;
    candidate.target_seconds = measured[i].median;
    candidate.disturbed = measured[i].disturbed;
    result_.disturbed = result_.disturbed || measured[i].disturbed;
    // A run may be made ready by another, which does not count.
    if (candidate.measured || End().Left() < 2 * kTimedRuns * measured[i].median) continue;
    if (std::optional<MeasuredTimeline> timeline = MeasureTimeline(*plans[i], kTimedRuns)) {
      candidate.measured = std::move(timeline->run);
      candidate.group_seconds = std::move(timeline->group_seconds);
    }
  }
  for (std::size_t i = 0; i < modes.size(); ++i)
    result_.own_modes.push_back({modes[i].name, modes[i].meaning, measured[running.size() + i], {0, 0}});
  if (!AlikeHandOvers(raced_with, processors_.latest())) compared_elsewhere_ = true;
}

std::vector<OwnMode> Pipeline::OwnModes() {
  try {
    return target_->LoadOwnModes();
  } catch (const MeasurementFailed& error) {
    result_.warnings.push_back(std::string("what the target does by itself could not be measured: ") + error.what());
    return {};
  }
}

void Pipeline::ChooseBest() {
  if (processors_.watches()) Measure(1.0);
  result_.best = options_.objective.aim == Objective::Aim::kLatency
                     ? FastestMeasured(result_.candidates, options_.robust)
                     : BestByObjective();
  for (const Baseline& baseline : baselines_)
    result_.baselines.push_back(
        {baseline.name, baseline.meaning, AsRaced(baseline.candidate, result_.candidates), {0, 0}, baseline.keeps});
  result_.planning_seconds = deadline_.Elapsed();
}

}  // namespace millrace

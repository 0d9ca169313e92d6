// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/exact.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/graph/index.h"
#include "millrace/planning/course.h"
#include "millrace/planning/parallel.h"
#include "millrace/search/anneal.h"
#include "millrace/search/exact_engine.h"
#include "millrace/search/exact_parts.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/narrowed.h"
#include "millrace/simulate/path_bounds.h"
#include "millrace/simulate/proven_bound.h"
#include "millrace/simulate/reversed.h"
#include "millrace/simulate/time_step.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-12;

// The one given, or a short, deterministic annealing.
Assignment StartOf(const CostedGraph& costed, const ExactOptions& options, Random& random) {
  if (options.start) return *options.start;
  Budget budget;
  constexpr std::int64_t kChangesPerGroup = 2'000;
  constexpr double kShareOfTime = 0.2;
  budget.iterations = kChangesPerGroup * costed.num_groups;
  if (options.seconds) budget.seconds = kShareOfTime * *options.seconds;
  Assignment annealed;
  MakeAnnealing()->Propose(costed, budget, random,
                           [&annealed](ProposedPlan plan) { annealed = std::move(plan.assignment); });
  return annealed;
}

void RefuseTooManyGroups(const CostedGraph& costed) {
  if (costed.num_groups > kMostExactGroups)
    throw InvalidInput("the exact search takes graphs of up to " + std::to_string(kMostExactGroups) +
                       " groups and this one has " + std::to_string(costed.num_groups) +
                       "; use --method anneal, or fuse ops first");
}

// The searches behind one answer: forwards, backwards (often far quicker or far slower), and in parts. They take turns
// of about as many nodes and share the best plan, so that what is found does not depend on the threads.
class Searches {
 public:
  Searches(const CostedGraph& costed, const ExactOptions& options, const Course& course)
      : costed_(costed),
        options_(options),
        course_(course),
        step_(TimeStep(costed)),
        transfers_cost_(!costed.topology.AllTransfersFree()) {}

  ExactResult Solve(std::optional<RatedAssignment> known) {
    best_ = std::move(known);
    bound_ = LinearProvenBound(costed_);
    if (!Done()) narrowed_ = NarrowBelow(costed_, Limit());
    if (!Done() && !narrowed_.possible) bound_ = Limit();
    if (!Done()) Search();
    ExactResult result;
    result.proven = Done();
    result.nodes = Nodes();
    result.bound = bound_;
    if (result.proven) result.bound = best_ ? best_->makespan : kInfinity;
    if (best_) result.bound = std::min(result.bound, best_->makespan);
    result.best = std::move(best_);
    return result;
  }

 private:
  double Limit() const { return best_ ? BelowMakespan(best_->makespan, step_) : kInfinity; }

  bool Done() const { return bound_ >= Limit(); }

  std::int64_t Nodes() const { return engine_nodes_ + (parts_ ? parts_->nodes() : 0); }

  bool OutOfTime() const { return course_.TimeGone() >= 1; }

  void Search() {
    reversed_ = Reversed(narrowed_.costed);
    engines_.push_back(std::make_unique<ExactEngine>(narrowed_.costed, narrowed_.paths.tail, narrowed_.apart, Limit(),
                                                     step_, options_.memo_bytes));
    if (!costed_.limited_memory)
      engines_.push_back(std::make_unique<ExactEngine>(reversed_, narrowed_.paths.head, narrowed_.apart, Limit(), step_,
                                                       options_.memo_bytes));
    if (transfers_cost_) parts_.emplace(narrowed_, Limit(), step_);
    constexpr std::int64_t kFirstQuota = 1024;
    constexpr std::int64_t kMostQuota = 65536;
    for (std::int64_t quota = kFirstQuota; !Done(); quota = std::min(quota * 2, kMostQuota)) {
      StopIfInterrupted();
      if (course_.Done(Nodes()) >= 1) return;
      RunEngines(quota);
      while (parts_ && !Done() && !OutOfTime() && parts_->nodes() < engine_nodes_) {
        StopIfInterrupted();
        RunParts();
      }
    }
  }

  void RunEngines(std::int64_t quota) {
    RunInParallel(static_cast<int>(engines_.size()), options_.threads,
                  [&](int i) { engines_[Index(i)]->Run(quota, [this] { return OutOfTime(); }); });
    engine_nodes_ = 0;
    for (std::size_t i = 0; i < engines_.size(); ++i) {
      engine_nodes_ += engines_[i]->nodes();
      if (engines_[i]->best()) Meet(*engines_[i]->best(), i == 1);
    }
    for (const auto& engine : engines_) Prove(engine->done() ? Limit() : engine->OpenBound());
    LowerLimits();
  }

  void RunParts() {
    parts_->Round(options_.threads, [this] { return OutOfTime(); });
    if (parts_->best()) Meet(*parts_->best(), false);
    Prove(parts_->done() ? Limit() : parts_->OpenBound());
    LowerLimits();
  }

  void Meet(const RatedAssignment& met, bool backwards) {
    if (met.makespan >= Limit()) return;
    Assignment plan = met.assignment;
    if (backwards) std::reverse(plan.sequence.begin(), plan.sequence.end());
    const double makespan = MakeTimeline(costed_, plan).makespan;
    if (!best_ || makespan < best_->makespan) best_ = RatedAssignment{std::move(plan), makespan};
  }

  // No plan takes less than this and less than the limit.
  void Prove(double bound) { bound_ = std::max(bound_, std::min(bound, Limit())); }

  void LowerLimits() {
    for (const auto& engine : engines_) engine->LowerLimit(Limit());
    if (parts_) parts_->LowerLimit(Limit());
  }

  const CostedGraph& costed_;
  const ExactOptions& options_;
  const Course& course_;
  double step_;
  bool transfers_cost_;
  Narrowed narrowed_;
  CostedGraph reversed_;
  std::vector<std::unique_ptr<ExactEngine>> engines_;
  std::optional<ExactParts> parts_;
  std::int64_t engine_nodes_ = 0;
  std::optional<RatedAssignment> best_;
  double bound_ = 0;
};

std::optional<RatedAssignment> Rated(const CostedGraph& costed, const Assignment& plan) {
  if (!FitsInMemory(costed, plan)) return std::nullopt;
  return RatedAssignment{plan, MakeTimeline(costed, plan).makespan};
}

// A plan takes no less when links are shared than when nobody waits for them, so the optimum without waiting bounds the
// one with it, and is it where its plan never waits. What fits in memory differs between the two, so that is left open.
ExactResult SolveContended(const CostedGraph& costed, const Assignment& start, const ExactOptions& options,
                           const Course& course) {
  CostedGraph relaxed = costed;
  relaxed.topology = TopologyForAnyTimeline(costed.topology);
  relaxed.topology.proxy = Proxy::kLinear;
  relaxed.limited_memory = false;
  ExactResult result = Searches(relaxed, options, course).Solve(Rated(relaxed, start));
  std::optional<RatedAssignment> best = Rated(costed, start);
  const std::optional<RatedAssignment> met = Rated(costed, result.best->assignment);
  if (met && (!best || met->makespan < best->makespan)) best = met;
  result.best = std::move(best);
  result.proven = result.best && result.best->makespan * (1 - kRounding) <= result.bound;
  if (result.best) result.bound = std::min(result.bound, result.best->makespan);
  return result;
}

ExactResult SolveFrom(const CostedGraph& costed, const Assignment& start, const ExactOptions& options,
                      const Course& course) {
  if (costed.topology.proxy == Proxy::kContended) return SolveContended(costed, start, options, course);
  return Searches(costed, options, course).Solve(Rated(costed, start));
}

Course CourseOf(const ExactOptions& options) {
  return Course(options.nodes || options.seconds ? options.nodes : options.default_nodes, options.seconds);
}

class Exact final : public Planner {
 public:
  Exact(PlannerTraits traits, const ExactOptions& options) : Planner(std::move(traits)), options_(options) {}

  void Propose(const PlanningProblem& problem, const Budget& budget, Random& random,
               const Offer& offer) const override {
    const CostedGraph& costed = problem.costed();
    RefuseTooManyGroups(costed);
    ExactOptions options = options_;
    options.nodes = budget.iterations;
    options.seconds = budget.seconds;
    const Course course = CourseOf(options);
    Assignment start = StartOf(costed, options, random);
    ExactResult result = SolveFrom(costed, start, options, course);
    offer(result.best ? std::move(result.best->assignment) : std::move(start));
  }

 private:
  ExactOptions options_;
};

}  // namespace

ExactResult SolveExactly(const CostedGraph& costed, const ExactOptions& options, Random& random) {
  RefuseTooManyGroups(costed);
  const Course course = CourseOf(options);
  return SolveFrom(costed, StartOf(costed, options, random), options, course);
}

PlannerTraits ExactTraits() {
  return {.name = "exact", .meaning = "branch and bound, for small graphs", .takes_iterations = true, .in_pool = false};
}

std::unique_ptr<Planner> MakeExact(const ExactOptions& options) {
  return std::make_unique<Exact>(ExactTraits(), options);
}

}  // namespace millrace

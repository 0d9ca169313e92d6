// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/window_resampling.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "millrace/gflownet/sampling/sampler.h"
#include "millrace/heuristics/forward_backward.h"
#include "millrace/heuristics/upward_rank.h"
#include "millrace/planning/best_of.h"
#include "millrace/planning/deadline.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/reversed.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

class WindowResampling final : public Planner {
 public:
  WindowResampling(PlannerTraits traits, std::shared_ptr<const Planner> planner, std::shared_ptr<const Policy> policy,
                   const WindowResamplingOptions& options)
      : Planner(std::move(traits)), planner_(std::move(planner)), policy_(std::move(policy)), options_(options) {}

  std::int64_t SamplesFor(const PlanningProblem& problem, std::int64_t wanted) const override {
    return SampledPlansFor(problem, wanted);
  }

  void Propose(const PlanningProblem& problem, const Budget& budget, Random& random,
               const Offer& offer) const override {
    const Deadline whole(budget.seconds);
    Budget drawing = budget;
    drawing.samples = std::llround(std::ceil(options_.drawn_share * static_cast<double>(budget.samples)));
    if (budget.seconds) drawing.seconds = options_.drawn_share * *budget.seconds;
    RatedAssignment best = DrawAndList(problem, drawing, whole, random, offer);
    if (best.assignment.sequence.empty()) return;
    Improve(problem.costed(), budget.samples - drawing.samples, whole, random, offer, best);
  }

 private:
  // Independent streams of one generator.
  enum Stream : std::uint64_t { kFirst, kPlaces, kAnew };

  // Offers the other planner's plans. Returns the best of them and of what lists there and back make of them; no
  // sequence where none fits in memory. The reversed graph that this takes is gone when windows make theirs.
  RatedAssignment DrawAndList(const PlanningProblem& problem, const Budget& drawing, const Deadline& whole,
                              const Random& random, const Offer& offer) const {
    const CostedGraph& costed = problem.costed();
    RatedAssignment best{{}, kNone};
    const auto keep = [&costed, &best](const Assignment& assignment, double makespan) {
      if (makespan < best.makespan && FitsInMemory(costed, assignment)) best = {assignment, makespan};
    };
    Simulator simulator(costed);
    ThereAndBack passes(costed);
    ForwardBackwardOptions listing{.most_rounds = options_.rounds_a_draw, .stop = [&whole] { return whole.Passed(); }};
    Random first = random.Fork(kFirst);
    planner_->Propose(problem, drawing, first, [&](ProposedPlan plan) {
      keep(plan.assignment, simulator.Makespan(plan.assignment));
      passes.Improve(plan.assignment, listing, keep);
      offer(std::move(plan));
    });
    if (best.assignment.sequence.empty()) return best;
    listing.most_rounds = ForwardBackwardOptions().most_rounds;
    passes.Improve(Assignment(best.assignment), listing, keep);
    return best;
  }

  // Offers so many plans, each for as many steps of the policy as a whole plan takes, spent on windows of the best one.
  void Improve(const CostedGraph& costed, std::int64_t plans, const Deadline& deadline, const Random& random,
               const Offer& offer, RatedAssignment& best) const {
    std::vector<std::unique_ptr<Side>> sides;
    sides.push_back(std::make_unique<Side>(costed, options_.reward_temperatures.size()));
    // The contended timeline is not the same read backwards.
    if (costed.topology.proxy == Proxy::kLinear)
      sides.push_back(std::make_unique<Side>(Reversed(costed), options_.reward_temperatures.size()));
    MemoryCheck memory(costed);
    const double ccr = CommunicationRatio(costed);
    const auto groups = static_cast<std::size_t>(costed.num_groups);
    SamplerOptions sampling{.threads = options_.threads};
    Random places = random.Fork(kPlaces);
    const Random anew = random.Fork(kAnew);
    std::vector<Window> windows;
    std::size_t steps = 0;  // since the last offer
    double suffix_steps = 0, window_steps = 0;
    double seconds_a_step = 0;
    RatedAssignment offered = best;  // it need not be one of the draws, which are offered
    for (std::int64_t round = 0; plans > 0 && !deadline.Passed(); ++round) {
      const std::size_t left = static_cast<std::size_t>(plans) * groups - steps;
      const bool suffixes = suffix_steps <= options_.suffix_share * (suffix_steps + window_steps);
      const std::size_t length = suffixes ? groups : DrawWindowSteps(options_.windows, groups, places);
      windows.clear();
      std::size_t planned = 0;
      // Of a large graph a whole round may take longer than there is time.
      const auto time_for_more = [&] {
        return windows.empty() || seconds_a_step * static_cast<double>(planned) < deadline.Left();
      };
      while (static_cast<int>(windows.size()) < options_.round && planned < left && time_for_more()) {
        windows.push_back(suffixes ? SuffixOf(groups, places) : PlaceWindow(length, groups, places));
        windows.back().steps = std::min(windows.back().steps, left - planned);
        planned += windows.back().steps;
        (suffixes ? suffix_steps : window_steps) += static_cast<double>(windows.back().steps);
      }
      const std::size_t level = static_cast<std::size_t>(round) % options_.reward_temperatures.size();
      const bool back = round / options_.rounds_a_side % 2 == 1 && sides.size() > 1;
      Side& side = *sides[back ? 1 : 0];
      // The policy is prepared when it is first used: on a large graph that costs as much as drawing some plans.
      if (!side.prepared[level])
        side.prepared[level] = policy_->Prepare(side.environment, options_.reward_temperatures[level]);
      sampling.softmax_temperature = options_.softmax_temperature.Of(static_cast<int>(length), ccr) *
                                     (options_.flatter.empty() ? 1 : options_.flatter[level]);
      const Assignment opened = back ? ReadBackwards(best.assignment) : best.assignment;
      const Deadline drawing;
      std::vector<Trajectory> drawn =
          RedrawWindows(side.environment, *side.prepared[level], opened, windows, sampling, anew, nullptr);
      sampling.first += static_cast<std::int64_t>(windows.size());
      if (deadline.Limited()) seconds_a_step = drawing.Elapsed() / static_cast<double>(planned);
      for (std::size_t i = 0; i < drawn.size(); ++i) {
        if (back) drawn[i].assignment = ReadBackwards(std::move(drawn[i].assignment));
        // A plan that is as good takes the best one's place, too: many share a makespan, and some can be left for
        // better.
        if (drawn[i].makespan <= best.makespan && memory.Fits(drawn[i].assignment)) {
          best = {drawn[i].assignment, drawn[i].makespan};
          offered = best;
        } else if (drawn[i].makespan < offered.makespan && offered.makespan > best.makespan) {
          offered = {std::move(drawn[i].assignment), drawn[i].makespan};
        }
        steps += windows[i].steps;
        if (steps < groups) continue;
        offer(std::exchange(offered, {{}, kNone}).assignment);
        steps -= groups;
        --plans;
      }
    }
    if (plans > 0 && !offered.assignment.sequence.empty()) offer(std::move(offered.assignment));  // time is up
  }

  // The graph or the reversed one: what is drawn early in one is drawn late, and knowing more, in the other.
  struct Side {
    Side(CostedGraph of, std::size_t levels) : costed(std::move(of)), environment(costed), prepared(levels) {}
    const CostedGraph costed;
    const Environment environment;
    std::vector<std::unique_ptr<PreparedPolicy>> prepared;  // by reward temperature
  };

  static Assignment ReadBackwards(Assignment assignment) {
    std::reverse(assignment.sequence.begin(), assignment.sequence.end());
    return assignment;
  }

  static Window SuffixOf(std::size_t groups, Random& places) {
    const std::size_t begin = places.Below(groups);
    return {begin, groups - begin};
  }

  std::shared_ptr<const Planner> planner_;
  std::shared_ptr<const Policy> policy_;
  WindowResamplingOptions options_;
};

}  // namespace

std::unique_ptr<Planner> MakeWindowResampling(PlannerTraits traits, std::shared_ptr<const Planner> planner,
                                              std::shared_ptr<const Policy> policy,
                                              const WindowResamplingOptions& options) {
  return std::make_unique<WindowResampling>(std::move(traits), std::move(planner), std::move(policy), options);
}

}  // namespace millrace

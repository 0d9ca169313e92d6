// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/exact.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/graph/index.h"
#include "millrace/planning/course.h"
#include "millrace/search/anneal.h"
#include "millrace/search/symmetric_devices.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-12;

struct Child {
  int group = 0;
  int device = 0;
  double start = 0;
  double bound = 0;
  double tail = 0;

  // Earliest starts first, the longest way to go among them.
  bool operator<(const Child& other) const {
    return std::tuple(start, -tail, group, device) < std::tuple(other.start, -other.tail, other.group, other.device);
  }
};

class BranchAndBound {
 public:
  BranchAndBound(const CostedGraph& costed, const Course& course)
      : costed_(costed),
        course_(course),
        first_symmetric_(FirstSymmetricDevices(costed)),
        where_is_all_one_(!costed.limited_memory && costed.num_colocations == 0 &&
                          std::all_of(costed.topology.free.begin(), costed.topology.free.end(),
                                      [](std::uint8_t free) { return free != 0; })),
        tail_(Index(costed.num_groups), 0.0),
        groups_on_(Index(costed.num_devices), 0),
        unit_free_(Index(costed.topology.num_units), 0.0),
        settled_(Index(costed.num_colocations), -1),
        finish_(Index(costed.num_groups), 0.0),
        earliest_(Index(costed.num_groups), 0.0),
        children_(Index(costed.num_groups)),
        free_before_(Index(costed.num_groups) * Index(costed.topology.num_units)) {
    partial_.placement.assign(Index(costed.num_groups), -1);
    for (auto at = costed.topological_order.rbegin(); at != costed.topological_order.rend(); ++at) {
      for (const GroupEdge& edge : costed.Successors(*at)) {
        double& tail = tail_[Index(*at)];
        tail = std::max(tail, costed.fastest_seconds[Index(edge.group)] + tail_[Index(edge.group)]);
      }
    }
    for (int group = 0; group < costed.num_groups; ++group) {
      waiting_.push_back(static_cast<int>(costed.Predecessors(group).size()));
      work_left_ += costed.least_work[Index(group)];
    }
  }

  // Searches on from a plan, or from none.
  ExactResult Solve(std::optional<RatedAssignment> known) {
    best_ = std::move(known);
    ExactResult result;
    result.bound = std::max(LowerBound(costed_), Search(0.0));
    if (best_) result.bound = std::min(result.bound, best_->makespan);
    result.proven = !stopped_;
    result.nodes = nodes_;
    result.best = std::move(best_);
    return result;
  }

 private:
  double Limit() const { return best_ ? best_->makespan * (1 - kRounding) : kInfinity; }

  std::pair<const std::int32_t*, const std::int32_t*> UnitsOf(int device) const {
    const Topology& topology = costed_.topology;
    return {topology.device_units.data() + topology.device_offsets[Index(device)],
            topology.device_units.data() + topology.device_offsets[Index(device) + 1]};
  }

  bool MayRun(int group, int device) const {
    if (costed_.Seconds(group, device) == kInfinity) return false;
    const std::int32_t colocation = costed_.colocation[Index(group)];
    return colocation < 0 || settled_[Index(colocation)] < 0 || settled_[Index(colocation)] == device;
  }

  bool Scheduled(int group) const { return partial_.placement[Index(group)] >= 0; }

  // When the group could start there: exact once all its predecessors are scheduled, else no later than it will.
  double Start(int group, int device) const {
    double start = 0;
    for (const GroupEdge& edge : costed_.Predecessors(group)) {
      const int from = partial_.placement[Index(edge.group)];
      start = std::max(start, from >= 0 ? finish_[Index(edge.group)] + costed_.TransferSeconds(edge.bytes, from, device)
                                        : earliest_[Index(edge.group)]);
    }
    const auto [unit, end] = UnitsOf(device);
    for (const std::int32_t* u = unit; u != end; ++u) start = std::max(start, unit_free_[Index(*u)]);
    return start;
  }

  // What no schedule that goes on from here can beat. Fills earliest_, the least finish of every unscheduled group.
  double Bound() {
    double units_gone = 0;
    for (const double free : unit_free_) units_gone += std::max(free, last_start_);
    double bound = (units_gone + work_left_) / static_cast<double>(costed_.topology.num_units);
    for (const double free : unit_free_) bound = std::max(bound, free);
    for (const std::int32_t group : costed_.topological_order) {
      if (Scheduled(group)) continue;
      double earliest = kInfinity;
      for (int device = 0; device < costed_.num_devices; ++device) {
        if (!MayRun(group, device)) continue;
        earliest = std::min(earliest, std::max(last_start_, Start(group, device)) + costed_.Seconds(group, device));
      }
      earliest_[Index(group)] = earliest;
      bound = std::max(bound, earliest + tail_[Index(group)]);
    }
    return bound;
  }

  void FindChildren(std::vector<Child>& children) const {
    children.clear();
    for (int group = 0; group < costed_.num_groups; ++group) {
      if (Scheduled(group) || waiting_[Index(group)] > 0) continue;
      const std::size_t first = children.size();
      for (int device = 0; device < costed_.num_devices; ++device) {
        if (!MayRun(group, device) || UnusedSymmetricDeviceBefore(device)) continue;
        const double start = Start(group, device);
        // The same timeline comes about with this group appended earlier.
        if (start < last_start_) continue;
        const double tail = costed_.Seconds(group, device) + tail_[Index(group)];
        const bool alike =
            where_is_all_one_ &&
            std::any_of(children.begin() + static_cast<std::ptrdiff_t>(first), children.end(), [&](const Child& other) {
              return first_symmetric_[Index(other.device)] == first_symmetric_[Index(device)] && other.start == start;
            });
        if (!alike) children.push_back({group, device, start, start + tail, tail});
      }
    }
    std::sort(children.begin(), children.end());
  }

  // Is another device that can stand for this one still without groups, as this one is?
  bool UnusedSymmetricDeviceBefore(int device) const {
    if (groups_on_[Index(device)] > 0) return false;
    for (int other = first_symmetric_[Index(device)]; other < device; ++other) {
      if (first_symmetric_[Index(other)] == first_symmetric_[Index(device)] && groups_on_[Index(other)] == 0)
        return true;
    }
    return false;
  }

  // The least makespan of any plan that goes on from here, or a bound of it where it is not below the best known or
  // time ran out.
  double Search(double inherited) {
    constexpr std::int64_t kNodesBetweenLooks = 256;
    if (nodes_ % kNodesBetweenLooks == 0) {
      StopIfInterrupted();
      stopped_ = course_.Done(nodes_) >= 1;
    }
    if (stopped_) return inherited;
    ++nodes_;
    const std::size_t depth = partial_.sequence.size();
    if (depth == Index(costed_.num_groups)) return Leaf();
    const double bound = std::max(inherited, Bound());
    if (bound >= Limit()) return bound;
    std::vector<Child>& children = children_[depth];
    FindChildren(children);
    double least = kInfinity;
    for (const Child& child : children) {
      const double known = std::max(bound, child.bound);
      least = std::min(least, known >= Limit() ? known : Descend(child, known));
    }
    return least;
  }

  double Leaf() {
    const double makespan = *std::max_element(unit_free_.begin(), unit_free_.end());
    if (!FitsInMemory(costed_, partial_)) return kInfinity;
    if (makespan < Limit()) best_ = RatedAssignment{partial_, makespan};
    return makespan;
  }

  // Where a node keeps the units as its parent left them.
  std::span<double> FreeBefore() {
    return std::span(free_before_).subspan(partial_.sequence.size() * unit_free_.size(), unit_free_.size());
  }

  double Descend(const Child& child, double known) {
    const auto [unit, end] = UnitsOf(child.device);
    const std::int32_t colocation = costed_.colocation[Index(child.group)];
    const bool settles = colocation >= 0 && settled_[Index(colocation)] < 0;
    const double start_before = last_start_;
    const double work_before = work_left_;
    std::copy(unit_free_.begin(), unit_free_.end(), FreeBefore().begin());
    partial_.placement[Index(child.group)] = child.device;
    partial_.sequence.push_back(child.group);
    finish_[Index(child.group)] = child.start + costed_.Seconds(child.group, child.device);
    for (const std::int32_t* u = unit; u != end; ++u) unit_free_[Index(*u)] = finish_[Index(child.group)];
    if (settles) settled_[Index(colocation)] = child.device;
    ++groups_on_[Index(child.device)];
    work_left_ -= costed_.least_work[Index(child.group)];
    last_start_ = child.start;
    for (const GroupEdge& edge : costed_.Successors(child.group)) --waiting_[Index(edge.group)];

    const double least = Search(known);

    for (const GroupEdge& edge : costed_.Successors(child.group)) ++waiting_[Index(edge.group)];
    last_start_ = start_before;
    work_left_ = work_before;
    --groups_on_[Index(child.device)];
    if (settles) settled_[Index(colocation)] = -1;
    partial_.sequence.pop_back();
    std::copy(FreeBefore().begin(), FreeBefore().end(), unit_free_.begin());
    partial_.placement[Index(child.group)] = -1;
    return least;
  }

  const CostedGraph& costed_;
  const Course& course_;
  std::vector<int> first_symmetric_;  // by device
  bool where_is_all_one_;             // on which of its symmetric devices a group ran matters to no other group
  std::vector<double> tail_;          // by group: the longest way from its finish to the end at the fastest

  Assignment partial_;  // placement -1: not scheduled
  std::vector<int> waiting_;
  std::vector<int> groups_on_;  // by device
  std::vector<double> unit_free_;
  std::vector<std::int32_t> settled_;  // device of each colocation; -1: open
  std::vector<double> finish_;         // of scheduled groups
  std::vector<double> earliest_;       // of the others, as of the last Bound
  double work_left_ = 0;
  double last_start_ = 0;

  std::vector<std::vector<Child>> children_;  // by depth
  std::vector<double> free_before_;           // by depth and unit
  std::optional<RatedAssignment> best_;
  std::int64_t nodes_ = 0;
  bool stopped_ = false;
};

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

ExactResult SolveFrom(const CostedGraph& costed, const Assignment& start, const Course& course) {
  std::optional<RatedAssignment> known;
  if (FitsInMemory(costed, start)) known = RatedAssignment{start, MakeTimeline(costed, start).makespan};
  return BranchAndBound(costed, course).Solve(std::move(known));
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
    ExactResult result = SolveFrom(costed, start, course);
    offer(result.best ? std::move(result.best->assignment) : std::move(start));
  }

 private:
  ExactOptions options_;
};

}  // namespace

ExactResult SolveExactly(const CostedGraph& costed, const ExactOptions& options, Random& random) {
  RefuseTooManyGroups(costed);
  const Course course = CourseOf(options);
  return SolveFrom(costed, StartOf(costed, options, random), course);
}

PlannerTraits ExactTraits() {
  return {.name = "exact", .meaning = "branch and bound, for small graphs", .takes_iterations = true, .in_pool = false};
}

std::unique_ptr<Planner> MakeExact(const ExactOptions& options) {
  return std::make_unique<Exact>(ExactTraits(), options);
}

}  // namespace millrace

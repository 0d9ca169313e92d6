// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/beam.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <unordered_set>
#include <utility>
#include <vector>

#include "millrace/errors/interrupt.h"
#include "millrace/gflownet/environment/observer.h"
#include "millrace/gflownet/environment/rank_completion.h"
#include "millrace/gflownet/environment/state.h"
#include "millrace/gflownet/sampling/choice.h"
#include "millrace/gflownet/sampling/sampling_planner.h"
#include "millrace/planning/deadline.h"

namespace millrace {
namespace {

constexpr double kNoPlanYet = std::numeric_limits<double>::infinity();
constexpr std::int64_t kMostPlans = std::int64_t{1} << 32;  // that anybody has time for

// A partial plan has some numbers for every group on every device. So many in a pass.
constexpr std::int64_t kMostCells = 4'000'000;

// Sums of these tell partial plans apart, however they were built: equal sums, equal groups on equal devices at equal
// times.
std::uint64_t KeyOf(Action action, double finish) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &finish, sizeof bits);
  const auto choice = static_cast<std::uint64_t>(action.group) << 32 |
                      static_cast<std::uint64_t>(static_cast<std::uint32_t>(action.device));
  return Random(bits).Fork(choice).Next();
}

struct PartialPlan {
  State state;
  double log_probability = 0;
  std::uint64_t key = 0;
};

// A choice for one of them.
struct Extension {
  std::size_t of = 0;
  Action action;
  double makespan = 0;         // of the plan that list scheduling makes of it
  double log_probability = 0;  // with that of the partial plan
  std::uint64_t key = 0;
};

class Beam {
 public:
  Beam(const Environment& environment, PreparedPolicy& policy, const BeamOptions& options, std::int64_t plans,
       const Deadline& deadline, const Offer& offer)
      : environment_(environment),
        policy_(policy),
        options_(options),
        plans_left_(plans),
        deadline_(deadline),
        offer_(offer),
        completion_(environment),
        observer_(environment, policy.LooksAhead()) {}

  bool Over() const { return plans_left_ <= 0 || (!plan_.sequence.empty() && deadline_.Passed()); }

  void Pass(std::size_t width, CompletionRule rule) {
    std::vector<PartialPlan> plans;
    plans.push_back({State(environment_)});
    while (!plans.front().state.done()) {
      StopIfInterrupted();
      extensions_.clear();
      for (std::size_t i = 0; i < plans.size(); ++i) {
        Extend(plans[i], i, rule);
        if (Over()) return;
      }
      Keep(width, plans);
    }
  }

  // What was found since the last offer.
  void OfferRest() {
    if (plans_left_ > 0 && fastest_ < kNoPlanYet) offer_(plan_);
  }

 private:
  struct Choice {
    Action action;
    double log_probability = 0;
  };

  void Extend(const PartialPlan& plan, std::size_t of, CompletionRule rule) {
    Look(plan.state);
    for (const Choice& choice : choices_) {
      const double makespan = completion_.Makespan(plan.state, choice.action, rule);
      if (makespan < fastest_) {
        fastest_ = makespan;
        plan_ = completion_.Plan(plan.state, choice.action, rule);
      }
      const double finish = plan.state.EarliestFinish(choice.action.group, choice.action.device);
      extensions_.push_back({of, choice.action, makespan, plan.log_probability + choice.log_probability,
                             plan.key + KeyOf(choice.action, finish)});
    }
    const std::int64_t plans_worth = 2 * std::int64_t{environment_.num_groups()};
    while (half_steps_ >= plans_worth && plans_left_ > 0) {
      half_steps_ -= plans_worth;
      --plans_left_;
      offer_(plan_);
      fastest_ = kNoPlanYet;
    }
  }

  // The likeliest choices.
  void Look(const State& state) {
    choices_.clear();
    observer_.See(state);
    observer_.Groups(groups_);
    group_logits_.resize(groups_.size());
    policy_.ScoreGroups(state, groups_, group_logits_);
    LogSoftmax(group_logits_);
    by_likelihood_.resize(groups_.size());
    std::iota(by_likelihood_.begin(), by_likelihood_.end(), std::size_t{0});
    const auto looked_at = std::min(by_likelihood_.size(), static_cast<std::size_t>(options_.groups));
    std::partial_sort(by_likelihood_.begin(), by_likelihood_.begin() + static_cast<std::ptrdiff_t>(looked_at),
                      by_likelihood_.end(), [this](std::size_t a, std::size_t b) {
                        return std::pair(-group_logits_[a], a) < std::pair(-group_logits_[b], b);
                      });
    for (std::size_t k = 0; k < looked_at; ++k) {
      const std::size_t which = by_likelihood_[k];
      const std::int32_t group = groups_.choices[which];
      observer_.Devices(group, devices_);
      device_logits_.resize(devices_.size());
      policy_.ScoreDevices(state, group, devices_, device_logits_);
      LogSoftmax(device_logits_);
      for (std::size_t i = 0; i < devices_.size(); ++i)
        choices_.push_back(
            {{group, devices_.choices[i]}, static_cast<double>(group_logits_[which] + device_logits_[i])});
    }
    half_steps_ += 1 + static_cast<std::int64_t>(looked_at);
    std::stable_sort(choices_.begin(), choices_.end(),
                     [](const Choice& a, const Choice& b) { return a.log_probability > b.log_probability; });
    choices_.resize(std::min(choices_.size(), static_cast<std::size_t>(options_.choices)));
  }

  // Those that list scheduling finishes first; of equally good ones the likelier. No two are the same partial plan.
  void Keep(std::size_t width, std::vector<PartialPlan>& plans) {
    std::stable_sort(extensions_.begin(), extensions_.end(), [](const Extension& a, const Extension& b) {
      return std::pair(a.makespan, -a.log_probability) < std::pair(b.makespan, -b.log_probability);
    });
    std::vector<PartialPlan> kept;
    kept.reserve(width);
    known_.clear();
    for (const Extension& extension : extensions_) {
      if (kept.size() == width) break;
      if (!known_.insert(extension.key).second) continue;
      kept.push_back({plans[extension.of].state, extension.log_probability, extension.key});
      kept.back().state.Append(extension.action);
    }
    plans = std::move(kept);
  }

  const Environment& environment_;
  PreparedPolicy& policy_;
  const BeamOptions& options_;
  std::int64_t plans_left_;
  const Deadline& deadline_;
  const Offer& offer_;
  RankCompletion completion_;
  Observer observer_;
  std::int64_t half_steps_ = 0;  // since the last offer
  double fastest_ = kNoPlanYet;  // likewise
  Assignment plan_;              // the fastest, or the last that was offered
  Observation groups_, devices_;
  std::vector<float> group_logits_, device_logits_;
  std::vector<std::size_t> by_likelihood_;
  std::vector<Choice> choices_;
  std::vector<Extension> extensions_;
  std::unordered_set<std::uint64_t> known_;
};

class BeamPlanner final : public Planner {
 public:
  BeamPlanner(PlannerTraits traits, std::shared_ptr<const Policy> policy, const BeamOptions& options)
      : Planner(std::move(traits)), policy_(std::move(policy)), options_(options) {}

  std::int64_t SamplesFor(const PlanningProblem& problem, std::int64_t wanted) const override {
    return SampledPlansFor(problem, wanted);
  }

  void Propose(const PlanningProblem& problem, const Budget& budget, Random& /*random*/,
               const Offer& offer) const override {
    const CostedGraph& costed = problem.costed();
    if (costed.num_groups == 0) {
      offer(Assignment{});
      return;
    }
    const Deadline deadline(budget.seconds);
    const Environment environment(costed);
    const std::unique_ptr<PreparedPolicy> prepared = policy_->Prepare(environment, options_.reward_temperature);
    Beam beam(environment, *prepared, options_, std::min(budget.samples, kMostPlans), deadline, offer);
    const std::int64_t cells = static_cast<std::int64_t>(costed.num_groups) * costed.num_devices;
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, kMostCells / cells));
    for (auto width = static_cast<std::size_t>(options_.first_width);; width *= 2) {
      for (const CompletionRule rule : {CompletionRule::kFinish, CompletionRule::kOnward}) {
        if (!beam.Over()) beam.Pass(std::min(width, most), rule);
      }
      if (beam.Over() || width >= most) break;
    }
    beam.OfferRest();
  }

 private:
  std::shared_ptr<const Policy> policy_;
  BeamOptions options_;
};

}  // namespace

std::unique_ptr<Planner> MakeBeam(PlannerTraits traits, std::shared_ptr<const Policy> policy,
                                  const BeamOptions& options) {
  return std::make_unique<BeamPlanner>(std::move(traits), std::move(policy), options);
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "millrace/errors/interrupt.h"
#include "millrace/gflownet/environment/observer.h"
#include "millrace/gflownet/environment/state.h"
#include "millrace/gflownet/sampling/choice.h"
#include "millrace/planning/parallel.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

// Builds one plan after the other, for one thread.
class Walker {
 public:
  Walker(const Environment& environment, const PreparedPolicy& policy, double recorded_share)
      : policy_(policy.Clone()),
        state_(environment),
        observer_(environment, policy.LooksAhead()),
        recorded_share_(recorded_share),
        drawn_(static_cast<std::size_t>(environment.num_groups()), 0) {
    if (environment.costed().topology.proxy == Proxy::kContended) simulator_.emplace(environment.costed());
  }

  // Builds a plan.
  template <typename ChooseGroup, typename ChooseDevice>
  Trajectory Walk(int index, Random recording, StepBatch* batch, ChooseGroup choose_group, ChooseDevice choose_device) {
    state_.Clear();
    Trajectory trajectory;
    trajectory.actions.reserve(static_cast<std::size_t>(state_.environment().num_groups()));
    while (!state_.done()) Step(index, recording, batch, choose_group, choose_device, trajectory);
    return Finish(std::move(trajectory));
  }

  // Builds a plan that differs from the given one in a window.
  template <typename Choose>
  Trajectory WalkWindow(int index, const Assignment& plan, Window window, Random recording, StepBatch* batch,
                        Choose choose) {
    state_.Clear();
    Trajectory trajectory;
    trajectory.actions.reserve(plan.sequence.size());
    for (std::size_t step = 0; step < window.begin; ++step) Follow(plan, plan.sequence[step], trajectory);
    for (std::size_t step = 0; step < window.steps && !state_.done(); ++step)
      Step(index, recording, batch, choose, choose, trajectory);
    for (std::size_t step = window.begin; step < plan.sequence.size() && !state_.done(); ++step) {
      if (!state_.placed(plan.sequence[step])) Follow(plan, plan.sequence[step], trajectory);
    }
    return Finish(std::move(trajectory));
  }

 private:
  // Draws, records and takes one step.
  template <typename ChooseGroup, typename ChooseDevice>
  void Step(int index, Random& recording, StepBatch* batch, ChooseGroup& choose_group, ChooseDevice& choose_device,
            Trajectory& trajectory) {
    const bool recorded = batch != nullptr && (recorded_share_ >= 1 || recording.Uniform() < recorded_share_);
    observer_.See(state_);
    observer_.Groups(observation_);
    logits_.resize(observation_.size());
    policy_->ScoreGroups(state_, observation_, logits_);
    LogSoftmax(logits_);
    std::size_t taken = choose_group(observation_, std::span<const float>(logits_));
    const std::int32_t group = Take(taken, index, -1, recorded ? &batch->groups : nullptr, trajectory);

    const std::int32_t settled = group >= 0 ? group : choose_group.Forced();
    observer_.Devices(settled, observation_);
    logits_.resize(observation_.size());
    policy_->ScoreDevices(state_, settled, observation_, logits_);
    LogSoftmax(logits_);
    taken = choose_device(observation_, std::span<const float>(logits_));
    const std::int32_t device = Take(taken, index, settled, recorded ? &batch->devices : nullptr, trajectory);
    trajectory.actions.push_back({settled, device});
    state_.Append(trajectory.actions.back());
    drawn_[static_cast<std::size_t>(settled)] = 1;
    trajectory.log_backward += LogRemoval(settled);
  }

  // Places a group where the plan has it, or where a colocation drawn in the window leaves it.
  void Follow(const Assignment& plan, std::int32_t group, Trajectory& trajectory) {
    std::int32_t device = plan.placement[static_cast<std::size_t>(group)];
    if (!state_.MayRun(group, device)) {
      device = 0;
      while (!state_.MayRun(group, device)) ++device;
    }
    trajectory.actions.push_back({group, device});
    state_.Append(trajectory.actions.back());
  }

  Trajectory Finish(Trajectory trajectory) {
    trajectory.assignment = state_.assignment();
    trajectory.makespan = simulator_ ? simulator_->Makespan(trajectory.assignment) : state_.makespan();
    for (const Action& action : trajectory.actions) drawn_[static_cast<std::size_t>(action.group)] = 0;
    return trajectory;
  }

  // Log P_B of one of the removable groups. What a window keeps was never drawn, so it cannot be removed.
  double LogRemoval(std::int32_t group) {
    const std::span<const std::int32_t> removable = state_.removable();
    logits_.resize(removable.size());
    const bool learned = policy_->ScoreRemovals(state_, logits_);
    std::size_t drawn = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < removable.size(); ++i) {
      if (drawn_[static_cast<std::size_t>(removable[i])] == 0) continue;
      if (removable[i] == group) at = drawn;
      logits_[drawn++] = logits_[i];
    }
    if (!learned) return -std::log(static_cast<double>(drawn));
    logits_.resize(drawn);
    LogSoftmax(logits_);
    return static_cast<double>(logits_[at]);
  }

  // Records the taken choice and returns it; -1 if it was not on offer.
  std::int32_t Take(std::size_t taken, int index, std::int32_t for_group, ChoiceBatch* batch, Trajectory& trajectory) {
    if (taken >= observation_.size()) {
      trajectory.log_forward = -std::numeric_limits<double>::infinity();
      return -1;
    }
    trajectory.log_forward += static_cast<double>(logits_[taken]);
    if (batch != nullptr) batch->Append(index, for_group, observation_, taken, logits_[taken]);
    return observation_.choices[taken];
  }

  std::unique_ptr<PreparedPolicy> policy_;
  State state_;
  Observer observer_;
  double recorded_share_;
  Observation observation_;
  std::vector<float> logits_;
  std::vector<std::uint8_t> drawn_;     // by group: placed by the policy in this walk
  std::optional<Simulator> simulator_;  // where a state's makespan is an estimate
};

// Draws choices from the policy.
class Drawing {
 public:
  Drawing(const SamplerOptions& options, Random& random) : options_(&options), random_(&random) {}
  std::size_t operator()(const Observation&, std::span<const float> log_probabilities) const {
    return DrawChoice(log_probabilities, options_->softmax_temperature, options_->epsilon, *random_);
  }
  static std::int32_t Forced() { return -1; }

 private:
  const SamplerOptions* options_;
  Random* random_;
};

class TakingTheMostLikely {
 public:
  std::size_t operator()(const Observation&, std::span<const float> log_probabilities) const {
    return MostLikely(log_probabilities);
  }
  static std::int32_t Forced() { return -1; }
};

// Takes the choices of given actions: their groups or their devices.
template <std::int32_t Action::*kMember>
class Following {
 public:
  explicit Following(const std::vector<Action>& actions) : actions_(&actions) {}
  std::size_t operator()(const Observation& observation, std::span<const float>) {
    forced_ = (*actions_)[step_++].*kMember;
    return static_cast<std::size_t>(std::find(observation.choices.begin(), observation.choices.end(), forced_) -
                                    observation.choices.begin());
  }
  std::int32_t Forced() const { return forced_; }

 private:
  const std::vector<Action>* actions_;
  std::size_t step_ = 0;
  std::int32_t forced_ = -1;
};

// Calls walk(walker, i, batch) for i in 0..count-1. Every thread has a contiguous range, so that batches join in order.
template <typename WalkOne>
std::vector<Trajectory> WalkAll(const Environment& environment, const PreparedPolicy& policy, int count,
                                const SamplerOptions& options, StepBatch* batch, WalkOne walk) {
  std::vector<Trajectory> trajectories(static_cast<std::size_t>(count));
  const int threads = std::clamp(options.threads, 1, std::max(1, count));
  std::vector<StepBatch> batches(static_cast<std::size_t>(threads));
  RunInParallel(threads, threads, [&](int thread) {
    Walker walker(environment, policy, options.recorded_share);
    StepBatch* const own = batch != nullptr ? &batches[static_cast<std::size_t>(thread)] : nullptr;
    const auto bound = [count, threads](int t) {
      return static_cast<int>(static_cast<std::int64_t>(count) * t / threads);
    };
    for (int i = bound(thread); i < bound(thread + 1); ++i) {
      StopIfInterrupted();
      trajectories[static_cast<std::size_t>(i)] = walk(walker, i, own);
    }
  });
  if (batch != nullptr) {
    batch->Clear();
    for (const StepBatch& part : batches) {
      batch->groups.Append(part.groups);
      batch->devices.Append(part.devices);
    }
  }
  return trajectories;
}

constexpr std::uint64_t kRecordingStream = 1;

}  // namespace

std::vector<Trajectory> SampleTrajectories(const Environment& environment, const PreparedPolicy& policy, int count,
                                           const SamplerOptions& options, const Random& random, StepBatch* batch) {
  return WalkAll(environment, policy, count, options, batch,
                 [&options, &random](Walker& walker, int i, StepBatch* own) {
                   Random stream = random.Fork(static_cast<std::uint64_t>(options.first + i));
                   const Drawing drawing(options, stream);
                   return walker.Walk(i, stream.Fork(kRecordingStream), own, drawing, drawing);
                 });
}

std::vector<Trajectory> RescoreTrajectories(const Environment& environment, const PreparedPolicy& policy,
                                            const std::vector<std::vector<Action>>& actions,
                                            const SamplerOptions& options, const Random& random, StepBatch* batch) {
  return WalkAll(environment, policy, static_cast<int>(actions.size()), options, batch,
                 [&actions, &random](Walker& walker, int i, StepBatch* own) {
                   const std::vector<Action>& followed = actions[static_cast<std::size_t>(i)];
                   return walker.Walk(i, random.Fork(static_cast<std::uint64_t>(i)).Fork(kRecordingStream), own,
                                      Following<&Action::group>(followed), Following<&Action::device>(followed));
                 });
}

std::vector<Trajectory> RedrawWindows(const Environment& environment, const PreparedPolicy& policy,
                                      const Assignment& plan, const std::vector<Window>& windows,
                                      const SamplerOptions& options, const Random& random, StepBatch* batch) {
  return WalkAll(environment, policy, static_cast<int>(windows.size()), options, batch,
                 [&](Walker& walker, int i, StepBatch* own) {
                   Random stream = random.Fork(static_cast<std::uint64_t>(options.first + i));
                   return walker.WalkWindow(i, plan, windows[static_cast<std::size_t>(i)],
                                            stream.Fork(kRecordingStream), own, Drawing(options, stream));
                 });
}

Trajectory GreedyTrajectory(const Environment& environment, const PreparedPolicy& policy) {
  Walker walker(environment, policy, 0);
  return walker.Walk(0, Random(0), nullptr, TakingTheMostLikely(), TakingTheMostLikely());
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/hdp/trainer.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/heuristics/upward_rank.h"
#include "millrace/planning/deadline.h"
#include "millrace/planning/parallel.h"
#include "millrace/train/hdp/features.h"
#include "millrace/train/hdp/network.h"
#include "millrace/train/torch/plan_reward.h"

namespace millrace {
namespace {

// Independent streams of one seed.
enum Stream : std::uint64_t { kWeights, kSamples };

constexpr double kAdvantageLimit = 3;  // in standard deviations

class HdpTraining {
 public:
  HdpTraining(const ComputationGraph& graph, const CostedGraph& costed, const HdpSettings& settings)
      : costed_(costed),
        settings_(settings),
        random_(settings.seed),
        features_(MakeHdpFeatures(graph, costed)),
        network_(features_, {.groups = std::min(settings.groups, features_.num_units), .devices = costed.num_devices},
                 settings.torch_threads, random_.Fork(kWeights)),
        sequence_(ByDecreasingRank(costed, UpwardRanks(costed, MeanSeconds(costed), MeanTransferOf(costed.topology)))),
        deadline_(settings.seconds) {
    for (const double seconds : costed.fastest_seconds) reference_ += seconds;
    if (!(reference_ > 0)) reference_ = 1;
    result_.progress.best_seconds = kCannotRun;
  }

  HdpResult Run(const std::function<void(const HdpProgress&)>& observer) {
    while (!Done()) {
      StopIfInterrupted();
      Update();
      observer(result_.progress);
    }
    return std::move(result_);
  }

 private:
  bool Done() const {
    return (settings_.updates && result_.progress.updates >= *settings_.updates) || deadline_.Passed();
  }

  Assignment PlanOf(const HdpSample& sample) const {
    Assignment assignment{.placement = std::vector<int>(features_.unit_of.size()), .sequence = sequence_};
    for (std::size_t group = 0; group < features_.unit_of.size(); ++group) {
      const auto unit = static_cast<std::size_t>(features_.unit_of[group]);
      assignment.placement[group] = sample.device_of_group[static_cast<std::size_t>(sample.group_of_unit[unit])];
    }
    return assignment;
  }

  void Update() {
    HdpProgress& progress = result_.progress;
    Random random = random_.Fork(kSamples).Fork(static_cast<std::uint64_t>(progress.updates));
    const std::vector<HdpSample> samples = network_.Sample(settings_.samples, random);
    std::vector<Assignment> plans(samples.size());
    std::vector<double> seconds(samples.size());
    RunInParallel(settings_.samples, settings_.threads, [&](int i) {
      const auto at = static_cast<std::size_t>(i);
      plans[at] = PlanOf(samples[at]);
      seconds[at] = UsableSeconds(costed_, plans[at]);
    });
    network_.Reinforce(Advantages(seconds), EntropyBonus(), settings_.learning_rate);

    double sum = 0;
    int usable = 0;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (!std::isfinite(seconds[i])) continue;
      sum += seconds[i];
      ++usable;
      if (seconds[i] >= progress.best_seconds) continue;
      progress.best_seconds = seconds[i];
      result_.best = std::move(plans[i]);
    }
    progress.mean_seconds = usable > 0 ? sum / usable : 0;
    progress.evaluations += settings_.samples;
    ++progress.updates;
    progress.seconds = deadline_.Elapsed();
  }

  double EntropyBonus() const {
    const double gone = static_cast<double>(result_.progress.updates) / settings_.entropy_updates;
    return settings_.entropy_bonus * std::max(0.0, 1 - gone);
  }

  // Rewards against their moving mean, in units of their moving deviation from it.
  std::vector<double> Advantages(const std::vector<double>& seconds) {
    std::vector<double> advantages;
    advantages.reserve(seconds.size());
    double mean = 0;
    for (const double taken : seconds) {
      advantages.push_back(PlanReward(taken, reference_));
      mean += advantages.back() / static_cast<double>(seconds.size());
    }
    const bool first = result_.progress.updates == 0;
    if (first) baseline_ = mean;
    double square = 0;
    for (double& advantage : advantages) {
      advantage -= baseline_;
      square += advantage * advantage / static_cast<double>(seconds.size());
    }
    variance_ = first ? square : settings_.baseline_decay * variance_ + (1 - settings_.baseline_decay) * square;
    const double deviation = std::sqrt(variance_) + 1e-12;
    for (double& advantage : advantages) {
      advantage = std::clamp(advantage / deviation, -kAdvantageLimit, kAdvantageLimit);
    }
    baseline_ = settings_.baseline_decay * baseline_ + (1 - settings_.baseline_decay) * mean;
    return advantages;
  }

  const CostedGraph& costed_;
  const HdpSettings& settings_;
  Random random_;
  HdpFeatures features_;
  HdpNetwork network_;
  std::vector<int> sequence_;
  double reference_ = 0;
  double baseline_ = 0;
  double variance_ = 0;
  HdpResult result_;
  Deadline deadline_;
};

}  // namespace

SettingsTable TableOf(HdpSettings& s) {
  return {{"groups", &s.groups, Between(1, 4096), "groups that ops are put into, at most one per unit"},
          {"samples", &s.samples, Between(2, 4096), "plans tried per update"},
          {"learning_rate", &s.learning_rate, Between(1e-9, 1), "learning rate of Adam"},
          {"baseline_decay", &s.baseline_decay, Between(0, 0.999), "decay of the moving mean reward"},
          {"entropy_bonus", &s.entropy_bonus, Between(0, 10), "bonus for entropy at the start; it falls to 0"},
          {"entropy_updates", &s.entropy_updates, Between(1, 1e9), "updates in which the bonus for entropy falls"}};
}

void CheckSettings(const HdpSettings& settings) {
  if (!settings.updates && !settings.seconds) throw InvalidInput("HDP needs a limit: updates or seconds");
  CheckRowsOf(settings);
}

HdpResult TrainHdp(const ComputationGraph& graph, const CostedGraph& costed, const HdpSettings& settings,
                   const std::function<void(const HdpProgress&)>& observer) {
  CheckSettings(settings);
  if (costed.num_groups == 0) throw InvalidInput("a graph without ops has no plan to learn");
  return HdpTraining(graph, costed, settings).Run(observer);
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/learner.h"

#include <map>
#include <string>
#include <utility>

#include "millrace/go/network.h"
#include "millrace/go/policy.h"
#include "millrace/train/go/network.h"
#include "millrace/train/torch/quiet_torch.h"
#include "millrace/train/torch/trained_parameters.h"

namespace millrace {
namespace {

std::vector<const GoStep*> Pointers(const std::vector<GoStep>& steps) {
  std::vector<const GoStep*> pointers;
  pointers.reserve(steps.size());
  for (const GoStep& step : steps) pointers.push_back(&step);
  return pointers;
}

// Mean over choices that count, by step.
torch::Tensor MeanOverCounted(const torch::Tensor& values, const torch::Tensor& counted) {
  return (values * counted).sum(1) / counted.sum().clamp_min(1);
}

struct Loss {
  torch::Tensor total;  // undefined where there is nothing to learn from
  double loss = 0;
  double entropy = 0;
  double demonstration_log_probability = 0;
};

}  // namespace

struct GoLearner::State {
  GoLearnerSettings settings;
  Team team;
  torch::Device device;
  std::map<std::string, std::string> metadata;
  Shapes shapes;
  TrainedParameters trained;

  State(const Weights& start, const GoLearnerSettings& s)
      : settings(s),
        team(s.team == nullptr ? Team() : *s.team),
        device(torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU)),
        metadata(start.metadata),
        shapes(GoShapes()),
        trained(shapes, start, s.average_decay, device, &team) {}

  Weights WithMetadata(Weights weights) const {
    weights.metadata = metadata;
    return weights;
  }

  // `before`: log probabilities when the steps were sampled; filled where they are undefined.
  Loss LossOf(const GoBatch& batch, const GoObjective& objective,
              std::array<torch::Tensor, kTasks.size()>& before) const {
    const GoEncoded encoded = EncodeGo(trained.parameters(), *batch.features, device);
    const auto run = [&](const std::vector<GoStep>& steps) {
      return RunGoNetwork(trained.parameters(), encoded, *batch.problem, *batch.features, Pointers(steps), batch.window,
                          device, batch.own);
    };
    Loss loss;
    std::vector<torch::Tensor> terms;
    if (!batch.sampled.empty()) {
      const GoOutputs outputs = run(batch.sampled);
      const torch::Tensor advantages =
          torch::tensor(batch.advantages, torch::kFloat64).to(torch::kFloat32).to(device).unsqueeze(1);
      int tasks = 0;
      for (std::size_t task = 0; task < kTasks.size(); ++task) {
        const GoChoices& choices = outputs[task];
        if (!choices.log_probability.defined()) continue;
        ++tasks;
        if (!before[task].defined()) before[task] = choices.log_probability.detach();
        const torch::Tensor ratio = torch::exp(choices.log_probability - before[task]);
        const torch::Tensor bounded = ratio.clamp(1 - objective.ratio_limit, 1 + objective.ratio_limit);
        const torch::Tensor gain = torch::min(ratio * advantages, bounded * advantages);
        const torch::Tensor entropy = MeanOverCounted(choices.entropy, choices.counted).mean();
        terms.push_back(-MeanOverCounted(gain, choices.counted).mean() - objective.entropy_bonus * entropy);
        loss.loss += terms.back().item<double>();
        loss.entropy += entropy.item<double>();
      }
      loss.entropy /= tasks;
    }
    if (!batch.demonstrations.empty() && objective.demonstration_weight > 0) {
      int tasks = 0;
      for (const GoChoices& choices : run(batch.demonstrations)) {
        if (!choices.log_probability.defined()) continue;
        ++tasks;
        const torch::Tensor likelihood = MeanOverCounted(choices.log_probability, choices.counted).mean();
        terms.push_back(-objective.demonstration_weight * likelihood);
        loss.demonstration_log_probability += likelihood.item<double>();
      }
      loss.demonstration_log_probability /= tasks;
    }
    if (!terms.empty()) loss.total = torch::stack(terms).sum();
    return loss;
  }
};

GoLearner::GoLearner(const Weights& start, const GoLearnerSettings& settings) {
  GoPolicy{start};  // refuses what is no such network
  SetTorchThreads(settings.threads);
  state_ = std::make_unique<State>(start, settings);
}

GoLearner::~GoLearner() = default;

std::vector<std::array<double, kTasks.size()>> GoLearner::LogProbabilities(const GoBatch& batch) const {
  const torch::NoGradGuard no_gradients;
  const QuietTorch quiet;
  const State& state = *state_;
  const GoOutputs outputs =
      RunGoNetwork(state.trained.parameters(), EncodeGo(state.trained.parameters(), *batch.features, state.device),
                   *batch.problem, *batch.features, Pointers(batch.sampled), batch.window, state.device, batch.own);
  std::vector<std::array<double, kTasks.size()>> sums(batch.sampled.size());
  for (std::size_t task = 0; task < kTasks.size(); ++task) {
    if (!outputs[task].log_probability.defined()) continue;
    const torch::Tensor sum = (outputs[task].log_probability * outputs[task].counted).to(torch::kFloat64).sum(1);
    for (std::size_t step = 0; step < sums.size(); ++step) {
      sums[step][task] = sum[static_cast<std::int64_t>(step)].item<double>();
    }
  }
  return sums;
}

GoUpdateResult GoLearner::Update(const std::vector<GoBatch>& batches, const GoObjective& objective) {
  const QuietTorch quiet;
  State& state = *state_;
  std::vector<std::array<torch::Tensor, kTasks.size()>> before(batches.size());
  GoUpdateResult result;
  for (int pass = 0; pass < objective.passes; ++pass) {
    state.trained.ClearGradient();
    const auto count = static_cast<double>(batches.size());
    std::vector<GoUpdateResult> by_batch(batches.size());
    for (std::size_t i = 0; i < batches.size(); ++i) {
      if (!state.team.Owns(i)) continue;
      const Loss loss = state.LossOf(batches[i], objective, before[i]);
      if (loss.total.defined()) (loss.total / count).backward();  // at once, so that only one batch's pass is kept
      by_batch[i].loss = loss.loss / count;
      by_batch[i].entropy = loss.entropy / count;
      by_batch[i].demonstration_log_probability = loss.demonstration_log_probability / count;
      state.trained.EndPart();
    }
    state.team.Share(by_batch);
    result = {};
    for (const GoUpdateResult& batch : by_batch) {
      result.loss += batch.loss;
      result.entropy += batch.entropy;
      result.demonstration_log_probability += batch.demonstration_log_probability;
    }
    state.trained.AddUp(batches.size());
    result.gradient_norm = state.trained.Descend(objective.learning_rate, state.settings.gradient_limit);
  }
  return result;
}

Weights GoLearner::weights() const { return state_->WithMetadata(state_->trained.Values(state_->shapes.size())); }
Weights GoLearner::average() const { return state_->WithMetadata(state_->trained.Average(state_->shapes.size())); }
Weights GoLearner::Save() const { return state_->trained.Save(); }
void GoLearner::Load(const Weights& saved) { state_->trained.Load(saved); }

}  // namespace millrace

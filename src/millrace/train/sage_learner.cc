// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/sage_learner.h"

#include <map>
#include <string>
#include <utility>

#include "millrace/policy/one_shot_policy.h"
#include "millrace/policy/sage.h"
#include "millrace/train/quiet_torch.h"
#include "millrace/train/sage_network.h"
#include "millrace/train/trained_parameters.h"

namespace millrace {
namespace {

std::vector<const OneShotStep*> Pointers(const std::vector<OneShotStep>& steps) {
  std::vector<const OneShotStep*> pointers;
  pointers.reserve(steps.size());
  for (const OneShotStep& step : steps) pointers.push_back(&step);
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
  double example_log_probability = 0;
};

}  // namespace

struct SageLearner::State {
  SageLearnerSettings settings;
  torch::Device device;
  std::map<std::string, std::string> metadata;
  Shapes shapes;
  TrainedParameters trained;

  State(const Weights& start, const SageLearnerSettings& s)
      : settings(s),
        device(torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU)),
        metadata(start.metadata),
        shapes(SageShapes()),
        trained(shapes, start, s.average_decay, device) {}

  Weights WithMetadata(Weights weights) const {
    weights.metadata = metadata;
    return weights;
  }

  // `before`: log probabilities when the steps were drawn; filled where they are undefined.
  Loss LossOf(const OneShotLesson& lesson, const OneShotObjective& objective,
              std::array<torch::Tensor, kTasks.size()>& before) const {
    const SageEncoded encoded = EncodeSage(trained.parameters(), *lesson.features, device);
    const auto run = [&](const std::vector<OneShotStep>& steps) {
      return RunSage(trained.parameters(), encoded, *lesson.problem, *lesson.features, Pointers(steps), lesson.window,
                     device);
    };
    Loss loss;
    std::vector<torch::Tensor> terms;
    if (!lesson.drawn.empty()) {
      const SageOutputs outputs = run(lesson.drawn);
      const torch::Tensor advantages =
          torch::tensor(lesson.advantages, torch::kFloat64).to(torch::kFloat32).to(device).unsqueeze(1);
      int tasks = 0;
      for (std::size_t task = 0; task < kTasks.size(); ++task) {
        const SageChoices& choices = outputs[task];
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
    if (!lesson.examples.empty() && objective.imitation > 0) {
      int tasks = 0;
      for (const SageChoices& choices : run(lesson.examples)) {
        if (!choices.log_probability.defined()) continue;
        ++tasks;
        const torch::Tensor likelihood = MeanOverCounted(choices.log_probability, choices.counted).mean();
        terms.push_back(-objective.imitation * likelihood);
        loss.example_log_probability += likelihood.item<double>();
      }
      loss.example_log_probability /= tasks;
    }
    if (!terms.empty()) loss.total = torch::stack(terms).sum();
    return loss;
  }
};

SageLearner::SageLearner(const Weights& start, const SageLearnerSettings& settings) {
  OneShotPolicy{start};  // refuses what is no such network
  SetTorchThreads(settings.threads);
  state_ = std::make_unique<State>(start, settings);
}

SageLearner::~SageLearner() = default;

std::vector<std::array<double, kTasks.size()>> SageLearner::LogProbabilities(const OneShotLesson& lesson) const {
  const torch::NoGradGuard no_gradients;
  const QuietTorch quiet;
  const State& state = *state_;
  const SageOutputs outputs =
      RunSage(state.trained.parameters(), EncodeSage(state.trained.parameters(), *lesson.features, state.device),
              *lesson.problem, *lesson.features, Pointers(lesson.drawn), lesson.window, state.device);
  std::vector<std::array<double, kTasks.size()>> sums(lesson.drawn.size());
  for (std::size_t task = 0; task < kTasks.size(); ++task) {
    if (!outputs[task].log_probability.defined()) continue;
    const torch::Tensor sum = (outputs[task].log_probability * outputs[task].counted).to(torch::kFloat64).sum(1);
    for (std::size_t step = 0; step < sums.size(); ++step) {
      sums[step][task] = sum[static_cast<std::int64_t>(step)].item<double>();
    }
  }
  return sums;
}

OneShotTaught SageLearner::Teach(const std::vector<OneShotLesson>& lessons, const OneShotObjective& objective) {
  const QuietTorch quiet;
  State& state = *state_;
  std::vector<std::array<torch::Tensor, kTasks.size()>> before(lessons.size());
  OneShotTaught taught;
  for (int pass = 0; pass < objective.passes; ++pass) {
    taught = {};
    state.trained.ClearGradient();
    const auto count = static_cast<double>(lessons.size());
    for (std::size_t i = 0; i < lessons.size(); ++i) {
      const Loss loss = state.LossOf(lessons[i], objective, before[i]);
      if (!loss.total.defined()) continue;
      (loss.total / count).backward();  // at once, so that only one lesson's pass is kept
      taught.loss += loss.loss / count;
      taught.entropy += loss.entropy / count;
      taught.example_log_probability += loss.example_log_probability / count;
    }
    taught.gradient_norm = state.trained.Descend(objective.learning_rate, state.settings.gradient_limit);
  }
  return taught;
}

Weights SageLearner::weights() const { return state_->WithMetadata(state_->trained.Values(state_->shapes.size())); }
Weights SageLearner::average() const { return state_->WithMetadata(state_->trained.Average(state_->shapes.size())); }
Weights SageLearner::Save() const { return state_->trained.Save(); }
void SageLearner::Load(const Weights& saved) { state_->trained.Load(saved); }

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/move_learner.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "millrace/go/network.h"
#include "millrace/go/policy.h"
#include "millrace/train/go/network.h"
#include "millrace/train/torch/quiet_torch.h"
#include "millrace/train/torch/trained_parameters.h"

namespace millrace {

namespace {

constexpr double kLeastStake = 0.05;
constexpr std::int64_t kTop = 8;
constexpr double kLeastShare = 1e-9;

struct ExampleLoss {
  torch::Tensor total;
  double ranking = 0;
  double best_found = 0;
};

}  // namespace

struct MoveLearner::State {
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

  // blocks x devices, as BlockLogits.
  torch::Tensor Logits(const MoveExample& example) const {
    const GoProblem& problem = example.problem->problem();
    const GoFeatures& features = example.problem->features();
    const GoStep step =
        MakeGoStep(problem, example.before, {.device = example.decisions.device, .priority = {}, .fusion = {}});
    const RowWindow all{0, 0, problem.num_rows()};
    const torch::Tensor logits = RunGoNetwork(trained.parameters(), EncodeGo(trained.parameters(), features, device),
                                              problem, features, {&step}, all, device, nullptr)[0]
                                     .logits.squeeze(0);
    std::vector<float> rows;
    rows.reserve(example.blocks->block_of.size());
    for (std::int32_t colocation = 0; colocation < problem.num_colocations(); ++colocation)
      rows.push_back(static_cast<float>(problem.RowsOf(colocation).size()));
    const torch::Tensor weights = Floats(rows, 1, device);
    const torch::Tensor of = Indices({example.blocks->block_of.begin(), example.blocks->block_of.end()}, device);
    const std::int64_t blocks = example.blocks->count();
    const torch::Tensor sums =
        torch::zeros({blocks, logits.size(1)}, logits.options()).index_add(0, of, logits * weights);
    return sums / torch::zeros({blocks, 1}, logits.options()).index_add(0, of, weights);
  }

  ExampleLoss LossOf(const MoveExample& example, double unit) const {
    const GoProblem& problem = example.problem->problem();
    const std::int64_t devices = problem.num_devices();
    const torch::Tensor judged = Indices({example.credit.blocks.begin(), example.credit.blocks.end()}, device);
    const std::vector<int> devices_now = DevicesOfBlocks(problem, *example.blocks, example.decisions.device);
    const torch::Tensor now =
        Indices({devices_now.begin(), devices_now.end()}, device).index_select(0, judged).unsqueeze(1);
    const torch::Tensor logits = Logits(example).index_select(0, judged);
    const torch::Tensor gains = Floats(example.credit.gains, devices, device);

    // Which device for each block. Blocks that are all one anywhere count little.
    const torch::Tensor log_target = torch::log_softmax(gains / unit, 1);
    const torch::Tensor divergence = (log_target.exp() * (log_target - torch::log_softmax(logits, 1))).sum(1);
    const torch::Tensor stake = (gains.abs().amax(1) / unit).clamp(kLeastStake, 1);
    const torch::Tensor of_blocks = (divergence * stake).sum() / stake.sum();

    // Which move of all: each as likely as it saves. Where none helps there is nothing to learn.
    const torch::Tensor stays = torch::zeros_like(gains).scatter_(1, now, 1).gt(0.5);
    const torch::Tensor sureness = (logits - logits.gather(1, now)).masked_select(stays.logical_not());
    const torch::Tensor saved = gains.masked_select(stays.logical_not()).clamp_min(0);
    const torch::Tensor wanted = saved / saved.sum().clamp_min(kLeastShare);
    const torch::Tensor log_wanted = wanted.clamp_min(kLeastShare).log();
    const torch::Tensor ranking = (wanted * (log_wanted - torch::log_softmax(sureness, 0))).sum();
    const double most = saved.max().item<double>();

    ExampleLoss loss;
    loss.total = ranking + of_blocks;
    loss.ranking = ranking.item<double>();
    const torch::Tensor surest = std::get<1>(sureness.topk(std::min<std::int64_t>(kTop, sureness.size(0))));
    loss.best_found = most > 0 ? saved.index_select(0, surest).max().item<double>() / most : 1;
    return loss;
  }
};

MoveLearner::MoveLearner(const Weights& start, const GoLearnerSettings& settings) {
  GoPolicy{start};  // refuses what is no such network
  SetTorchThreads(settings.threads);
  state_ = std::make_unique<State>(start, settings);
}

MoveLearner::~MoveLearner() = default;

MoveUpdateResult MoveLearner::Update(const std::vector<MoveExample>& examples, double unit, double learning_rate) {
  const QuietTorch quiet;
  State& state = *state_;
  MoveUpdateResult result;
  state.trained.ClearGradient();
  const auto count = static_cast<double>(examples.size());
  std::vector<MoveUpdateResult> by_example(examples.size());
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (!state.team.Owns(i)) continue;
    const ExampleLoss loss = state.LossOf(examples[i], unit);
    (loss.total / count).backward();
    by_example[i].loss = loss.total.item<double>() / count;
    by_example[i].ranking = loss.ranking / count;
    by_example[i].best_found = loss.best_found / count;
    state.trained.EndPart();
  }
  state.team.Share(by_example);
  for (const MoveUpdateResult& example : by_example) {
    result.loss += example.loss;
    result.ranking += example.ranking;
    result.best_found += example.best_found;
  }
  state.trained.AddUp(examples.size());
  result.gradient_norm = state.trained.Descend(learning_rate, state.settings.gradient_limit);
  return result;
}

Weights MoveLearner::weights() const { return state_->WithMetadata(state_->trained.Values(state_->shapes.size())); }
Weights MoveLearner::average() const { return state_->WithMetadata(state_->trained.Average(state_->shapes.size())); }
Weights MoveLearner::Save() const { return state_->trained.Save(); }
void MoveLearner::Load(const Weights& saved) { state_->trained.Load(saved); }

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/policy.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/go/encoder.h"
#include "millrace/go/features.h"
#include "millrace/go/heads.h"
#include "millrace/go/network.h"
#include "millrace/go/own_logits.h"
#include "millrace/go/segment_layer.h"
#include "millrace/network/network_layout.h"

namespace millrace {
namespace {

using Bias = LinearLayer::Bias;
using Then = LinearLayer::Then;

constexpr std::size_t kDrawnRowsAtOnce = 1024;  // rows of one task of the loop
constexpr auto kNumTasks = kTasks.size();

}  // namespace

void RunInTurn(int count, const std::function<void(int)>& work) {
  for (int i = 0; i < count; ++i) work(i);
}

struct GoNetwork {
  explicit GoNetwork(const Weights& weights)
      : encoder(weights),
        which(weights.Get("task.which.weight", {kWidth, kNumTasks}).values),
        before(weights, "task.before", kDecisionFeatures, kWidth, Bias::kNone),
        chosen(weights, "task.chosen", kDecisionFeatures, kWidth, Bias::kNone),
        layer(weights, "task"),
        place(weights),
        priority(weights, "priority"),
        fusion(weights, "fusion"),
        own(TakeOwnLogits(weights)) {}

  GoEncoder encoder;
  std::vector<float> which;  // kWidth x tasks
  LinearLayer before, chosen;
  SegmentLayer layer;
  PlaceHead place;
  LevelHead priority, fusion;
  std::optional<OwnLogits> own;
};

struct GoGraphTables {
  std::shared_ptr<const GoNetwork> network;
  const GoProblem* problem = nullptr;
  GoEmbedding embedding;
  PlaceHead::Tables place;
  LevelHead::Tables priority, fusion;
};

struct GoPass::Workspace {
  Workspace(std::shared_ptr<const GoGraphTables> of, ParallelLoop with)
      : tables(std::move(of)),
        loop(std::move(with)),
        rows(static_cast<std::size_t>(tables->problem->num_rows())),
        states(rows * kWidth),
        segments(rows) {}

  std::shared_ptr<const GoGraphTables> tables;
  ParallelLoop loop;
  std::size_t rows;
  const DecisionObservation* before = nullptr;
  LaneArray states;  // u
  SegmentWorkspace segments;
  std::vector<float> chosen;  // D of what was chosen in this iteration
  std::vector<float> row_logits, logits;

  template <typename Work>
  void ForRows(Work work) {
    loop(static_cast<int>((rows + kDrawnRowsAtOnce - 1) / kDrawnRowsAtOnce), [&](int task) {
      StopIfInterrupted();
      const std::size_t first = static_cast<std::size_t>(task) * kDrawnRowsAtOnce;
      work(first, std::min(kDrawnRowsAtOnce, rows - first));
    });
  }
};

GoPass::GoPass(std::shared_ptr<const GoGraphTables> tables, ParallelLoop loop)
    : workspace_(std::make_unique<Workspace>(std::move(tables), std::move(loop))) {}
GoPass::~GoPass() = default;
GoPass::GoPass(GoPass&&) noexcept = default;
GoPass& GoPass::operator=(GoPass&&) noexcept = default;

void GoPass::Begin(const DecisionObservation& before) {
  workspace_->before = &before;
  std::copy_n(workspace_->tables->embedding.states.data(), workspace_->rows * kWidth, workspace_->states.data());
}

std::span<const float> GoPass::Score(Task task, const Decisions& chosen) {
  Workspace& work = *workspace_;
  const GoGraphTables& tables = *work.tables;
  const GoNetwork& network = *tables.network;
  const GoProblem& problem = *tables.problem;
  DescribeDecisions(problem, chosen, work.chosen);
  work.ForRows([&](std::size_t first, std::size_t count) {
    LaneArray from_before(count * kWidth), from_chosen(count * kWidth);
    network.before.Apply(work.before->decisions.data() + first * kDecisionFeatures, count, Then::kNothing,
                         from_before.data());
    network.chosen.Apply(work.chosen.data() + first * kDecisionFeatures, count, Then::kNothing, from_chosen.data());
    float* const states = work.states.data() + first * kWidth;
    for (std::size_t at = 0; at < count * kWidth; ++at) {
      states[at] += network.which[at % kWidth * kNumTasks + static_cast<std::size_t>(task)] + from_before.data()[at] +
                    from_chosen.data()[at];
    }
  });
  network.layer.Apply(tables.embedding.condition, work.rows, work.segments, work.loop, work.states);

  if (task == Task::kPlacement) {
    const auto devices = static_cast<std::size_t>(problem.num_devices());
    work.row_logits.resize(work.rows * devices);
    work.ForRows([&](std::size_t first, std::size_t count) {
      network.place.Score(tables.place, *work.before, work.states.data(), first, count, work.row_logits);
    });
    MeanOverColocations(problem, work.row_logits, work.logits);
  } else {
    const bool priority = task == Task::kPriority;
    const LevelHead& head = priority ? network.priority : network.fusion;
    const LevelHead::Tables& of_head = priority ? tables.priority : tables.fusion;
    const std::vector<float>& centres = priority ? work.before->priority_centres : work.before->fusion_centres;
    work.logits.resize(work.rows * kLevels);
    work.ForRows([&](std::size_t first, std::size_t count) {
      head.Score(of_head, work.before->levels, centres, work.states.data(), first, count, work.logits);
    });
  }
  if (network.own) {
    const std::vector<float>& own = network.own->of(task);
    for (std::size_t i = 0; i < own.size(); ++i) work.logits[i] += own[i];
  }
  return work.logits;
}

GoPolicy::GoPolicy(const Weights& weights) {
  CheckArchitecture(weights, "sage");
  network_ = std::make_shared<const GoNetwork>(weights);
}

PreparedGoPolicy GoPolicy::Prepare(const GoProblem& problem, const ParallelLoop& loop) const {
  try {
    if (network_->own) CheckOwnLogits(*network_->own, problem);
  } catch (const InvalidInput& error) {
    if (file_.empty()) throw;
    throw error.InFile(file_);
  }
  const GoFeatures graph = MakeGoFeatures(problem);
  auto tables = std::make_shared<GoGraphTables>();
  tables->network = network_;
  tables->problem = &problem;
  tables->embedding = network_->encoder.Encode(graph, loop);
  tables->place = network_->place.Prepare(graph, tables->embedding.condition);
  tables->priority = network_->priority.Prepare(tables->embedding.condition);
  tables->fusion = network_->fusion.Prepare(tables->embedding.condition);
  return PreparedGoPolicy(std::move(tables));
}

GoPolicy ReadGoPolicy(const std::string& path) {
  const Weights weights = ReadWeights(path);
  try {
    GoPolicy policy(weights);
    policy.file_ = path;
    return policy;
  } catch (const InvalidInput& error) {
    throw error.InFile(path);
  }
}

}  // namespace millrace

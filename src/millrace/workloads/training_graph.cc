// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/training_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/formats/model_flops.h"
#include "millrace/workloads/gradient_rules.h"
#include "millrace/workloads/training_tape.h"

namespace millrace {
namespace {

constexpr double kSlots = 2;       // Adam's first and second moments
constexpr double kAdamFlops = 12;  // for each weight
constexpr double kAdamTraffic =
    7;  // times the weight's bytes: reads it, its gradient and the slots, writes all but the gradient
constexpr double kLossFlops = 6;       // for each logit: exp, sum, log, difference
constexpr double kScalar = 4;          // bytes of a loss
constexpr double kNormalizeFlops = 8;  // for each element: mean, variance, scale, shift

class TrainingStep {
 public:
  explicit TrainingStep(const Model& model)
      : model_(model),
        tape_(model),
        trained_(model.values.size(), 0),
        uses_left_(model.values.size(), 0),
        is_output_(model.values.size(), 0) {
    for (const int output : model.outputs) is_output_[static_cast<std::size_t>(output)] = 1;
  }

  ComputationGraph Make() {
    FindWeights();
    AddInputs();
    for (const Node& node : model_.nodes) Forward(node);
    AddUpLosses();
    for (auto node = model_.nodes.rbegin(); node != model_.nodes.rend(); ++node) Backward(*node);
    return tape_.Finish();
  }

 private:
  struct Loss {
    int output = -1;  // value of the model
    TensorId labels = -1;
    TensorId value = -1;
    TensorId log_probabilities = -1;
  };

  int IndexOf(const Node& node) const { return static_cast<int>(&node - model_.nodes.data()); }

  char& Trained(int value) { return trained_[static_cast<std::size_t>(value)]; }

  // What the node reads, none twice.
  static std::vector<int> ReadBy(const Node& node) {
    std::vector<int> values;
    for (const int value : node.inputs) {
      if (value >= 0 && std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    }
    return values;
  }

  void FindWeights() {
    constexpr std::size_t kFirstStatistic = 3;  // of BatchNormalization: its mean, then its variance
    for (const Node& node : model_.nodes) {
      const std::size_t end =
          node.op_type == "BatchNormalization" ? std::min(kFirstStatistic, node.inputs.size()) : node.inputs.size();
      for (std::size_t i = 0; i < end; ++i) {
        if (node.inputs[i] < 0) continue;
        const Value& value = tape_.ValueOf(node.inputs[i]);
        if (value.constant && value.type == DataType::kFloat32 && !value.shape.empty()) Trained(node.inputs[i]) = 1;
      }
      for (const int value : ReadBy(node)) ++uses_left_[static_cast<std::size_t>(value)];
    }
  }

  void AddInputs() {
    for (const int value : model_.inputs) {
      if (!tape_.ValueOf(value).constant) {
        tape_.SetTensor(value, tape_.AddTensor(tape_.ValueOf(value).name, -1, tape_.SizeOf(value)));
      }
    }
  }

  void AddVariable(int value, const Node& reader) {
    const std::string& name = tape_.ValueOf(value).name;
    Op variable;
    variable.name = name;
    variable.type = "Variable";
    variable.weight_bytes = kSlots * tape_.SizeOf(value);
    variable.bytes_accessed = 0;  // it is where it is
    variable.colocate = name;
    variable.layer = reader.layer;
    const OpId id = tape_.AddOp(std::move(variable), {});
    tape_.SetTensor(value, tape_.AddTensor(name + ":0", id, tape_.SizeOf(value)));
    tape_.Want(value);
  }

  void Forward(const Node& node) {
    StopIfInterrupted();
    tape_.BeginNode(node);
    Op op;
    op.name = node.name;
    op.type = node.domain.empty() ? node.op_type : node.domain + "::" + node.op_type;
    op.flops = FlopsOf(model_, node);
    op.bytes_accessed = BytesAccessedBy(model_, node);
    op.layer = node.layer;
    if (op.type == "BatchNormalization") {
      op.type = "BatchNormalizationTraining";
      op.flops = kNormalizeFlops * tape_.ElementsOf(node.outputs.front());
    }
    std::vector<TensorId> reads;
    bool depends = false;
    for (const int value : ReadBy(node)) {
      if (Trained(value) != 0 && tape_.TensorOf(value) < 0) AddVariable(value, node);
      if (tape_.ValueOf(value).constant && Trained(value) == 0) op.weight_bytes += tape_.SizeOf(value);
      reads.push_back(tape_.TensorOf(value));
      depends |= tape_.Wanted(value);
    }
    const OpId id = tape_.AddOp(std::move(op), reads);
    depends &= !StopsGradient(node);
    for (const int value : node.outputs) {
      if (value < 0) continue;
      tape_.SetTensor(value, tape_.AddTensor(tape_.ValueOf(value).name, id, tape_.SizeOf(value)));
      if (depends && tape_.ValueOf(value).type == DataType::kFloat32) tape_.Want(value);
      if (is_output_[static_cast<std::size_t>(value)] != 0 && tape_.Wanted(value)) AddLoss(value);
    }
  }

  double ClassesOf(int output) const {
    const Shape& shape = tape_.ShapeOf(output);
    return shape.empty() ? 1 : static_cast<double>(shape.size() == 4 ? shape[1] : shape.back());
  }

  // The logarithms of the probabilities are kept for the way back.
  void AddLoss(int output) {
    Loss loss;
    loss.output = output;
    const double labels = tape_.ElementsOf(output) / ClassesOf(output);
    loss.labels = tape_.AddTensor(tape_.ValueOf(output).name + "/labels", -1,
                                  labels * static_cast<double>(BytesOf(DataType::kInt64)));
    const std::vector<TensorId> made = tape_.Record({"SoftmaxCrossEntropyLoss",
                                                     "/loss",
                                                     kLossFlops * tape_.ElementsOf(output),
                                                     {tape_.TensorOf(output), loss.labels},
                                                     {kScalar, tape_.SizeOf(output)},
                                                     std::nullopt});
    loss.value = made[0];
    loss.log_probabilities = made[1];
    losses_.push_back(loss);
  }

  void HandLoss(const Loss& loss) {
    tape_.Hand(loss.output, tape_
                                .Record({"SoftmaxCrossEntropyLossGrad",
                                         "/loss/grad",
                                         2 * tape_.ElementsOf(loss.output),
                                         {loss.log_probabilities, loss.labels},
                                         {tape_.SizeOf(loss.output)},
                                         std::nullopt})
                                .front());
  }

  void AddUpLosses() {
    if (losses_.empty()) {
      throw InvalidInput(fmt::format("{}: no output depends on a weight, so there is nothing to train", model_.name));
    }
    std::vector<TensorId> values;
    values.reserve(losses_.size());
    for (const Loss& loss : losses_) values.push_back(loss.value);
    TensorId loss = values.front();
    if (values.size() > 1) {
      const double additions = static_cast<double>(values.size() - 1);
      loss = tape_.Record({"Sum", "/loss/sum", additions, std::move(values), {kScalar}, std::nullopt}).front();
    }
    tape_.MarkOutput(loss);
  }

  void Backward(const Node& node) {
    StopIfInterrupted();
    tape_.BeginNode(node);
    while (!losses_.empty() && tape_.ValueOf(losses_.back().output).producer == IndexOf(node)) {
      HandLoss(losses_.back());
      losses_.pop_back();
    }
    TakeBack(tape_, model_, node);
    for (const int value : ReadBy(node)) {
      if (--uses_left_[static_cast<std::size_t>(value)] == 0 && Trained(value) != 0) Update(value, node);
    }
  }

  void Update(int value, const Node& reader) {
    const TensorId gradient = tape_.GradientOf(value);
    if (gradient < 0) return;
    const std::string& name = tape_.ValueOf(value).name;
    Op update;
    update.name = name + "/update";
    update.type = "ApplyAdam";
    update.flops = kAdamFlops * tape_.ElementsOf(value);
    update.bytes_accessed = kAdamTraffic * tape_.SizeOf(value);
    update.colocate = name;
    update.layer = reader.layer;
    tape_.AddOp(std::move(update), {tape_.TensorOf(value), gradient});
  }

  const Model& model_;
  TrainingTape tape_;
  std::vector<char> trained_;    // by value
  std::vector<int> uses_left_;   // by value: nodes that read it and have not been taken back
  std::vector<char> is_output_;  // by value
  std::vector<Loss> losses_;     // in the order of the nodes that make their outputs
};

}  // namespace

ComputationGraph TrainingGraphOf(const Model& model) { return TrainingStep(model).Make(); }

}  // namespace millrace

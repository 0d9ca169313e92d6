// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/losses.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "millrace/runtime/one_node_kernel.h"
#include "millrace/runtime/run_fault.h"

namespace millrace {
namespace {

// First every position's loss, shared out; then one worker adds them up in order, so that the sum is always the same.
class LossKernel : public OneNodeKernel {
 public:
  explicit LossKernel(const KernelRequest& request) : OneNodeKernel(request) {
    ReadInput(0);
    ReadInput(1);
    if (HasInput(2)) ReadInput(2);
    const Shape& scores = InputValue(0).shape;
    classes_ = scores[1];
    inner_ = ElementsOf(Shape(scores.begin() + 2, scores.end()));
    positions_ = scores[0] * inner_;
    normalizes_ = node_.op_type == "SoftmaxCrossEntropyLoss";
    weighted_ = HasInput(2);
    wide_targets_ = InputValue(1).type == DataType::kInt64;
    if (node_.attributes.contains("ignore_index")) ignored_ = Model::IntOf(node_, "ignore_index", 0);
    const std::string reduction = Model::StringOf(node_, "reduction", "mean");
    reduces_ = reduction != "none";
    divides_ = reduction == "mean";
    label_ = "node '" + node_.name + "' (" + node_.op_type + ")";
    if (reduces_) {
      phases_ = 2;
      scratch_bytes_ = static_cast<std::size_t>(positions_) * 2 * sizeof(float);
    }
  }

  void Run(const KernelBuffers& buffers, int phase, int worker) const override {
    if (phase == 1) {
      if (float* loss = Floats(buffers, 0); worker == 0 && loss != nullptr) *loss = Reduced(buffers);
      return;
    }
    float* losses = reduces_ ? reinterpret_cast<float*>(buffers.scratch) : Floats(buffers, 0);
    float* weights = reduces_ ? losses + positions_ : nullptr;
    const Share share = ShareOf(positions_, workers_, worker, 16);
    for (std::int64_t position = share.begin; position < share.end; ++position) {
      const float shift = normalizes_ ? Normalize(buffers, position) : 0.0f;
      const std::int64_t target = Target(buffers, position);
      const bool counts = !ignored_ || target != *ignored_;
      const bool exists = target >= 0 && target < classes_;
      if (counts && !exists && buffers.fault != nullptr) buffers.fault->Note(label_, target, classes_);
      float weight = 0.0f, score = 0.0f;
      if (counts && exists) {
        weight = weighted_ ? reinterpret_cast<const float*>(In(buffers, 2))[target] : 1.0f;
        score = Scores(buffers, position)[target * inner_] - shift;
      }
      if (losses != nullptr) losses[position] = -weight * score;
      if (weights != nullptr) weights[position] = weight;
    }
  }

 private:
  float* Floats(const KernelBuffers& buffers, int output) const {
    return HasOutput(output) ? reinterpret_cast<float*>(Out(buffers, output)) : nullptr;
  }

  std::int64_t FirstScore(std::int64_t position) const {
    return position / inner_ * classes_ * inner_ + position % inner_;
  }

  const float* Scores(const KernelBuffers& buffers, std::int64_t position) const {
    return reinterpret_cast<const float*>(In(buffers, 0)) + FirstScore(position);
  }

  std::int64_t Target(const KernelBuffers& buffers, std::int64_t position) const {
    std::int64_t wide = 0;
    std::int32_t narrow = 0;
    if (wide_targets_) {
      std::memcpy(&wide, In(buffers, 1) + position * 8, sizeof wide);
      return wide;
    }
    std::memcpy(&narrow, In(buffers, 1) + position * 4, sizeof narrow);
    return narrow;
  }

  // What the scores' logarithms are shifted by, that is, the logarithm of the sum of their exponentials; also writes
  // the logarithms of the probabilities where they are an output.
  float Normalize(const KernelBuffers& buffers, std::int64_t position) const {
    const float* scores = Scores(buffers, position);
    float most = -std::numeric_limits<float>::infinity();
    for (std::int64_t c = 0; c < classes_; ++c) most = std::max(most, scores[c * inner_]);
    double sum = 0;
    for (std::int64_t c = 0; c < classes_; ++c) sum += std::exp(static_cast<double>(scores[c * inner_]) - most);
    const float shift = most + static_cast<float>(std::log(sum));
    if (float* logarithms = Floats(buffers, 1)) {
      logarithms += FirstScore(position);
      for (std::int64_t c = 0; c < classes_; ++c) logarithms[c * inner_] = scores[c * inner_] - shift;
    }
    return shift;
  }

  float Reduced(const KernelBuffers& buffers) const {
    const float* losses = reinterpret_cast<const float*>(buffers.scratch);
    double loss = 0, weight = 0;
    for (std::int64_t i = 0; i < positions_; ++i) loss += losses[i];
    for (std::int64_t i = 0; i < positions_; ++i) weight += losses[positions_ + i];
    return static_cast<float>(divides_ ? loss / weight : loss);
  }

  std::int64_t classes_ = 1, inner_ = 1, positions_ = 0;
  bool normalizes_ = false, weighted_ = false, wide_targets_ = true, reduces_ = true, divides_ = true;
  std::optional<std::int64_t> ignored_;
  std::string label_;
};

}  // namespace

std::unique_ptr<Kernel> MakeLoss(const KernelRequest& request) { return std::make_unique<LossKernel>(request); }

std::string LossUnsupported(const Model& model, int node_id) {
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* scores = InputOf(model, node, 0);
  const Value* targets = InputOf(model, node, 1);
  const Value* weights = InputOf(model, node, 2);
  if (scores == nullptr || targets == nullptr) return node.op_type + " without its inputs";
  if (scores->type != DataType::kFloat32 || (weights != nullptr && weights->type != DataType::kFloat32))
    return node.op_type + " on anything but float32";
  if (targets->type != DataType::kInt32 && targets->type != DataType::kInt64)
    return node.op_type + " with targets of type " + NameOf(targets->type);
  Shape expected = scores->shape;
  if (expected.size() < 2) return node.op_type + " without classes";
  const std::int64_t classes = expected[1];
  expected.erase(expected.begin() + 1);
  if (targets->shape != expected || (weights != nullptr && weights->shape != Shape{classes}))
    return node.op_type + " with targets or weights of another shape";
  return "";
}

}  // namespace millrace

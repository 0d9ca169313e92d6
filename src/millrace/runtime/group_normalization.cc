// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/group_normalization.h"

#include <cmath>

#include "millrace/runtime/one_node_kernel.h"
#include "millrace/runtime/refusal.h"

namespace millrace {
namespace {

struct Moments {
  float mean = 0;
  float factor = 0;  // one over the standard deviation
};

Moments MomentsOf(const float* from, std::int64_t count, float epsilon) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += from[i];
  const double mean = sum / static_cast<double>(count);
  double squares = 0;
  for (std::int64_t i = 0; i < count; ++i) squares += (from[i] - mean) * (from[i] - mean);
  return {static_cast<float>(mean),
          static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(count) + epsilon))};
}

class GroupNormalization : public OneNodeKernel {
 public:
  explicit GroupNormalization(const KernelRequest& request) : OneNodeKernel(request) {
    for (int i = 0; i < 3; ++i) ReadInput(i);
    const Shape& shape = InputValue(0).shape;
    channels_ = shape[1];
    groups_ = Model::IntOf(node_, "num_groups", 1);
    rows_ = shape[0] * groups_;
    pixels_ = ElementsOf(Shape(shape.begin() + 2, shape.end()));
    by_group_ = model_.opset < 21;
    epsilon_ = Model::FloatOf(node_, "epsilon", 1e-5f);
  }

  void Run(const KernelBuffers& buffers, int, int worker) const override {
    const auto* scale = reinterpret_cast<const float*>(In(buffers, 1));
    const auto* shift = reinterpret_cast<const float*>(In(buffers, 2));
    const std::int64_t each = channels_ / groups_;
    const Share rows = ShareOf(rows_, workers_, worker);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const std::int64_t group = row % groups_;
      const float* from = reinterpret_cast<const float*>(In(buffers, 0)) + row * each * pixels_;
      float* to = reinterpret_cast<float*>(Out(buffers, 0)) + row * each * pixels_;
      const Moments moments = MomentsOf(from, each * pixels_, epsilon_);
      for (std::int64_t channel = 0; channel < each; ++channel) {
        const std::int64_t at = by_group_ ? group : group * each + channel;
        const float factor = scale[at] * moments.factor;
        const float rest = shift[at] - moments.mean * factor;
        for (std::int64_t i = channel * pixels_; i < (channel + 1) * pixels_; ++i) to[i] = from[i] * factor + rest;
      }
    }
  }

 private:
  std::int64_t channels_ = 1, groups_ = 1, rows_ = 1, pixels_ = 1;
  bool by_group_ = false;
  float epsilon_ = 0;
};

std::size_t LayerAxis(const Node& node, const Shape& shape) {
  return static_cast<std::size_t>(PositiveAxis(node, Model::IntOf(node, "axis", -1), shape.size()));
}

// LayerNormalization with all three outputs. Scale and bias are spread to the normalised dimensions once a run.
class LayerStatistics : public OneNodeKernel {
 public:
  explicit LayerStatistics(const KernelRequest& request) : OneNodeKernel(request) {
    const Shape& shape = InputValue(0).shape;
    const Shape normalised(shape.begin() + static_cast<std::ptrdiff_t>(LayerAxis(node_, shape)), shape.end());
    length_ = ElementsOf(normalised);
    rows_ = ElementsOf(shape) / length_;
    epsilon_ = Model::FloatOf(node_, "epsilon", 1e-5f);
    ReadInput(0);
    for (int i = 1; i < 3; ++i) {
      if (!HasInput(i)) continue;
      ReadInput(i);
      places_[i - 1] = PlacesOf(InputValue(i).shape, normalised);
    }
  }

  void Run(const KernelBuffers& buffers, int, int worker) const override {
    const auto* scale = reinterpret_cast<const float*>(In(buffers, 1));
    const auto* shift = places_[1].empty() ? nullptr : reinterpret_cast<const float*>(In(buffers, 2));
    const Share rows = ShareOf(rows_, workers_, worker);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const float* from = reinterpret_cast<const float*>(In(buffers, 0)) + row * length_;
      const Moments moments = MomentsOf(from, length_, epsilon_);
      if (HasOutput(1)) reinterpret_cast<float*>(Out(buffers, 1))[row] = moments.mean;
      if (HasOutput(2)) reinterpret_cast<float*>(Out(buffers, 2))[row] = moments.factor;
      if (!HasOutput(0)) continue;
      float* to = reinterpret_cast<float*>(Out(buffers, 0)) + row * length_;
      for (std::int64_t i = 0; i < length_; ++i) {
        const auto at = static_cast<std::size_t>(i);
        to[i] = (from[i] - moments.mean) * moments.factor * scale[places_[0][at]];
        if (shift != nullptr) to[i] += shift[places_[1][at]];
      }
    }
  }

 private:
  // By element of `to`, the one of `from` that broadcasting puts there.
  static std::vector<std::int64_t> PlacesOf(const Shape& from, const Shape& to) {
    std::vector<std::int64_t> places(static_cast<std::size_t>(ElementsOf(to)), 0);
    const std::vector<std::int64_t> strides = StridesOf(from);
    for (std::size_t i = 0; i < places.size(); ++i) {
      auto rest = static_cast<std::int64_t>(i);
      for (std::size_t d = to.size(); d-- > 0;) {
        const std::int64_t coordinate = rest % to[d];
        rest /= to[d];
        if (d + from.size() < to.size()) continue;
        const std::size_t own = d + from.size() - to.size();
        if (from[own] != 1) places[i] += coordinate * strides[own];
      }
    }
    return places;
  }

  std::int64_t length_ = 1, rows_ = 0;
  float epsilon_ = 0;
  std::vector<std::int64_t> places_[2];  // of scale and bias
};

template <typename Made>
std::unique_ptr<Kernel> MakeOne(const KernelRequest& request) {
  return std::make_unique<Made>(request);
}

std::string UnsupportedGroups(const Model& model, int node_id) {
  if (std::string reason = RefuseTypes(model, node_id); !reason.empty()) return reason;
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* input = InputOf(model, node, 0);
  const Value* scale = InputOf(model, node, 1);
  const Value* shift = InputOf(model, node, 2);
  if (input == nullptr || scale == nullptr || shift == nullptr) return "GroupNormalization without its inputs";
  const std::int64_t groups = Model::IntOf(node, "num_groups", 1);
  if (input->shape.size() < 2 || groups < 1 || input->shape[1] % groups != 0)
    return "GroupNormalization with groups that do not divide its channels";
  const Shape expected = {model.opset < 21 ? groups : input->shape[1]};
  if (scale->shape != expected || shift->shape != expected)
    return "GroupNormalization with scale or bias of another shape";
  return "";
}

std::string UnsupportedStatistics(const Model& model, int node_id) {
  if (std::string reason = RefuseTypes(model, node_id); !reason.empty()) return reason;
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* input = InputOf(model, node, 0);
  if (input == nullptr || InputOf(model, node, 1) == nullptr) return "LayerNormalization without its inputs";
  const Shape normalised(input->shape.begin() + static_cast<std::ptrdiff_t>(LayerAxis(node, input->shape)),
                         input->shape.end());
  for (int i = 1; i < 3; ++i) {
    const Value* value = InputOf(model, node, i);
    if (value == nullptr) continue;
    bool fits = value->shape.size() <= normalised.size();
    for (std::size_t d = 0; fits && d < value->shape.size(); ++d) {
      const std::int64_t extent = normalised[normalised.size() - value->shape.size() + d];
      fits = value->shape[d] == 1 || value->shape[d] == extent;
    }
    if (!fits) return "LayerNormalization with a scale or bias that does not broadcast";
  }
  return "";
}

}  // namespace

std::vector<KernelEntry> GroupNormalizationKernels() {
  return {{"GroupNormalization", MakeOne<GroupNormalization>, UnsupportedGroups},
          {"LayerNormalization", MakeOne<LayerStatistics>, UnsupportedStatistics}};
}

}  // namespace millrace

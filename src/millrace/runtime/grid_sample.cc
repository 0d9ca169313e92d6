// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/grid_sample.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "millrace/runtime/one_node_kernel.h"
#include "millrace/runtime/refusal.h"

namespace millrace {
namespace {

constexpr std::size_t kMostAxes = 3;
constexpr std::size_t kMostTaps = 4;    // along an axis
constexpr std::size_t kMostTerms = 64;  // taps of all axes
constexpr double kFar = 1e9;            // places beyond, and those that are no numbers, are as good as here

enum class GridMode { kNearest, kLinear, kCubic, kUnknown };
enum class Outside { kZeros, kBorder, kReflection, kUnknown };

GridMode ModeOf(const Node& node) {
  const std::string mode = Model::StringOf(node, "mode", "linear");
  if (mode == "nearest") return GridMode::kNearest;
  if (mode == "linear" || mode == "bilinear") return GridMode::kLinear;
  return mode == "cubic" || mode == "bicubic" ? GridMode::kCubic : GridMode::kUnknown;
}

Outside OutsideOf(const Node& node) {
  const std::string mode = Model::StringOf(node, "padding_mode", "zeros");
  if (mode == "zeros") return Outside::kZeros;
  if (mode == "border") return Outside::kBorder;
  return mode == "reflection" ? Outside::kReflection : Outside::kUnknown;
}

// Back and forth between two mirrors.
double Reflected(double at, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  const bool below = at < low;
  if (!below && at <= high) return at;
  const double beyond = below ? low - at : at - high;
  const double turns = std::floor(beyond / range);
  const double rest = beyond - turns * range;
  const bool back = std::fmod(turns, 2) == 0;
  return below == back ? low + rest : high - rest;
}

// One axis of the image.
struct GridAxis {
  std::int64_t size = 1, stride = 1;
  double low = 0, high = 0;  // where it ends, for reflections

  // The offset of the element at whole place `at`; -1 where that is a zero.
  std::int64_t OffsetOf(double at, Outside outside) const {
    const auto last = static_cast<double>(size - 1);
    if (at < 0 || at > last) {
      if (outside == Outside::kZeros) return -1;
      if (outside == Outside::kReflection) at = std::trunc(Reflected(at, low, high));
      at = std::clamp(at, 0.0, last);
    }
    return static_cast<std::int64_t>(at) * stride;
  }
};

struct GridTaps {
  std::size_t count = 0;
  std::array<std::int64_t, kMostTaps> offsets{};
  std::array<float, kMostTaps> weights{};

  void Add(std::int64_t offset, double weight) {
    offsets[count] = offset;
    weights[count] = static_cast<float>(weight);
    ++count;
  }
};

// Keys's kernel with a = -0.75, by distance.
double KeysWeight(double distance) {
  constexpr double kA = -0.75;
  const double x = std::abs(distance);
  if (x <= 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  return x < 2 ? ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA : 0;
}

GridTaps GridTapsAt(const GridAxis& axis, double at, GridMode mode, Outside outside) {
  if (mode == GridMode::kNearest) at = std::nearbyint(at);
  if (at < axis.low || at > axis.high) {
    if (outside == Outside::kBorder) at = std::clamp(at, 0.0, static_cast<double>(axis.size - 1));
    if (outside == Outside::kReflection) at = Reflected(at, axis.low, axis.high);
  }
  GridTaps taps;
  if (mode == GridMode::kNearest) {
    taps.Add(axis.OffsetOf(std::trunc(at), outside), 1);
    return taps;
  }
  const double floor = std::floor(at);
  const int first = mode == GridMode::kCubic ? -1 : 0, last = mode == GridMode::kCubic ? 2 : 1;
  for (int tap = first; tap <= last; ++tap) {
    const double distance = at - (floor + tap);
    const double weight = mode == GridMode::kCubic ? KeysWeight(distance) : 1 - std::abs(distance);
    taps.Add(axis.OffsetOf(floor + tap, outside), weight);
  }
  return taps;
}

class GridSample : public OneNodeKernel {
 public:
  explicit GridSample(const KernelRequest& request) : OneNodeKernel(request) {
    ReadInput(0);
    ReadInput(1);
    mode_ = ModeOf(node_);
    outside_ = OutsideOf(node_);
    aligned_ = Model::IntOf(node_, "align_corners", 0) != 0;
    const Shape& image = InputValue(0).shape;
    const Shape& out = OutputValue(0).shape;
    channels_ = image[1];
    places_ = ElementsOf(Shape(out.begin() + 2, out.end()));
    images_ = out[0];
    const std::vector<std::int64_t> strides = StridesOf(image);
    for (std::size_t d = 2; d < image.size(); ++d) {
      const auto size = static_cast<double>(image[d]);
      axes_.push_back({image[d], strides[d], aligned_ ? 0.0 : -0.5, aligned_ ? size - 1 : size - 0.5});
    }
    plane_ = strides[1];
  }

  void Run(const KernelBuffers& buffers, int, int worker) const override {
    const auto* images = reinterpret_cast<const float*>(In(buffers, 0));
    const auto* grid = reinterpret_cast<const float*>(In(buffers, 1));
    auto* out = reinterpret_cast<float*>(Out(buffers, 0));
    const Share share = ShareOf(images_ * places_, workers_, worker, 16);
    for (std::int64_t i = share.begin; i < share.end; ++i) {
      std::array<std::int64_t, kMostTerms> offsets{};
      std::array<float, kMostTerms> weights{};
      const std::size_t terms = TermsAt(grid + i * static_cast<std::int64_t>(axes_.size()), offsets, weights);
      const std::int64_t image = i / places_;
      for (std::int64_t channel = 0; channel < channels_; ++channel) {
        const float* from = images + (image * channels_ + channel) * plane_;
        float sum = 0;
        for (std::size_t term = 0; term < terms; ++term) sum += weights[term] * from[offsets[term]];
        out[(image * channels_ + channel) * places_ + i % places_] = sum;
      }
    }
  }

 private:
  // Offsets in a channel and weights of the elements that a place in the grid blends; returns how many.
  std::size_t TermsAt(const float* place, std::array<std::int64_t, kMostTerms>& offsets,
                      std::array<float, kMostTerms>& weights) const {
    std::size_t terms = 1;
    offsets[0] = 0;
    weights[0] = 1;
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      // The grid names the innermost axis first.
      const double x = place[axes_.size() - 1 - d];
      const auto size = static_cast<double>(axes_[d].size);
      double at = aligned_ ? (x + 1) / 2 * (size - 1) : ((x + 1) * size - 1) / 2;
      at = std::isnan(at) ? kFar : std::clamp(at, -kFar, kFar);
      const GridTaps taps = GridTapsAt(axes_[d], at, mode_, outside_);
      const std::size_t before = terms;
      std::array<std::int64_t, kMostTerms> old_offsets = offsets;
      std::array<float, kMostTerms> old_weights = weights;
      terms = 0;
      for (std::size_t old = 0; old < before; ++old) {
        for (std::size_t tap = 0; tap < taps.count; ++tap) {
          if (taps.offsets[tap] < 0) continue;
          offsets[terms] = old_offsets[old] + taps.offsets[tap];
          weights[terms] = old_weights[old] * taps.weights[tap];
          ++terms;
        }
      }
    }
    return terms;
  }

  GridMode mode_ = GridMode::kLinear;
  Outside outside_ = Outside::kZeros;
  bool aligned_ = false;
  std::vector<GridAxis> axes_;
  std::int64_t images_ = 0, channels_ = 0, places_ = 1, plane_ = 1;
};

}  // namespace

std::unique_ptr<Kernel> MakeGridSample(const KernelRequest& request) { return std::make_unique<GridSample>(request); }

std::string GridSampleUnsupported(const Model& model, int node_id) {
  if (std::string reason = RefuseTypes(model, node_id); !reason.empty()) return reason;
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* image = InputOf(model, node, 0);
  const Value* grid = InputOf(model, node, 1);
  const Value* out = OutputOf(model, node, 0);
  if (image == nullptr || grid == nullptr || out == nullptr) return "GridSample without its inputs";
  const std::size_t rank = image->shape.size();
  if (rank < 3 || rank > 2 + kMostAxes || grid->shape.size() != rank || out->shape.size() != rank ||
      grid->shape.back() != static_cast<std::int64_t>(rank) - 2 || grid->shape[0] != image->shape[0])
    return "GridSample with a grid of another shape";
  if (ModeOf(node) == GridMode::kUnknown) return "GridSample in mode " + Model::StringOf(node, "mode", "");
  if (OutsideOf(node) == Outside::kUnknown)
    return "GridSample with padding_mode " + Model::StringOf(node, "padding_mode", "");
  return "";
}

}  // namespace millrace

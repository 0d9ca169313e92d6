// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/interpolate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "millrace/runtime/one_node_kernel.h"
#include "millrace/runtime/resize_coordinates.h"

namespace millrace {
namespace {

constexpr std::size_t kMaximalRank = 8;

// The elements of the input that one position of the output takes along a dimension, and their weights. A position
// outside the region of interest has no taps.
struct Taps {
  int count = 0;
  std::array<std::int64_t, 4> offsets{};
  std::array<float, 4> weights{};
};

// Keys's cubic convolution kernel ("Cubic Convolution Interpolation for Digital Image Processing", 1981).
double CubicWeight(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

Taps TapsAt(double at, std::int64_t size, std::int64_t stride, bool cubic, double a, bool exclude_outside) {
  Taps taps;
  if (std::isnan(at)) return taps;
  const double low = std::floor(at);
  double sum = 0;
  for (int tap = cubic ? -1 : 0; tap <= (cubic ? 2 : 1); ++tap) {
    const double position = low + tap;
    double weight = cubic ? CubicWeight(at - position, a) : 1 - std::abs(at - position);
    if (exclude_outside && (position < 0 || position > static_cast<double>(size - 1))) weight = 0;
    const auto inside = std::clamp<std::int64_t>(static_cast<std::int64_t>(position), 0, size - 1);
    taps.offsets[static_cast<std::size_t>(taps.count)] = inside * stride;
    taps.weights[static_cast<std::size_t>(taps.count)] = static_cast<float>(weight);
    ++taps.count;
    sum += weight;
  }
  if (exclude_outside && sum != 0)
    for (float& weight : taps.weights) weight = static_cast<float>(weight / sum);
  return taps;
}

class InterpolationKernel : public OneNodeKernel {
 public:
  explicit InterpolationKernel(const KernelRequest& request) : OneNodeKernel(request) {
    ReadInput(0);
    const ResizeCoordinates coordinates(model_, node_);
    const bool cubic = coordinates.mode() == "cubic";
    const double a = Model::FloatOf(node_, "cubic_coeff_a", -0.75f);
    const bool exclude = Model::IntOf(node_, "exclude_outside", 0) != 0;
    outside_ = Model::FloatOf(node_, "extrapolation_value", 0.0f);
    const Shape& in = InputValue(0).shape;
    out_ = OutputValue(0).shape;
    const std::vector<std::int64_t> strides = StridesOf(in);
    for (std::size_t d = 0; d < in.size(); ++d) {
      std::vector<Taps> line;
      for (std::int64_t i = 0; i < out_[d]; ++i) {
        if (in[d] == out_[d] && coordinates.Source(d, i, in[d], out_[d]) == static_cast<double>(i)) {
          line.push_back({1, {i * strides[d]}, {1.0f}});
        } else {
          line.push_back(TapsAt(coordinates.Source(d, i, in[d], out_[d]), in[d], strides[d], cubic, a, exclude));
        }
      }
      lines_.push_back(std::move(line));
    }
    elements_ = ElementsOf(out_);
  }

  void Run(const KernelBuffers& buffers, int, int worker) const override {
    const float* in = reinterpret_cast<const float*>(In(buffers, 0));
    float* out = reinterpret_cast<float*>(Out(buffers, 0));
    const Share share = ShareOf(elements_, workers_, worker, 64);
    for (std::int64_t i = share.begin; i < share.end; ++i) {
      std::array<const Taps*, kMaximalRank> taps{};
      bool inside = true;
      std::int64_t rest = i;
      for (std::size_t d = out_.size(); d-- > 0;) {
        taps[d] = &lines_[d][static_cast<std::size_t>(rest % out_[d])];
        inside = inside && taps[d]->count > 0;
        rest /= out_[d];
      }
      out[i] = inside ? Blend(in, taps.data(), 0) : outside_;
    }
  }

 private:
  float Blend(const float* in, const Taps* const* taps, std::size_t d) const {
    if (d == out_.size()) return *in;
    float sum = 0;
    for (int tap = 0; tap < taps[d]->count; ++tap) {
      const auto at = static_cast<std::size_t>(tap);
      sum += taps[d]->weights[at] * Blend(in + taps[d]->offsets[at], taps, d + 1);
    }
    return sum;
  }

  Shape out_;
  std::vector<std::vector<Taps>> lines_;
  std::int64_t elements_ = 0;
  float outside_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> MakeInterpolation(const KernelRequest& request) {
  return std::make_unique<InterpolationKernel>(request);
}

std::string InterpolationUnsupported(const Model& model, int node_id) {
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* in = InputOf(model, node, 0);
  const Value* out = OutputOf(model, node, 0);
  if (in == nullptr || out == nullptr || in->type != DataType::kFloat32)
    return node.op_type + " on anything but float32";
  if (in->shape.size() != out->shape.size() || in->shape.size() > kMaximalRank)
    return node.op_type + " to another rank";
  const ResizeCoordinates coordinates(model, node);
  if (!coordinates.unsupported().empty()) return coordinates.unsupported();
  if (coordinates.mode() != "linear" && coordinates.mode() != "cubic")
    return node.op_type + " in mode " + coordinates.mode();
  return ElementsOf(in->shape) == 0 ? node.op_type + " of nothing" : "";
}

}  // namespace millrace

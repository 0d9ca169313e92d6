// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/resize_coordinates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "millrace/runtime/one_node_kernel.h"

namespace millrace {

ResizeCoordinates::ResizeCoordinates(const Model& model, const Node& node) {
  mode_ = Model::StringOf(node, "mode", "nearest");
  if (mode_ == "bilinear") mode_ = "linear";
  const bool old = node.op_type == "Upsample" || model.opset < 11;
  transformation_ = old ? "asymmetric" : Model::StringOf(node, "coordinate_transformation_mode", "half_pixel");
  rounding_ = old ? "floor" : Model::StringOf(node, "nearest_mode", "round_prefer_floor");
  if (Model::IntOf(node, "antialias", 0) != 0) unsupported_ = node.op_type + " with antialias";
  const int scales_input = old ? 1 : 2;
  if (node.attributes.contains("scales")) {
    scales_ = Model::FloatsOf(node, "scales", {});
  } else if (const Value* scales = InputOf(model, node, scales_input)) {
    if (scales->constant) {
      scales_ = scales->constant->AsFloats();
    } else if (ElementsOf(scales->shape) != 0) {
      unsupported_ = node.op_type + " with computed scales";
    }
  }
  const Value* input = InputOf(model, node, 0);
  if (input == nullptr || !unsupported_.empty()) return;
  if (transformation_ == "tf_crop_and_resize") {
    const Value* region = InputOf(model, node, 1);
    if (region == nullptr || !region->constant) {
      unsupported_ = node.op_type + " with a computed region";
      return;
    }
    region_ = region->constant->AsFloats();
  }
  ScaleByPolicy(model, node, input->shape);
  SpreadOverAxes(node, input->shape.size());
}

void ResizeCoordinates::ScaleByPolicy(const Model& model, const Node& node, const Shape& in) {
  const std::string policy = Model::StringOf(node, "keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || !scales_.empty()) return;
  std::vector<std::int64_t> sizes, axes(in.size());
  if (!ConstantInts(model, node, 3, sizes)) {
    unsupported_ = node.op_type + " with computed sizes";
    return;
  }
  std::iota(axes.begin(), axes.end(), 0);
  axes = Model::IntsOf(node, "axes", axes);
  float scale = policy == "not_larger" ? std::numeric_limits<float>::max() : 0.0f;
  for (std::size_t i = 0; i < std::min(axes.size(), sizes.size()); ++i) {
    const std::int64_t extent = in[static_cast<std::size_t>(PositiveAxis(node, axes[i], in.size()))];
    const float own = static_cast<float>(sizes[i]) / static_cast<float>(extent);
    scale = policy == "not_larger" ? std::min(scale, own) : std::max(scale, own);
  }
  scales_.assign(sizes.size(), scale);
}

// Scales and region are for the axes that `axes` names; the others stay as they are.
void ResizeCoordinates::SpreadOverAxes(const Node& node, std::size_t rank) {
  std::vector<std::int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  axes = Model::IntsOf(node, "axes", axes);
  if (!scales_.empty() && scales_.size() != axes.size()) {
    unsupported_ = node.op_type + " with scales of another rank";
    return;
  }
  if (!region_.empty() && region_.size() != 2 * axes.size()) {
    unsupported_ = node.op_type + " with a region of another rank";
    return;
  }
  std::vector<float> scales(scales_.empty() ? 0 : rank, 1.0f);
  std::vector<float> region(region_.empty() ? 0 : 2 * rank, 0.0f);
  std::fill(region.begin() + static_cast<std::ptrdiff_t>(region.size() / 2), region.end(), 1.0f);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto d = static_cast<std::size_t>(PositiveAxis(node, axes[i], rank));
    if (!scales.empty()) scales[d] = scales_[i];
    if (region.empty()) continue;
    region[d] = region_[i];
    region[d + rank] = region_[i + axes.size()];
  }
  scales_ = std::move(scales);
  region_ = std::move(region);
}

double ResizeCoordinates::Source(std::size_t d, std::int64_t i, std::int64_t in, std::int64_t out) const {
  const double scale = scales_.empty() ? static_cast<double>(out) / static_cast<double>(in) : scales_[d];
  const auto x = static_cast<double>(i);
  if (transformation_ == "align_corners") {
    const double length = scales_.empty() ? static_cast<double>(out) : static_cast<double>(in) * scale;
    return out == 1 ? 0.0 : x * static_cast<double>(in - 1) / (length - 1);
  }
  if (transformation_ == "asymmetric") return x / scale;
  if (transformation_ == "half_pixel_symmetric") {
    const double adjustment = static_cast<double>(out) / (static_cast<double>(in) * scale);
    return static_cast<double>(in) / 2 * (1 - adjustment) + (x + 0.5) / scale - 0.5;
  }
  if (transformation_ == "pytorch_half_pixel") return out > 1 ? (x + 0.5) / scale - 0.5 : 0.0;
  if (transformation_ == "tf_half_pixel_for_nn") return (x + 0.5) / scale;
  if (transformation_ == "tf_crop_and_resize") {
    const double start = region_[d], end = region_[d + region_.size() / 2], last = static_cast<double>(in - 1);
    const double at =
        out > 1 ? start * last + x * (end - start) * last / static_cast<double>(out - 1) : 0.5 * (start + end) * last;
    return at < 0 || at > last ? std::numeric_limits<double>::quiet_NaN() : at;
  }
  return (x + 0.5) / scale - 0.5;
}

std::int64_t ResizeCoordinates::Nearest(std::size_t d, std::int64_t i, std::int64_t in, std::int64_t out) const {
  const double at = Source(d, i, in, out);
  if (std::isnan(at)) return -1;
  double rounded = std::floor(at);
  if (rounding_ == "ceil") {
    rounded = std::ceil(at);
  } else if (rounding_ == "round_prefer_floor") {
    rounded = std::ceil(at - 0.5);
  } else if (rounding_ == "round_prefer_ceil") {
    rounded = std::floor(at + 0.5);
  }
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(rounded), 0, in - 1);
}

}  // namespace millrace

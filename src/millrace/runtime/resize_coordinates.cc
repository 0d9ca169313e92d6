// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/resize_coordinates.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "millrace/runtime/one_node_kernel.h"

namespace millrace {

ResizeCoordinates::ResizeCoordinates(const Model& model, const Node& node) {
  mode_ = Model::StringOf(node, "mode", "nearest");
  if (mode_ == "bilinear") mode_ = "linear";
  const bool old = node.op_type == "Upsample" || model.opset < 11;
  transformation_ = old ? "asymmetric" : Model::StringOf(node, "coordinate_transformation_mode", "half_pixel");
  rounding_ = old ? "floor" : Model::StringOf(node, "nearest_mode", "round_prefer_floor");
  for (const char* newer : {"antialias", "axes", "keep_aspect_ratio_policy"}) {
    if (node.attributes.contains(newer)) unsupported_ = node.op_type + " with " + newer;
  }
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
  if (input != nullptr && !scales_.empty() && scales_.size() != input->shape.size())
    unsupported_ = node.op_type + " with scales of another rank";
  if (transformation_ == "tf_crop_and_resize") {
    const Value* region = InputOf(model, node, 1);
    if (region == nullptr || !region->constant || input == nullptr ||
        ElementsOf(region->shape) != 2 * static_cast<std::int64_t>(input->shape.size())) {
      unsupported_ = node.op_type + " with a computed region";
    } else {
      region_ = region->constant->AsFloats();
    }
  }
}

double ResizeCoordinates::Source(std::size_t d, std::int64_t i, std::int64_t in, std::int64_t out) const {
  const double scale = scales_.empty() ? static_cast<double>(out) / static_cast<double>(in) : scales_[d];
  const auto x = static_cast<double>(i);
  if (transformation_ == "align_corners") {
    const double length = scales_.empty() ? static_cast<double>(out) : static_cast<double>(in) * scale;
    return out == 1 ? 0.0 : x * static_cast<double>(in - 1) / (length - 1);
  }
  if (transformation_ == "asymmetric") return x / scale;
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

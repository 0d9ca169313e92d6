// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/formats/model.h"

// Where an element of a resized tensor comes from: the coordinate transformations and roundings of ONNX's Resize
// (opsets 10..22) and Upsample (7..9).
namespace millrace {

class ResizeCoordinates {
 public:
  ResizeCoordinates(const Model& model, const Node& node);

  // Why this node's coordinates cannot be known beforehand; empty if they can.
  const std::string& unsupported() const { return unsupported_; }
  const std::string& mode() const { return mode_; }  // nearest, linear, cubic

  // The coordinate in the input, along dimension `d`, of position `i` of the output; NaN outside the region of
  // tf_crop_and_resize.
  double Source(std::size_t d, std::int64_t i, std::int64_t in, std::int64_t out) const;
  // The same, rounded as nearest_mode says and kept inside; -1 where it is outside the region.
  std::int64_t Nearest(std::size_t d, std::int64_t i, std::int64_t in, std::int64_t out) const;

 private:
  // For a policy that keeps the aspect ratio: the one scale of all axes that `sizes` are bounds of.
  void ScaleByPolicy(const Model& model, const Node& node, const Shape& in);
  void SpreadOverAxes(const Node& node, std::size_t rank);

  std::string unsupported_, mode_, transformation_, rounding_;
  std::vector<float> scales_;  // empty: from the sizes
  std::vector<float> region_;
};

}  // namespace millrace

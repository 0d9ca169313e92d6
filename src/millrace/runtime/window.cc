// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/window.h"

#include <algorithm>

#include "millrace/errors/errors.h"

namespace millrace {

SlidingWindow WindowOf(const Node& node, const Shape& spatial, const Shape& kernel) {
  const std::size_t axes = spatial.size();
  SlidingWindow window;
  window.kernel = Model::IntsOf(node, "kernel_shape", kernel);
  window.strides = Model::IntsOf(node, "strides", Shape(axes, 1));
  window.dilations = Model::IntsOf(node, "dilations", Shape(axes, 1));
  const Shape pads = Model::IntsOf(node, "pads", Shape(2 * axes, 0));
  const auto complain = [&node](const std::string& what) {
    throw InvalidInput("node '" + node.name + "' (" + node.op_type + "): " + what);
  };
  if (window.kernel.size() != axes || window.strides.size() != axes || window.dilations.size() != axes ||
      pads.size() != 2 * axes) {
    complain("kernel_shape, strides, dilations or pads do not fit an input of " + std::to_string(axes) +
             " spatial dimensions");
  }
  const std::string auto_pad = Model::StringOf(node, "auto_pad", "NOTSET");
  const bool ceil = Model::IntOf(node, "ceil_mode", 0) != 0;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t stride = window.strides[axis];
    if (stride < 1 || window.dilations[axis] < 1 || window.kernel[axis] < 1)
      complain("kernel_shape, strides and dilations must be at least 1");
    const std::int64_t extent = (window.kernel[axis] - 1) * window.dilations[axis] + 1;
    std::int64_t begin = pads[axis];
    std::int64_t end = pads[axes + axis];
    std::int64_t output = 0;
    if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
      output = (spatial[axis] + stride - 1) / stride;
      const std::int64_t total = std::max<std::int64_t>((output - 1) * stride + extent - spatial[axis], 0);
      begin = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      end = total - begin;
    } else {
      if (auto_pad == "VALID") begin = end = 0;
      const std::int64_t room = spatial[axis] + begin + end - extent;
      if (begin < 0 || end < 0 || room < 0) complain("its window does not fit the padded input");
      output = room / stride + 1;
      // A window that starts in the padding at the end would see nothing, so it is not made.
      if (ceil && room % stride != 0 && output * stride < spatial[axis] + begin) ++output;
    }
    window.pads_begin.push_back(begin);
    window.pads_end.push_back(end);
    window.output.push_back(output);
    window.reaching_end.push_back((output - 1) * stride + extent - spatial[axis] - begin);
  }
  return window;
}

bool MayBePadding(const SlidingWindow& window) {
  for (std::size_t axis = 0; axis < window.kernel.size(); ++axis) {
    const std::int64_t extent = (window.kernel[axis] - 1) * window.dilations[axis] + 1;
    if (window.pads_begin[axis] >= extent || window.pads_end[axis] >= extent || window.reaching_end[axis] >= extent)
      return true;
  }
  return false;
}

RowBand RowBandOf(const SlidingWindow& window, Share result, std::int64_t rows) {
  const std::int64_t extent = (window.kernel[0] - 1) * window.dilations[0] + 1;
  const std::int64_t first = result.begin * window.strides[0] - window.pads_begin[0];
  const std::int64_t last = (result.end - 1) * window.strides[0] - window.pads_begin[0] + extent;
  RowBand band;
  band.source = {std::max<std::int64_t>(0, first), std::min(rows, last)};
  band.before = band.source.begin - first;
  band.behind = last - band.source.end;
  return band;
}

}  // namespace millrace

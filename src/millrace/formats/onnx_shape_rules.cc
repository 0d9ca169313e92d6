// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_shape_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_einsum.h"
#include "millrace/formats/onnx_move.h"
#include "millrace/formats/onnx_tensor.h"

namespace millrace {
namespace {

using Ints = std::vector<std::int64_t>;
using Inputs = std::vector<const Value*>;
using Shapes = std::optional<std::vector<TypedShape>>;

constexpr std::int64_t kLargestSize = std::numeric_limits<std::int32_t>::max();

const Value* At(const Inputs& inputs, std::size_t i) { return i < inputs.size() ? inputs[i] : nullptr; }

Shapes One(DataType type, Shape shape) { return std::vector<TypedShape>{{type, std::move(shape)}}; }

[[noreturn]] void Complain(const Node& node, const std::string& what) {
  throw InvalidInput(NodeLabel(node) + ": " + what);
}

// The integers of a constant input; nothing where it is none.
std::optional<Ints> IntsAt(const Node& node, const Inputs& inputs, std::size_t i) {
  const Value* value = At(inputs, i);
  if (value == nullptr || value->constant == nullptr) return std::nullopt;
  return IntegersOf(node, {value->constant}, 0, "");
}

// Sizes that a model asks for, each in a range where sums and products of them stay exact.
void CheckExtents(const Node& node, const Ints& extents) {
  for (const std::int64_t extent : extents) {
    if (extent < 0 || extent > kLargestSize) Complain(node, fmt::format("it asks for a size of {}", extent));
  }
}

// The dimensions that `count` numbers of a parameter are for: those that `axes` names, or all.
std::vector<std::size_t> AxesFor(const Node& node, const std::optional<Ints>& axes, std::size_t rank,
                                 std::size_t count) {
  std::vector<std::size_t> dimensions;
  if (axes) {
    for (const std::int64_t axis : *axes) dimensions.push_back(AxisOf(node, axis, rank));
  } else {
    for (std::size_t d = 0; d < rank; ++d) dimensions.push_back(d);
  }
  if (dimensions.size() != count) {
    Complain(node, fmt::format("it has {} numbers for {} axes", count, dimensions.size()));
  }
  return dimensions;
}

std::optional<Ints> AxesAttribute(const Node& node) {
  if (node.attributes.count("axes") == 0) return std::nullopt;
  return Model::IntsOf(node, "axes", {});
}

Shapes Pad(const Node& node, const Inputs& inputs) {
  const std::optional<Ints> pads = IntsAt(node, inputs, 1);
  const std::optional<Ints> axes = IntsAt(node, inputs, 3);
  if (!pads || (At(inputs, 3) != nullptr && !axes)) return std::nullopt;
  Shape shape = inputs[0]->shape;
  const std::vector<std::size_t> dimensions = AxesFor(node, axes, shape.size(), pads->size() / 2);
  if (pads->size() % 2 != 0) Complain(node, "it has an odd number of pads");
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const std::int64_t begin = (*pads)[i], end = (*pads)[dimensions.size() + i];
    if (std::max(std::abs(begin), std::abs(end)) > kLargestSize) Complain(node, "its pads make no sense");
    shape[dimensions[i]] += begin + end;
  }
  return One(inputs[0]->type, std::move(shape));
}

// "stretch" takes sizes as they are; the others take the same scale along all axes, so that the aspect ratio stays.
Ints KeptRatio(const Node& node, const Shape& in, const std::vector<std::size_t>& dimensions, Ints sizes) {
  const std::string policy = Model::StringOf(node, "keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") return sizes;
  if (policy != "not_larger" && policy != "not_smaller")
    Complain(node, fmt::format("keep_aspect_ratio_policy '{}' is none of stretch, not_larger and not_smaller", policy));
  std::optional<double> scale;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double own = static_cast<double>(sizes[i]) / static_cast<double>(in[dimensions[i]]);
    scale = !scale ? own : (policy == "not_larger" ? std::min(*scale, own) : std::max(*scale, own));
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double size = std::floor(*scale * static_cast<double>(in[dimensions[i]]) + 0.5);
    if (!(size <= static_cast<double>(kLargestSize))) Complain(node, "its sizes make no sense");
    sizes[i] = static_cast<std::int64_t>(size);
  }
  return sizes;
}

Shapes Resize(const Node& node, const Inputs& inputs) {
  Shape shape = inputs[0]->shape;
  const Value* scales = At(inputs, 2);
  if (const std::optional<Ints> sizes = IntsAt(node, inputs, 3)) {
    CheckExtents(node, *sizes);
    const std::vector<std::size_t> dimensions = AxesFor(node, AxesAttribute(node), shape.size(), sizes->size());
    for (const std::size_t d : dimensions) {
      if (shape[d] == 0) Complain(node, "it resizes an axis of no elements");
    }
    const Ints kept = KeptRatio(node, shape, dimensions, *sizes);
    for (std::size_t i = 0; i < dimensions.size(); ++i) shape[dimensions[i]] = kept[i];
    return One(inputs[0]->type, std::move(shape));
  }
  if (scales == nullptr || scales->constant == nullptr || scales->type != DataType::kFloat32 ||
      ElementsOf(scales->shape) > static_cast<std::int64_t>(kMostDimensions)) {
    return std::nullopt;
  }
  const std::vector<float> factors = scales->constant->AsFloats();
  const std::vector<std::size_t> dimensions = AxesFor(node, AxesAttribute(node), shape.size(), factors.size());
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const float size = std::floor(static_cast<float>(shape[dimensions[i]]) * factors[i]);
    if (!(size >= 0) || size > static_cast<float>(kLargestSize)) Complain(node, "its scales make no sense");
    shape[dimensions[i]] = static_cast<std::int64_t>(size);
  }
  return One(inputs[0]->type, std::move(shape));
}

// Into num_outputs parts of the same size, the last one smaller where they do not fit.
Shapes Split(const Node& node, const Inputs& inputs) {
  const Shape& shape = inputs[0]->shape;
  const std::size_t axis = AxisOf(node, Model::IntOf(node, "axis", 0), shape.size());
  const std::int64_t count = Model::IntOf(node, "num_outputs", 0);
  if (count != static_cast<std::int64_t>(node.outputs.size())) {
    Complain(node, fmt::format("num_outputs is {} and it has {} outputs", count, node.outputs.size()));
  }
  const std::int64_t each = (shape[axis] + count - 1) / count;
  std::int64_t left = shape[axis];
  std::vector<TypedShape> parts;
  for (std::int64_t i = 0; i < count; ++i) {
    Shape part = shape;
    part[axis] = i + 1 < count ? each : left;
    left -= each;
    if (part[axis] < 0) Complain(node, fmt::format("{} elements cannot be split into {}", shape[axis], count));
    parts.emplace_back(inputs[0]->type, std::move(part));
  }
  return parts;
}

Shapes CenterCropPad(const Node& node, const Inputs& inputs) {
  const std::optional<Ints> wanted = IntsAt(node, inputs, 1);
  if (!wanted) return std::nullopt;
  Shape shape = inputs[0]->shape;
  const std::vector<std::size_t> dimensions = AxesFor(node, AxesAttribute(node), shape.size(), wanted->size());
  for (std::size_t i = 0; i < dimensions.size(); ++i) shape[dimensions[i]] = (*wanted)[i];
  return One(inputs[0]->type, std::move(shape));
}

Shapes Col2Im(const Node& node, const Inputs& inputs) {
  const std::optional<Ints> image = IntsAt(node, inputs, 1);
  const std::optional<Ints> block = IntsAt(node, inputs, 2);
  if (!image || !block) return std::nullopt;
  CheckExtents(node, *image);
  CheckExtents(node, *block);
  const Shape& columns = inputs[0]->shape;
  const std::int64_t pixels = CheckedElements(*block, NodeLabel(node) + "'s block");
  if (columns.size() != 3 || pixels == 0 || columns[1] % pixels != 0) {
    Complain(node, "its input is not [batch, channels x pixels of a block, blocks]");
  }
  Shape shape = {columns[0], columns[1] / pixels};
  shape.insert(shape.end(), image->begin(), image->end());
  return One(inputs[0]->type, std::move(shape));
}

Shapes AffineGrid(const Node& node, const Inputs& inputs) {
  const std::optional<Ints> size = IntsAt(node, inputs, 1);
  if (!size) return std::nullopt;
  CheckExtents(node, *size);
  if (size->size() != 4 && size->size() != 5) Complain(node, "its size is that of neither a 2-D nor a 3-D image");
  Shape shape = {size->front()};
  shape.insert(shape.end(), size->begin() + 2, size->end());
  shape.push_back(static_cast<std::int64_t>(size->size()) - 2);
  return One(inputs[0]->type, std::move(shape));
}

Shapes GridSample(const Node& node, const Inputs& inputs) {
  const Value* grid = At(inputs, 1);
  const Shape& image = inputs[0]->shape;
  if (grid == nullptr || image.size() < 3 || grid->shape.size() != image.size()) {
    Complain(node, "its grid has another rank than its input");
  }
  Shape shape = {image[0], image[1]};
  shape.insert(shape.end(), grid->shape.begin() + 1, grid->shape.end() - 1);
  return One(inputs[0]->type, std::move(shape));
}

Shapes Dft(const Node& node, const Inputs& inputs) {
  Shape shape = inputs[0]->shape;
  const std::optional<Ints> length = IntsAt(node, inputs, 1);
  const std::optional<Ints> axis = IntsAt(node, inputs, 2);
  if ((At(inputs, 1) != nullptr && !length) || (At(inputs, 2) != nullptr && !axis) || shape.size() < 2) {
    return std::nullopt;
  }
  const std::size_t d = AxisOf(node, axis && !axis->empty() ? axis->front() : -2, shape.size());
  if (length && !length->empty()) shape[d] = length->front();
  if (Model::IntOf(node, "onesided", 0) != 0) shape[d] = shape[d] / 2 + 1;
  shape.back() = 2;
  return One(inputs[0]->type, std::move(shape));
}

// Pools with ceil_mode: a window that would begin in the padding at the end is not made.
Shapes Pool(const Node& node, const Inputs& inputs) {
  Shape shape = inputs[0]->shape;
  if (shape.size() < 3) Complain(node, "its input has no spatial dimensions");
  const std::size_t axes = shape.size() - 2;
  const Ints kernel = Model::IntsOf(node, "kernel_shape", {});
  const Ints strides = Model::IntsOf(node, "strides", Ints(axes, 1));
  const Ints dilations = Model::IntsOf(node, "dilations", Ints(axes, 1));
  const Ints pads = Model::IntsOf(node, "pads", Ints(2 * axes, 0));
  if (kernel.size() != axes || strides.size() != axes || dilations.size() != axes || pads.size() != 2 * axes) {
    Complain(node, fmt::format("its windows are not for {} spatial dimensions", axes));
  }
  const std::string auto_pad = Model::StringOf(node, "auto_pad", "NOTSET");
  const bool up = Model::IntOf(node, "ceil_mode", 0) != 0;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    std::int64_t& extent = shape[axis + 2];
    if (auto_pad.starts_with("SAME")) {
      extent = (extent + strides[axis] - 1) / strides[axis];
      continue;
    }
    const bool pads_count = auto_pad == "NOTSET";
    const std::int64_t begin = pads_count ? pads[axis] : 0, end = pads_count ? pads[axes + axis] : 0;
    const std::int64_t room = extent + begin + end - (kernel[axis] - 1) * dilations[axis] - 1;
    if (room < 0) Complain(node, "its windows do not fit its input");
    std::int64_t windows = room / strides[axis] + 1;
    if (up && room % strides[axis] != 0 && windows * strides[axis] < extent + begin) ++windows;
    extent = windows;
  }
  return std::vector<TypedShape>{{inputs[0]->type, shape}, {DataType::kInt64, shape}};
}

Shapes QuantizeLinear(const Node& node, const Inputs& inputs) {
  if (const Value* zero = At(inputs, 2)) return One(zero->type, inputs[0]->shape);
  const auto stated = static_cast<std::int32_t>(Model::IntOf(node, "output_dtype", 0));
  return One(DataTypeOf(stated).value_or(DataType::kUint8), inputs[0]->shape);
}

Shapes OptionalHasElement(const Node&, const Inputs&) { return One(DataType::kBool, {}); }

Shapes Einsum(const Node& node, const Inputs& inputs) {
  std::vector<Shape> shapes;
  for (const Value* input : inputs) {
    if (input == nullptr) return std::nullopt;
    shapes.push_back(input->shape);
  }
  const auto labels = LabelsOfEinsum(Model::StringOf(node, "equation", ""), shapes);
  if (!labels) return std::nullopt;
  return One(inputs[0]->type, labels->OutputShape());
}

using Rule = Shapes (*)(const Node&, const Inputs&);

Rule RuleOf(const std::string& op_type) {
  static const std::map<std::string, Rule> kRules = {
      {"AffineGrid", AffineGrid},
      {"AveragePool", Pool},
      {"CenterCropPad", CenterCropPad},
      {"Col2Im", Col2Im},
      {"DFT", Dft},
      {"Einsum", Einsum},
      {"GridSample", GridSample},
      {"LpPool", Pool},
      {"MaxPool", Pool},
      {"OptionalHasElement", OptionalHasElement},
      {"Pad", Pad},
      {"QuantizeLinear", QuantizeLinear},
      {"Resize", Resize},
      {"Split", Split},
  };
  const auto found = kRules.find(op_type);
  return found == kRules.end() ? nullptr : found->second;
}

}  // namespace

std::optional<std::vector<TypedShape>> ShapesByRule(const Node& node, const std::vector<const Value*>& inputs) {
  const Rule rule = RuleOf(node.op_type);
  const bool may_lack_input = node.op_type == "OptionalHasElement";
  if (rule == nullptr || (!may_lack_input && At(inputs, 0) == nullptr)) return std::nullopt;
  return rule(node, inputs);
}

}  // namespace millrace

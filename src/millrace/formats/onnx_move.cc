// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_move.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_tensor.h"

namespace millrace {
namespace {

// Weights that a network transposes or joins at run time are worth folding up to here.
constexpr std::int64_t kMostMoved = std::int64_t{1} << 25;

// A result that repeats elements may have this many: a few bytes of file must not grow into gigabytes.
std::int64_t MostGrown(const ConstantData& from) {
  constexpr std::int64_t kAlwaysAllowed = 65536;
  return std::max(kAlwaysAllowed, from.filled() ? 0 : ElementsOf(from.shape()));
}

std::size_t ElementCount(const Shape& shape) { return static_cast<std::size_t>(ElementsOf(shape)); }

// The same elements under another shape.
ConstantPointer Reshaped(const Node& node, const ConstantPointer& constant, const Shape& shape) {
  if (CheckedElements(shape, NodeLabel(node) + "'s output") != ElementsOf(constant->shape())) {
    throw InvalidInput(NodeLabel(node) + " reshapes a constant to another number of elements");
  }
  if (constant->filled()) return ConstantData::Filled(constant->type(), shape, constant->stored());
  return ConstantData::Dense(constant->type(), shape, constant->stored());
}

ConstantPointer Reshape(const Node& node, const std::vector<ConstantPointer>& inputs) {
  const auto wish = IntegersOf(node, inputs, 1, "shape");
  if (!wish) return nullptr;
  const bool keep_zeros = Model::IntOf(node, "allowzero", 0) != 0;
  const Shape& from = inputs[0]->shape();
  Shape shape = *wish;
  std::optional<std::size_t> open;
  Shape closed;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !keep_zeros) {
      if (i >= from.size()) throw InvalidInput(NodeLabel(node) + " copies a dimension its input does not have");
      shape[i] = from[i];
    }
    if (shape[i] == -1) {
      if (open) throw InvalidInput(NodeLabel(node) + " leaves two dimensions open");
      open = i;
    } else {
      closed.push_back(shape[i]);
    }
  }
  if (open) {
    const std::int64_t rest = CheckedElements(closed, NodeLabel(node) + "'s output");
    const std::int64_t all = ElementsOf(from);
    if (rest == 0 || all % rest != 0) throw InvalidInput(NodeLabel(node) + " cannot infer its open dimension");
    shape[*open] = all / rest;
  }
  return Reshaped(node, inputs[0], shape);
}

ConstantPointer Flatten(const Node& node, const std::vector<ConstantPointer>& inputs) {
  const Shape& from = inputs[0]->shape();
  std::int64_t axis = Model::IntOf(node, "axis", 1);
  const std::int64_t rank = static_cast<std::int64_t>(from.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) throw InvalidInput(NodeLabel(node) + " flattens at an axis its input does not have");
  Shape shape{1, 1};
  for (std::int64_t i = 0; i < rank; ++i) shape[i < axis ? 0 : 1] *= from[static_cast<std::size_t>(i)];
  return Reshaped(node, inputs[0], shape);
}

ConstantPointer Squeeze(const Node& node, const std::vector<ConstantPointer>& inputs) {
  const Shape& from = inputs[0]->shape();
  const auto axes = IntegersOf(node, inputs, 1, "axes");
  std::vector<bool> dropped(from.size(), false);
  for (std::size_t i = 0; i < from.size() && !axes; ++i) dropped[i] = from[i] == 1;
  for (const std::int64_t axis : axes.value_or(std::vector<std::int64_t>())) {
    dropped[AxisOf(node, axis, from.size())] = true;
  }
  Shape shape;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!dropped[i]) shape.push_back(from[i]);
  }
  return Reshaped(node, inputs[0], shape);
}

ConstantPointer Unsqueeze(const Node& node, const std::vector<ConstantPointer>& inputs) {
  const auto axes = IntegersOf(node, inputs, 1, "axes");
  if (!axes || axes->size() > kMostDimensions) return nullptr;
  const Shape& from = inputs[0]->shape();
  std::vector<bool> added(from.size() + axes->size(), false);
  for (const std::int64_t axis : *axes) {
    const std::size_t at = AxisOf(node, axis, added.size());
    if (added[at]) throw InvalidInput(NodeLabel(node) + " inserts the same axis twice");
    added[at] = true;
  }
  Shape shape;
  std::size_t next = 0;
  for (const bool is_new : added) shape.push_back(is_new ? 1 : from[next++]);
  return Reshaped(node, inputs[0], shape);
}

// Elements of `from` at `indices`, as a constant of `shape`.
ConstantPointer Picked(const ConstantData& from, const Shape& shape, const std::vector<std::size_t>& indices) {
  if (from.filled()) return ConstantData::Filled(from.type(), shape, from.stored());
  const std::size_t size = BytesOf(from.type());
  std::vector<std::byte> bytes(indices.size() * size);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::memcpy(bytes.data() + i * size, from.stored().data() + indices[i] * size, size);
  }
  return ConstantData::Dense(from.type(), shape, std::move(bytes));
}

// Walks the elements of `shape` in order, each dimension advancing `strides[d]` from `start`.
std::vector<std::size_t> StridedIndices(const Shape& shape, std::int64_t start,
                                        const std::vector<std::int64_t>& strides) {
  std::vector<std::size_t> indices(ElementCount(shape));
  std::vector<std::int64_t> position(shape.size(), 0);
  std::int64_t at = start;
  for (std::size_t& index : indices) {
    index = static_cast<std::size_t>(at);
    for (std::size_t d = shape.size(); d-- > 0;) {
      at += strides[d];
      if (++position[d] < shape[d]) break;
      at -= strides[d] * shape[d];
      position[d] = 0;
    }
  }
  return indices;
}

std::vector<std::int64_t> StridesOf(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

ConstantPointer Transpose(const Node& node, const std::vector<ConstantPointer>& inputs) {
  const ConstantData& from = *inputs[0];
  const std::size_t rank = from.shape().size();
  std::vector<std::int64_t> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  order = Model::IntsOf(node, "perm", order);
  std::vector<std::int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<std::int64_t>(i)) throw InvalidInput(NodeLabel(node) + ": 'perm' is no permutation");
  }
  if (order.size() != rank) throw InvalidInput(NodeLabel(node) + ": 'perm' does not fit its input");
  const std::vector<std::int64_t> strides = StridesOf(from.shape());
  Shape shape(rank);
  std::vector<std::int64_t> moved(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    shape[i] = from.shape()[static_cast<std::size_t>(order[i])];
    moved[i] = strides[static_cast<std::size_t>(order[i])];
  }
  if (from.filled()) return ConstantData::Filled(from.type(), shape, from.stored());
  return Picked(from, shape, StridedIndices(shape, 0, moved));
}

ConstantPointer Expand(const Node& node, const std::vector<ConstantPointer>& inputs) {
  const auto wish = IntegersOf(node, inputs, 1, "shape");
  if (!wish) return nullptr;
  CheckedElements(*wish, NodeLabel(node) + "'s output");
  const Shape shape = BroadcastShape(node, inputs[0]->shape(), *wish);
  if (inputs[0]->filled()) return ConstantData::Filled(inputs[0]->type(), shape, inputs[0]->stored());
  if (ElementsOf(shape) > MostGrown(*inputs[0])) return nullptr;
  return Picked(*inputs[0], shape, BroadcastIndices(inputs[0]->shape(), shape));
}

ConstantPointer Gather(const Node& node, const std::vector<ConstantPointer>& inputs) {
  const Shape& from = inputs[0]->shape();
  if (inputs.size() != 2 || (inputs[1]->type() != DataType::kInt64 && inputs[1]->type() != DataType::kInt32)) {
    return nullptr;
  }
  const std::size_t axis = AxisOf(node, Model::IntOf(node, "axis", 0), from.size());
  Shape shape(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), inputs[1]->shape().begin(), inputs[1]->shape().end());
  shape.insert(shape.end(), from.begin() + static_cast<std::ptrdiff_t>(axis) + 1, from.end());
  const std::int64_t most = MostGrown(*inputs[0]);
  if (CheckedElements(shape, NodeLabel(node) + "'s output") > most || ElementsOf(inputs[1]->shape()) > most) {
    return nullptr;
  }
  if (ElementsOf(shape) == 0) return ConstantData::Dense(inputs[0]->type(), shape, {});
  std::vector<std::int64_t> picks = inputs[1]->AsInt64s();
  for (std::int64_t& pick : picks) {
    if (pick < -from[axis] || pick >= from[axis]) {
      throw InvalidInput(fmt::format("{} gathers index {} of an axis of {}", NodeLabel(node), pick, from[axis]));
    }
    if (pick < 0) pick += from[axis];
  }
  const std::size_t inner = ElementCount(Shape(from.begin() + static_cast<std::ptrdiff_t>(axis) + 1, from.end()));
  const std::size_t outer = ElementCount(Shape(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(axis)));
  std::vector<std::size_t> indices;
  indices.reserve(ElementCount(shape));
  for (std::size_t o = 0; o < outer; ++o) {
    for (const std::int64_t pick : picks) {
      const std::size_t begin = (o * static_cast<std::size_t>(from[axis]) + static_cast<std::size_t>(pick)) * inner;
      for (std::size_t i = 0; i < inner; ++i) indices.push_back(begin + i);
    }
  }
  return Picked(*inputs[0], shape, indices);
}

ConstantPointer Concat(const Node& node, const std::vector<ConstantPointer>& inputs) {
  Shape shape = inputs[0]->shape();
  const std::size_t axis = AxisOf(node, Model::IntOf(node, "axis", 1), shape.size());
  shape[axis] = 0;
  for (const ConstantPointer& input : inputs) {
    if (input == nullptr || input->type() != inputs[0]->type()) return nullptr;
    Shape rest = input->shape();
    if (rest.size() != shape.size()) throw InvalidInput(NodeLabel(node) + " joins constants of different ranks");
    shape[axis] += rest[axis];
    rest[axis] = shape[axis];
    if (rest != shape) throw InvalidInput(NodeLabel(node) + " joins constants that differ in another axis");
  }
  std::int64_t most = 0;
  for (const ConstantPointer& input : inputs) most += MostGrown(*input);
  if (CheckedElements(shape, NodeLabel(node) + "'s output") > std::min(most, kMostMoved)) return nullptr;
  if (ElementsOf(shape) == 0) return ConstantData::Dense(inputs[0]->type(), shape, {});
  const std::size_t size = BytesOf(inputs[0]->type());
  const auto axis_at = static_cast<std::ptrdiff_t>(axis);
  const std::size_t outer = ElementCount(Shape(shape.begin(), shape.begin() + axis_at));
  std::vector<std::byte> bytes(ElementCount(shape) * size);
  std::vector<std::vector<std::byte>> parts;
  for (const ConstantPointer& input : inputs) {
    parts.emplace_back(input->bytes());
    input->CopyTo(parts.back().data());
  }
  std::size_t at = 0;
  for (std::size_t o = 0; o < outer; ++o) {
    for (const std::vector<std::byte>& part : parts) {
      const std::size_t run = part.size() / outer;
      if (run > 0) std::memcpy(bytes.data() + at, part.data() + o * run, run);
      at += run;
    }
  }
  return ConstantData::Dense(inputs[0]->type(), shape, std::move(bytes));
}

ConstantPointer Slice(const Node& node, const std::vector<ConstantPointer>& inputs) {
  const auto starts = IntegersOf(node, inputs, 1, "starts");
  const auto ends = IntegersOf(node, inputs, 2, "ends");
  if (!starts || !ends || starts->size() != ends->size()) return nullptr;
  std::vector<std::int64_t> every(starts->size());
  std::iota(every.begin(), every.end(), 0);
  const std::vector<std::int64_t> axes = IntegersOf(node, inputs, 3, "axes").value_or(every);
  const std::vector<std::int64_t> steps =
      IntegersOf(node, inputs, 4, "steps").value_or(std::vector<std::int64_t>(starts->size(), 1));
  if (axes.size() != starts->size() || steps.size() != starts->size()) return nullptr;
  Shape shape = inputs[0]->shape();
  std::vector<std::int64_t> strides = StridesOf(shape);
  const std::vector<std::int64_t> whole = strides;
  std::int64_t origin = 0;
  std::vector<bool> cut(shape.size(), false);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = AxisOf(node, axes[i], shape.size());
    if (cut[axis]) throw InvalidInput(NodeLabel(node) + " slices the same axis twice");
    cut[axis] = true;
    const std::int64_t extent = inputs[0]->shape()[axis];
    const std::int64_t step = steps[i];
    if (step == 0 || step < -kMostElements || step > kMostElements) {
      throw InvalidInput(fmt::format("{} slices with step {}", NodeLabel(node), step));
    }
    std::int64_t begin = (*starts)[i];
    std::int64_t end = (*ends)[i];
    if (begin < 0) begin += extent;
    if (end < 0) end += extent;
    begin = std::clamp<std::int64_t>(begin, 0, step > 0 ? extent : std::max<std::int64_t>(extent - 1, 0));
    end = std::clamp<std::int64_t>(end, step > 0 ? 0 : -1, extent);
    const std::int64_t span = step > 0 ? end - begin : begin - end;
    const std::int64_t pace = step > 0 ? step : -step;
    shape[axis] = span <= 0 || extent == 0 ? 0 : (span + pace - 1) / pace;
    origin += begin * whole[axis];
    strides[axis] = whole[axis] * step;
  }
  if (ElementsOf(shape) > kMostMoved && !inputs[0]->filled()) return nullptr;
  if (inputs[0]->filled()) return ConstantData::Filled(inputs[0]->type(), shape, inputs[0]->stored());
  return Picked(*inputs[0], shape, StridedIndices(shape, origin, strides));
}

using Move = ConstantPointer (*)(const Node&, const std::vector<ConstantPointer>&);

Move MoveOf(const std::string& op_type) {
  static const std::map<std::string, Move> kMoves = {
      {"Concat", Concat}, {"Expand", Expand},   {"Flatten", Flatten},     {"Gather", Gather},      {"Reshape", Reshape},
      {"Slice", Slice},   {"Squeeze", Squeeze}, {"Transpose", Transpose}, {"Unsqueeze", Unsqueeze}};
  const auto found = kMoves.find(op_type);
  return found == kMoves.end() ? nullptr : found->second;
}

}  // namespace

bool OnlyMoves(const Node& node) { return MoveOf(node.op_type) != nullptr; }

ConstantPointer EvaluateMove(const Node& node, const std::vector<ConstantPointer>& inputs) {
  const Move move = MoveOf(node.op_type);
  if (move == nullptr || inputs.empty() || inputs[0] == nullptr || BytesOf(inputs[0]->type()) == 0) return nullptr;
  if (!inputs[0]->filled() && ElementsOf(inputs[0]->shape()) > kMostMoved) return nullptr;
  return move(node, inputs);
}

std::optional<std::vector<std::int64_t>> IntegersOf(const Node& node, const std::vector<ConstantPointer>& inputs,
                                                    std::size_t index, const std::string& attribute) {
  if (index < inputs.size() && inputs[index] != nullptr) {
    const DataType type = inputs[index]->type();
    if ((type != DataType::kInt64 && type != DataType::kInt32) ||
        ElementsOf(inputs[index]->shape()) > static_cast<std::int64_t>(kMostDimensions)) {
      throw InvalidInput(fmt::format("{}: its input {} is no short list of integers", NodeLabel(node), index));
    }
    return inputs[index]->AsInt64s();
  }
  if (node.attributes.count(attribute) == 0) return std::nullopt;
  return Model::IntsOf(node, attribute, {});
}

std::size_t AxisOf(const Node& node, std::int64_t axis, std::size_t rank) {
  const std::int64_t axes = static_cast<std::int64_t>(rank);
  if (axis < -axes || axis >= axes) {
    throw InvalidInput(fmt::format("{}: there is no axis {} among {}", NodeLabel(node), axis, rank));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + axes : axis);
}

Shape BroadcastShape(const Node& node, const Shape& left, const Shape& right) {
  Shape shape(std::max(left.size(), right.size()), 1);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t a = i < left.size() ? left[left.size() - 1 - i] : 1;
    const std::int64_t b = i < right.size() ? right[right.size() - 1 - i] : 1;
    if (a != b && a != 1 && b != 1) {
      throw InvalidInput(fmt::format("{}: dimensions {} and {} do not fit each other", NodeLabel(node), a, b));
    }
    shape[shape.size() - 1 - i] = a == 1 ? b : a;
  }
  CheckedElements(shape, NodeLabel(node) + "'s output");
  return shape;
}

std::vector<std::size_t> BroadcastIndices(const Shape& from, const Shape& to) {
  std::vector<std::int64_t> strides(to.size(), 0);
  const std::vector<std::int64_t> own = StridesOf(from);
  const std::size_t lead = to.size() - from.size();
  for (std::size_t d = 0; d < from.size(); ++d) strides[lead + d] = from[d] == 1 ? 0 : own[d];
  return StridedIndices(to, 0, strides);
}

std::string NodeLabel(const Node& node) { return fmt::format("node '{}' ({})", node.name, node.op_type); }

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_small.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_move.h"
#include "millrace/formats/onnx_tensor.h"

namespace millrace {
namespace {

// A small constant with its elements widened: integers and booleans exactly, floating point as double, which rounds to
// the same float for one operation of + - * / and square root.
struct Small {
  DataType type = DataType::kInt64;
  Shape shape;
  bool real = false;
  std::vector<std::int64_t> integers;
  std::vector<double> reals;

  std::size_t size() const { return real ? reals.size() : integers.size(); }
};

bool IsReal(DataType type) { return type == DataType::kFloat32 || type == DataType::kFloat64; }

// The types that are computed with here; uint64 does not fit the wide integers, halves are too rare.
bool Takes(DataType type) {
  return IsReal(type) || type == DataType::kInt64 || type == DataType::kInt32 || type == DataType::kInt16 ||
         type == DataType::kInt8 || type == DataType::kUint8 || type == DataType::kUint16 ||
         type == DataType::kUint32 || type == DataType::kBool;
}

Small Widened(const ConstantData& constant) {
  Small small{constant.type(), constant.shape(), IsReal(constant.type()), {}, {}};
  if (constant.type() == DataType::kFloat64) {
    small.reals.resize(static_cast<std::size_t>(ElementsOf(constant.shape())));
    if (!small.reals.empty()) constant.CopyTo(reinterpret_cast<std::byte*>(small.reals.data()));
  } else if (small.real) {
    for (const float element : constant.AsFloats()) small.reals.push_back(element);
  } else {
    small.integers = constant.AsInt64s();
  }
  return small;
}

template <typename Element, typename Wide>
std::vector<std::byte> Packed(const std::vector<Wide>& wide) {
  std::vector<std::byte> bytes(wide.size() * sizeof(Element));
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const Element element = static_cast<Element>(wide[i]);
    std::memcpy(bytes.data() + i * sizeof(Element), &element, sizeof(Element));
  }
  return bytes;
}

ConstantPointer Narrowed(const Small& small) {
  std::vector<std::byte> bytes;
  switch (small.type) {
    case DataType::kFloat32:
      bytes = Packed<float>(small.reals);
      break;
    case DataType::kFloat64:
      bytes = Packed<double>(small.reals);
      break;
    case DataType::kInt64:
      bytes = Packed<std::int64_t>(small.integers);
      break;
    case DataType::kInt32:
      bytes = Packed<std::int32_t>(small.integers);
      break;
    case DataType::kInt16:
      bytes = Packed<std::int16_t>(small.integers);
      break;
    case DataType::kInt8:
      bytes = Packed<std::int8_t>(small.integers);
      break;
    case DataType::kUint32:
      bytes = Packed<std::uint32_t>(small.integers);
      break;
    case DataType::kUint16:
      bytes = Packed<std::uint16_t>(small.integers);
      break;
    case DataType::kUint8:
    case DataType::kBool:
      bytes = Packed<std::uint8_t>(small.integers);
      break;
    default:
      return nullptr;
  }
  return ConstantData::Dense(small.type, small.shape, std::move(bytes));
}

// Two's complement arithmetic without undefined overflow.
std::int64_t Wrapped(std::uint64_t value) { return static_cast<std::int64_t>(value); }

std::optional<std::int64_t> Combine(const std::string& op, std::int64_t a, std::int64_t b) {
  const std::uint64_t x = static_cast<std::uint64_t>(a);
  const std::uint64_t y = static_cast<std::uint64_t>(b);
  if (op == "Add") return Wrapped(x + y);
  if (op == "Sub") return Wrapped(x - y);
  if (op == "Mul") return Wrapped(x * y);
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "And") return a != 0 && b != 0;
  if (op == "Or") return a != 0 || b != 0;
  const bool divisible = b != 0 && !(a == std::numeric_limits<std::int64_t>::min() && b == -1);
  if (op == "Div" && divisible) return a / b;
  if (op == "Mod" && divisible) return a % b == 0 || (a % b < 0) == (b < 0) ? a % b : a % b + b;
  return std::nullopt;
}

std::optional<double> Combine(const std::string& op, double a, double b) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return a / b;
  return std::nullopt;
}

template <typename Number>
std::optional<bool> Compare(const std::string& op, Number a, Number b) {
  if (op == "Equal") return a == b;
  if (op == "Greater") return a > b;
  if (op == "GreaterOrEqual") return a >= b;
  if (op == "Less") return a < b;
  if (op == "LessOrEqual") return a <= b;
  return std::nullopt;
}

bool IsBinary(const std::string& op) {
  static const std::vector<std::string> kOps = {"Add",  "And",         "Div", "Equal", "Greater", "GreaterOrEqual",
                                                "Less", "LessOrEqual", "Max", "Min",   "Mod",     "Mul",
                                                "Or",   "Sub"};
  return std::find(kOps.begin(), kOps.end(), op) != kOps.end();
}

ConstantPointer Binary(const Node& node, const Small& left, const Small& right) {
  if (left.type != right.type) return nullptr;
  Small result{left.type, BroadcastShape(node, left.shape, right.shape), left.real, {}, {}};
  if (ElementsOf(result.shape) > kMostSmallElements) return nullptr;
  const std::vector<std::size_t> from_left = BroadcastIndices(left.shape, result.shape);
  const std::vector<std::size_t> from_right = BroadcastIndices(right.shape, result.shape);
  for (std::size_t i = 0; i < from_left.size(); ++i) {
    std::optional<bool> truth;
    if (left.real) {
      const double a = left.reals[from_left[i]];
      const double b = right.reals[from_right[i]];
      truth = Compare(node.op_type, a, b);
      const std::optional<double> number = Combine(node.op_type, a, b);
      if (!truth && !number) return nullptr;
      if (number) result.reals.push_back(*number);
    } else {
      const std::int64_t a = left.integers[from_left[i]];
      const std::int64_t b = right.integers[from_right[i]];
      truth = Compare(node.op_type, a, b);
      const std::optional<std::int64_t> number = Combine(node.op_type, a, b);
      if (!truth && !number) return nullptr;
      if (number) result.integers.push_back(*number);
    }
    if (truth) {
      result.type = DataType::kBool;
      result.real = false;
      result.integers.push_back(*truth ? 1 : 0);
    }
  }
  if (from_left.empty() && Compare(node.op_type, 0, 0)) {
    result.type = DataType::kBool;
    result.real = false;
  }
  return Narrowed(result);
}

ConstantPointer Cast(const Node& node, const Small& input) {
  const std::optional<DataType> to = DataTypeOf(static_cast<std::int32_t>(
      std::clamp<std::int64_t>(Model::IntOf(node, "to", 0), 0, std::numeric_limits<std::int32_t>::max())));
  if (!to || !Takes(*to)) return nullptr;
  Small result{*to, input.shape, IsReal(*to), {}, {}};
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (result.real) {
      result.reals.push_back(input.real ? input.reals[i] : static_cast<double>(input.integers[i]));
    } else if (input.real) {
      // Beyond 2^31 the result depends on who converts; such a cast is left alone.
      if (!(std::fabs(input.reals[i]) < 2147483648.0)) return nullptr;
      const bool truth = *to == DataType::kBool;
      result.integers.push_back(truth ? input.reals[i] != 0 : static_cast<std::int64_t>(input.reals[i]));
    } else {
      result.integers.push_back(*to == DataType::kBool ? input.integers[i] != 0 : input.integers[i]);
    }
  }
  return Narrowed(result);
}

ConstantPointer Unary(const Node& node, Small input) {
  const std::string& op = node.op_type;
  if (op == "Cast") return Cast(node, input);
  if (op == "Not" && input.type == DataType::kBool) {
    for (std::int64_t& element : input.integers) element = element == 0;
    return Narrowed(input);
  }
  if (op == "Neg") {
    for (std::int64_t& element : input.integers) element = Wrapped(0 - static_cast<std::uint64_t>(element));
    for (double& element : input.reals) element = -element;
    return Narrowed(input);
  }
  if (!input.real) return nullptr;
  for (double& element : input.reals) {
    if (op == "Sqrt") {
      element = std::sqrt(element);
    } else if (op == "Floor") {
      element = std::floor(element);
    } else if (op == "Ceil") {
      element = std::ceil(element);
    } else {
      return nullptr;
    }
  }
  return Narrowed(input);
}

ConstantPointer Where(const Node& node, const Small& condition, const Small& yes, const Small& no) {
  if (condition.type != DataType::kBool || yes.type != no.type) return nullptr;
  const Shape shape = BroadcastShape(node, BroadcastShape(node, condition.shape, yes.shape), no.shape);
  if (ElementsOf(shape) > kMostSmallElements) return nullptr;
  const std::vector<std::size_t> from_condition = BroadcastIndices(condition.shape, shape);
  const std::vector<std::size_t> from_yes = BroadcastIndices(yes.shape, shape);
  const std::vector<std::size_t> from_no = BroadcastIndices(no.shape, shape);
  Small result{yes.type, shape, yes.real, {}, {}};
  for (std::size_t i = 0; i < from_condition.size(); ++i) {
    const bool truth = condition.integers[from_condition[i]] != 0;
    if (yes.real) {
      result.reals.push_back(truth ? yes.reals[from_yes[i]] : no.reals[from_no[i]]);
    } else {
      result.integers.push_back(truth ? yes.integers[from_yes[i]] : no.integers[from_no[i]]);
    }
  }
  return Narrowed(result);
}

ConstantPointer Range(const Small& start, const Small& limit, const Small& step) {
  if (start.real || start.size() != 1 || limit.size() != 1 || step.size() != 1 || limit.real || step.real)
    return nullptr;
  const std::int64_t begin = start.integers[0];
  const std::int64_t end = limit.integers[0];
  const std::int64_t pace = step.integers[0];
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  if (pace == 0 || std::max({begin, end, pace}) > kFar || std::min({begin, end, pace}) < -kFar) return nullptr;
  const std::int64_t span = pace > 0 ? end - begin : begin - end;
  const std::int64_t stride = pace > 0 ? pace : -pace;
  const std::int64_t count = span <= 0 ? 0 : (span + stride - 1) / stride;
  if (count > kMostSmallElements) return nullptr;
  Small result{start.type, {count}, false, {}, {}};
  for (std::int64_t i = 0; i < count; ++i) result.integers.push_back(begin + i * pace);
  return Narrowed(result);
}

// Over all elements, to one: what exporters use to multiply up a shape.
ConstantPointer Reduce(const Node& node, const Small& input) {
  const bool product = node.op_type == "ReduceProd";
  if (input.real || input.shape.size() > 1 || input.integers.empty()) return nullptr;
  std::int64_t result = product ? 1 : 0;
  for (const std::int64_t element : input.integers) {
    result = *Combine(product ? "Mul" : "Add", result, element);
  }
  const bool keep = Model::IntOf(node, "keepdims", 1) != 0 && input.shape.size() == 1;
  return Narrowed(Small{input.type, keep ? Shape{1} : Shape{}, false, {result}, {}});
}

}  // namespace

std::shared_ptr<const ConstantData> EvaluateSmall(const Node& node, std::int64_t opset,
                                                  const std::vector<std::shared_ptr<const ConstantData>>& inputs) {
  std::vector<Small> small;
  for (const ConstantPointer& input : inputs) {
    if (input == nullptr || !Takes(input->type()) || ElementsOf(input->shape()) > kMostSmallElements) return nullptr;
    small.push_back(Widened(*input));
  }
  constexpr std::int64_t kFirstWithBroadcasting = 7;  // before it, broadcasting was an attribute
  if (opset < kFirstWithBroadcasting) return nullptr;
  const std::string& op = node.op_type;
  if (small.size() == 1 && (op == "ReduceProd" || op == "ReduceSum")) {
    return Model::IntOf(node, "noop_with_empty_axes", 0) != 0 ? nullptr : Reduce(node, small[0]);
  }
  if (small.size() == 1) return Unary(node, std::move(small[0]));
  if (small.size() == 2 && IsBinary(op) && !(op == "Mod" && Model::IntOf(node, "fmod", 0) != 0)) {
    return Binary(node, small[0], small[1]);
  }
  if (small.size() == 3 && op == "Where") return Where(node, small[0], small[1], small[2]);
  if (small.size() == 3 && op == "Range") return Range(small[0], small[1], small[2]);
  return nullptr;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_quantized.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "millrace/formats/onnx_move.h"

namespace millrace {
namespace {

// Positions of a window that is averaged, so that sums of bytes stay within 32 bits.
constexpr std::int64_t kMostAveraged = 1 << 22;

// Constants made anew may be this large; where one element fills a constant, a few bytes of file stand for all of it.
constexpr std::int64_t kMostElements = std::int64_t{1} << 27, kMostFilled = 65536;

bool MayBeMadeAnew(const ConstantData& constant) {
  return ElementsOf(constant.shape()) <= (constant.filled() ? kMostFilled : kMostElements);
}

bool IsByteType(DataType type) { return type == DataType::kInt8 || type == DataType::kUint8; }

std::int64_t LeastOf(DataType type) { return type == DataType::kInt8 ? -128 : 0; }

// Scales and zero points that are constant, as ids and as numbers.
struct Scaling {
  int scale_id = -1, zero_id = -1;  // zero_id -1: left out
  std::vector<float> scale;
  std::vector<std::int64_t> zero;  // one where it is left out
  std::int64_t axis = 1;

  bool whole() const { return scale.size() == 1 && zero.size() == 1; }
  float ScaleAt(std::size_t i) const { return scale[scale.size() == 1 ? 0 : i]; }
  std::int64_t ZeroAt(std::size_t i) const { return zero[zero.size() == 1 ? 0 : i]; }
};

class Joiner {
 public:
  explicit Joiner(OnnxDraft& draft) : draft_(draft), model_(draft.model) {}

  int Join() {
    StoreConstants();
    CountReaders();
    int joined = 0;
    for (std::size_t node = 0; node < model_.nodes.size(); ++node)
      joined += JoinAt(node) || AddAt(node) || AverageAt(node) || MoveAt(node) ? 1 : 0;
    for (std::size_t node = 0; node < model_.nodes.size(); ++node) joined += ProductAt(node) ? 1 : 0;
    WidenConstants();
    return joined;
  }

 private:
  // A Conv, MatMul or Gemm of stored numbers.
  struct Pattern {
    int maker = -1;
    int source = -1;   // node: the DequantizeLinear of its input
    int weights = -1;  // node: that of its weights
    Scaling source_by, weights_by;
    std::optional<Scaling> result_by;  // nothing: the result is not stored
  };

  Value& ValueOf(int id) { return model_.values[static_cast<std::size_t>(id)]; }
  const Node& NodeAt(int node) const { return model_.nodes[static_cast<std::size_t>(node)]; }
  const ConstantData* ConstantAt(const Node& node, std::size_t input) {
    if (input >= node.inputs.size() || node.inputs[input] < 0) return nullptr;
    return ValueOf(node.inputs[input]).constant.get();
  }
  int MakerOf(int value) { return value < 0 || ValueOf(value).constant != nullptr ? -1 : ValueOf(value).producer; }
  static bool IsOne(const Node& node, const char* op_type) { return node.domain.empty() && node.op_type == op_type; }

  void CountReaders() {
    readers_.assign(model_.values.size(), 0);
    for (const Node& node : model_.nodes) {
      for (const std::vector<int>* read : {&node.inputs, &node.captured}) {
        for (const int id : *read) {
          if (id >= 0) ++readers_[static_cast<std::size_t>(id)];
        }
      }
    }
    for (const int id : model_.outputs) ++readers_[static_cast<std::size_t>(id)];
  }

  std::optional<Scaling> ScalingOf(const Node& node) {
    const ConstantData* scale = ConstantAt(node, 1);
    if (scale == nullptr || scale->type() != DataType::kFloat32 || scale->shape().size() > 1) return std::nullopt;
    if (ElementsOf(scale->shape()) < 1 || Model::IntOf(node, "block_size", 0) != 0) return std::nullopt;
    Scaling by{node.inputs[1], -1, scale->AsFloats(), {0}, Model::IntOf(node, "axis", 1)};
    for (const float one : by.scale) {
      if (!std::isfinite(one) || one <= 0) return std::nullopt;
    }
    if (node.inputs.size() < 3 || node.inputs[2] < 0) return by;
    const ConstantData* zero = ConstantAt(node, 2);
    if (zero == nullptr || !(IsByteType(zero->type()) || zero->type() == DataType::kInt32) ||
        ElementsOf(zero->shape()) != static_cast<std::int64_t>(by.scale.size()))
      return std::nullopt;
    by.zero_id = node.inputs[2];
    by.zero = zero->AsInt64s();
    return by;
  }

  // Along which axis of the shape the numbers change, or nothing where they do not fit.
  static std::optional<std::size_t> AxisFor(const Scaling& by, const Shape& shape) {
    if (by.scale.size() == 1) return 0;
    const std::int64_t rank = static_cast<std::int64_t>(shape.size());
    const std::int64_t axis = by.axis < 0 ? by.axis + rank : by.axis;
    if (axis < 0 || axis >= rank || shape[static_cast<std::size_t>(axis)] != static_cast<std::int64_t>(by.scale.size()))
      return std::nullopt;
    return static_cast<std::size_t>(axis);
  }

  // Calls use(element, index along the axis) for every element of a constant.
  template <typename Use>
  static void ForElements(const Shape& shape, std::size_t axis, const Use& use) {
    std::size_t inner = 1;
    for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= static_cast<std::size_t>(shape[d]);
    const std::size_t along = shape.empty() ? 1 : static_cast<std::size_t>(shape[axis]);
    for (std::size_t i = 0; i < static_cast<std::size_t>(ElementsOf(shape)); ++i) use(i, i / inner % along);
  }

  void MakeConstant(int id, ConstantPointer constant) {
    Value& value = ValueOf(id);
    value.type = constant->type();
    value.shape = constant->shape();
    value.constant = std::move(constant);
    value.producer = -1;
    draft_.known[static_cast<std::size_t>(id)] = 1;
  }

  bool IsOutput(int id) const {
    return std::find(model_.outputs.begin(), model_.outputs.end(), id) != model_.outputs.end();
  }

  // Weights that training quantises on the way are stored once.
  void StoreConstants() {
    for (const Node& node : model_.nodes) {
      const ConstantData* from = IsOne(node, "QuantizeLinear") ? ConstantAt(node, 0) : nullptr;
      if (from == nullptr || from->type() != DataType::kFloat32 || !MayBeMadeAnew(*from)) continue;
      if (IsOutput(node.outputs[0])) continue;
      const auto by = ScalingOf(node);
      const DataType type = !by || by->zero_id < 0 ? DataType::kUint8 : ValueOf(by->zero_id).type;
      const auto axis = by ? AxisFor(*by, from->shape()) : std::nullopt;
      if (!axis || !IsByteType(type) || node.attributes.contains("output_dtype")) continue;
      const std::vector<float> numbers = from->AsFloats();
      std::vector<std::byte> stored(numbers.size());
      const auto low = static_cast<float>(LeastOf(type)), high = low + 255;
      ForElements(from->shape(), *axis, [&](std::size_t i, std::size_t at) {
        const float whole = std::nearbyint(numbers[i] / by->ScaleAt(at)) + static_cast<float>(by->ZeroAt(at));
        const float within = whole > low ? std::min(whole, high) : low;
        stored[i] = static_cast<std::byte>(static_cast<std::int32_t>(within));
      });
      MakeConstant(node.outputs[0], ConstantData::Dense(type, from->shape(), std::move(stored)));
    }
  }

  // Weights that stay with an operator on float32.
  void WidenConstants() {
    for (const Node& node : model_.nodes) {
      const ConstantData* from = IsOne(node, "DequantizeLinear") ? ConstantAt(node, 0) : nullptr;
      if (from == nullptr || !MayBeMadeAnew(*from) || IsOutput(node.outputs[0])) continue;
      if (!IsByteType(from->type()) && from->type() != DataType::kInt32) continue;
      const auto by = ScalingOf(node);
      const auto axis = by ? AxisFor(*by, from->shape()) : std::nullopt;
      if (!axis) continue;
      const std::vector<std::int64_t> stored = from->AsInt64s();
      std::vector<float> numbers(stored.size());
      ForElements(from->shape(), *axis, [&](std::size_t i, std::size_t at) {
        numbers[i] = static_cast<float>(stored[i] - by->ZeroAt(at)) * by->ScaleAt(at);
      });
      MakeConstant(node.outputs[0], ConstantData::Floats(from->shape(), numbers));
    }
  }

  // Whether results below zero and above the clip are cut off by what the 8 bits can hold anyway.
  bool RangeDoesIt(const Node& node, const Scaling& by, DataType type) {
    const auto reaches = [&](std::int64_t stored) {
      return static_cast<float>(stored - by.zero.front()) * by.scale.front();
    };
    const float low = reaches(LeastOf(type)), high = reaches(LeastOf(type) + 255);
    if (IsOne(node, "Relu")) return low >= 0;
    if (!IsOne(node, "Clip") || node.inputs.size() < 2) return false;
    const ConstantData* least = ConstantAt(node, 1);
    const ConstantData* most = ConstantAt(node, 2);
    if (least == nullptr || least->type() != DataType::kFloat32 || least->AsFloats().front() > low) return false;
    if (node.inputs.size() < 3 || node.inputs[2] < 0) return true;
    // A clip at the end of the range is the end of the range, but for how the scale was rounded.
    return most != nullptr && most->type() == DataType::kFloat32 &&
           most->AsFloats().front() >= high - by.scale.front() / 2;
  }

  // The operator whose result is stored, before what the stored range does; -1 where somebody else reads it, too.
  int MakerOfStored(const Node& store, const Scaling& result_by) {
    int value = store.inputs[0];
    int maker = MakerOf(value);
    while (maker >= 0 && readers_[static_cast<std::size_t>(value)] == 1 &&
           RangeDoesIt(NodeAt(maker), result_by, ValueOf(store.outputs[0]).type)) {
      value = NodeAt(maker).inputs[0];
      maker = MakerOf(value);
    }
    return maker >= 0 && readers_[static_cast<std::size_t>(value)] == 1 ? maker : -1;
  }

  // Of a node that stores 8 bits by one scale.
  std::optional<Scaling> StoredBy(const Node& store) {
    if (!IsOne(store, "QuantizeLinear") || !IsByteType(ValueOf(store.outputs[0]).type)) return std::nullopt;
    std::optional<Scaling> by = ScalingOf(store);
    return by && by->whole() ? std::move(by) : std::nullopt;
  }

  // Of the operator whose result the node stores.
  std::optional<Pattern> PatternAt(const Node& store) {
    auto result_by = StoredBy(store);
    if (!result_by) return std::nullopt;
    const int maker = MakerOfStored(store, *result_by);
    std::optional<Pattern> pattern = maker >= 0 ? PatternOf(maker) : std::nullopt;
    if (pattern) pattern->result_by = *std::move(result_by);
    return pattern;
  }

  std::optional<Pattern> PatternOf(int maker_id) {
    Pattern pattern;
    pattern.maker = maker_id;
    const Node& maker = NodeAt(pattern.maker);
    if (!IsOne(maker, "Conv") && !IsOne(maker, "MatMul") && !IsOne(maker, "Gemm")) return std::nullopt;
    if (maker.inputs.size() < 2) return std::nullopt;
    pattern.source = MakerOf(maker.inputs[0]);
    pattern.weights = MakerOf(maker.inputs[1]);
    if (pattern.source < 0 || pattern.weights < 0) return std::nullopt;
    const Node& source = NodeAt(pattern.source);
    const Node& weights = NodeAt(pattern.weights);
    if (!IsOne(source, "DequantizeLinear") || !IsOne(weights, "DequantizeLinear")) return std::nullopt;
    const ConstantData* stored = ConstantAt(weights, 0);
    if (stored == nullptr || !IsByteType(stored->type()) || !IsByteType(ValueOf(source.inputs[0]).type))
      return std::nullopt;
    auto source_by = ScalingOf(source), weights_by = ScalingOf(weights);
    if (!source_by || !source_by->whole() || !weights_by) return std::nullopt;
    if (!weights_by->whole()) {
      // One scale for each channel or column of the result.
      const bool transposed = IsOne(maker, "Gemm") && Model::IntOf(maker, "transB", 0) != 0;
      const std::size_t wanted = IsOne(maker, "Conv") || transposed ? 0 : 1;
      if (AxisFor(*weights_by, stored->shape()) != wanted) return std::nullopt;
    }
    if (!IsOne(maker, "Conv") && stored->shape().size() != 2) return std::nullopt;
    if (IsOne(maker, "Gemm") && (Model::IntOf(maker, "transA", 0) != 0 || Model::FloatOf(maker, "alpha", 1) != 1 ||
                                 Model::FloatOf(maker, "beta", 1) != 1))
      return std::nullopt;
    pattern.source_by = *std::move(source_by);
    pattern.weights_by = *std::move(weights_by);
    return pattern;
  }

  // The integers that a DequantizeLinear of one scale makes the value of.
  struct Stored {
    int id = -1;
    Scaling by;
  };
  std::optional<Stored> StoredOf(int value) {
    const int maker = MakerOf(value);
    if (maker < 0 || !IsOne(NodeAt(maker), "DequantizeLinear") || NodeAt(maker).inputs[0] < 0) return std::nullopt;
    std::optional<Scaling> by = ScalingOf(NodeAt(maker));
    if (!by || !by->whole()) return std::nullopt;
    return Stored{NodeAt(maker).inputs[0], *std::move(by)};
  }

  // A sum of two tensors of one shape, each from a DequantizeLinear of one scale.
  bool AddAt(std::size_t at) {
    const std::optional<Scaling> result_by = StoredBy(model_.nodes[at]);
    const int maker_id = result_by ? MakerOfStored(model_.nodes[at], *result_by) : -1;
    if (maker_id < 0 || !IsOne(NodeAt(maker_id), "Add") || NodeAt(maker_id).inputs.size() != 2) return false;
    const Node maker = NodeAt(maker_id);
    const Value& result = ValueOf(model_.nodes[at].outputs[0]);
    const DataType type = result.type;
    std::vector<Stored> addends;
    for (const int input : maker.inputs) {
      std::optional<Stored> addend = StoredOf(input);
      if (!addend || ValueOf(addend->id).type != type || ValueOf(addend->id).shape != result.shape) return false;
      addends.push_back(*std::move(addend));
    }
    std::vector<int> inputs;
    for (const Stored& addend : addends) {
      const char* const suffix = inputs.empty() ? "_zero_a" : "_zero_b";
      inputs.insert(inputs.end(), {addend.id, addend.by.scale_id, ZeroId(addend.by, type, maker.name + suffix)});
    }
    inputs.insert(inputs.end(), {result_by->scale_id, ZeroId(*result_by, type, maker.name + "_zero_y")});
    PutForeign(at, maker, "QLinearAdd", std::move(inputs));
    model_.nodes[at].attributes.clear();
    return true;
  }

  // The average of a window, or of each channel, of a tensor that comes from a DequantizeLinear of one scale.
  bool AverageAt(std::size_t at) {
    const std::optional<Scaling> result_by = StoredBy(model_.nodes[at]);
    const int maker_id = result_by ? MakerOfStored(model_.nodes[at], *result_by) : -1;
    if (maker_id < 0) return false;
    const Node maker = NodeAt(maker_id);
    const bool global = IsOne(maker, "GlobalAveragePool");
    if ((!global && !IsOne(maker, "AveragePool")) || maker.inputs.empty()) return false;
    const std::vector<std::int64_t> dilations = Model::IntsOf(maker, "dilations", {});
    if (std::any_of(dilations.begin(), dilations.end(), [](std::int64_t one) { return one != 1; })) return false;
    if (Model::IntOf(maker, "ceil_mode", 0) != 0) return false;
    const std::optional<Stored> source = StoredOf(maker.inputs[0]);
    const DataType type = ValueOf(model_.nodes[at].outputs[0]).type;
    if (!source || ValueOf(source->id).type != type || ValueOf(source->id).constant != nullptr) return false;
    const Shape& shape = ValueOf(source->id).shape;
    if (shape.size() < 3 || shape.size() > 5 || ElementsOf(shape) == 0) return false;
    if (ElementsOf(shape) / shape[1] > kMostAveraged) return false;
    PutForeign(at, maker, global ? "QLinearGlobalAveragePool" : "QLinearAveragePool",
               {source->id, source->by.scale_id, ZeroId(source->by, type, maker.name + "_zero_x"), result_by->scale_id,
                ZeroId(*result_by, type, maker.name + "_zero_y")});
    model_.nodes[at].attributes.erase("dilations");
    return true;
  }

  // In place of the node that stores the maker's result: an operator of ONNX Runtime's own.
  void PutForeign(std::size_t at, const Node& maker, const char* op_type, std::vector<int> inputs) {
    Node& joined = model_.nodes[at];
    joined.name = maker.name;
    joined.layer = maker.layer;
    joined.op_type = op_type;
    joined.domain = "com.microsoft";
    joined.attributes = maker.attributes;
    joined.inputs = std::move(inputs);
    model_.foreign_opsets.emplace("com.microsoft", 1);
  }

  // Ops that give what they are given, and the larger of two: on stored numbers they do the same.
  static bool OnlyPicks(const Node& node) {
    if (!node.domain.empty()) return false;
    if (node.op_type == "MaxPool") return node.outputs.size() == 1 || node.outputs[1] < 0;
    return node.op_type == "Concat" || node.op_type == "Flatten" || node.op_type == "Reshape" ||
           node.op_type == "Squeeze" || node.op_type == "Transpose" || node.op_type == "Unsqueeze";
  }

  // How many of its first inputs it picks from.
  static std::size_t TensorsOf(const Node& node) { return node.op_type == "Concat" ? node.inputs.size() : 1; }

  // Comes the value, but for ops that only pick and that nobody else reads, from DequantizeLinears of this scaling?
  bool IsStoredBy(int value, const Scaling& by, DataType type, int depth) {
    constexpr int kMostInARow = 16;
    const int maker = MakerOf(value);
    if (maker < 0 || depth > kMostInARow) return false;
    const Node& node = NodeAt(maker);
    if (const std::optional<Stored> stored = StoredOf(value))
      return ValueOf(stored->id).type == type && stored->by.scale == by.scale && stored->by.zero == by.zero;
    if (!OnlyPicks(node) || node.inputs.empty() || readers_[static_cast<std::size_t>(value)] != 1) return false;
    for (std::size_t i = 0; i < TensorsOf(node); ++i) {
      if (!IsStoredBy(node.inputs[i], by, type, depth + 1)) return false;
    }
    return true;
  }

  // Such a value as integers.
  int StoredForm(int value, DataType type) {
    const int maker = MakerOf(value);
    if (IsOne(NodeAt(maker), "DequantizeLinear")) return NodeAt(maker).inputs[0];
    Node& node = model_.nodes[static_cast<std::size_t>(maker)];
    for (std::size_t i = 0; i < TensorsOf(node); ++i) node.inputs[i] = StoredForm(node.inputs[i], type);
    ValueOf(value).type = type;
    return value;
  }

  // Such ops in a row between DequantizeLinears and a QuantizeLinear of one scale and zero point.
  bool MoveAt(std::size_t at) {
    Node& store = model_.nodes[at];
    const auto by = StoredBy(store);
    const int maker_id = by ? MakerOf(store.inputs[0]) : -1;
    if (maker_id < 0 || !OnlyPicks(NodeAt(maker_id))) return false;
    const DataType type = ValueOf(store.outputs[0]).type;
    if (!IsStoredBy(store.inputs[0], *by, type, 0)) return false;
    const Node maker = NodeAt(maker_id);
    std::vector<int> inputs = maker.inputs;
    for (std::size_t i = 0; i < TensorsOf(maker); ++i) inputs[i] = StoredForm(inputs[i], type);
    store.name = maker.name;
    store.layer = maker.layer;
    store.op_type = maker.op_type;
    store.attributes = maker.attributes;
    store.inputs = std::move(inputs);
    return true;
  }

  int AddConstant(const std::string& name, ConstantPointer constant) {
    Value value;
    value.name = name;
    value.type = constant->type();
    value.shape = constant->shape();
    value.constant = std::move(constant);
    model_.values.push_back(std::move(value));
    draft_.known.push_back(1);
    draft_.stated.emplace_back();
    readers_.push_back(1);
    return static_cast<int>(model_.values.size()) - 1;
  }

  // The zero point of a scaling as a value of this type.
  int ZeroId(const Scaling& by, DataType type, const std::string& name) {
    if (by.zero_id >= 0) return by.zero_id;
    const Shape shape = by.scale.size() == 1 ? Shape{} : Shape{static_cast<std::int64_t>(by.scale.size())};
    return AddConstant(name, ConstantData::Filled(type, shape, {std::byte{0}}));
  }

  // The addend of a Conv or Gemm in the units of the sums: the value's id, -1 where there is none, nothing where it
  // cannot be said so.
  std::optional<int> Addend(const Pattern& pattern, std::int64_t channels) {
    const Node& maker = NodeAt(pattern.maker);
    if (maker.inputs.size() < 3 || maker.inputs[2] < 0) return -1;
    const ConstantData* stored = nullptr;
    std::optional<Scaling> by;
    if (const int made = MakerOf(maker.inputs[2]); made >= 0) {
      if (!IsOne(NodeAt(made), "DequantizeLinear")) return std::nullopt;
      stored = ConstantAt(NodeAt(made), 0);
      by = ScalingOf(NodeAt(made));
      if (!by) return std::nullopt;
    } else {
      stored = ValueOf(maker.inputs[2]).constant.get();
    }
    if (stored == nullptr || ElementsOf(stored->shape()) != channels ||
        (by && by->scale.size() != 1 && static_cast<std::int64_t>(by->scale.size()) != channels))
      return std::nullopt;
    const std::vector<std::int64_t> whole = by ? stored->AsInt64s() : std::vector<std::int64_t>();
    const std::vector<float> numbers = by ? std::vector<float>() : stored->AsFloats();
    std::vector<std::byte> sums(static_cast<std::size_t>(channels) * sizeof(std::int32_t));
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
      const double unit = static_cast<double>(pattern.source_by.scale.front()) * pattern.weights_by.ScaleAt(c);
      const double number = by ? static_cast<double>(whole[c] - by->ZeroAt(c)) * by->ScaleAt(c) : numbers[c];
      const double in_units = std::nearbyint(number / unit);
      if (!(std::abs(in_units) <= std::numeric_limits<std::int32_t>::max())) return std::nullopt;
      const auto sum = static_cast<std::int32_t>(in_units);
      std::memcpy(sums.data() + c * sizeof sum, &sum, sizeof sum);
    }
    const std::string name = ValueOf(maker.inputs[2]).name + "_in_sums";
    return AddConstant(name, ConstantData::Dense(DataType::kInt32, {channels}, std::move(sums)));
  }

  bool JoinAt(std::size_t at) {
    const std::optional<Pattern> found = PatternAt(model_.nodes[at]);
    if (!found || !Put(*found, at)) return false;
    joined_.insert(found->maker);
    return true;
  }

  // A Gemm whose result nobody stores makes numbers of its sums itself.
  bool ProductAt(std::size_t at) {
    if (!IsOne(model_.nodes[at], "Gemm") || joined_.contains(static_cast<int>(at))) return false;
    const std::optional<Pattern> found = PatternOf(static_cast<int>(at));
    return found && Put(*found, at);
  }

  // The operator on integers in place of the node `at`, which makes the same value.
  bool Put(const Pattern& found, std::size_t at) {
    const Node maker = NodeAt(found.maker);
    const int source = NodeAt(found.source).inputs[0];
    const int weights = NodeAt(found.weights).inputs[0];
    const Shape& shape = ValueOf(weights).shape;
    const bool convolves = maker.op_type == "Conv", multiplies = maker.op_type == "MatMul";
    const bool transposed = Model::IntOf(maker, "transB", 0) != 0;
    const std::optional<int> addend = Addend(found, convolves || transposed ? shape[0] : shape[1]);
    if (!addend) return false;
    const DataType source_type = ValueOf(source).type, weights_type = ValueOf(weights).type;
    const std::string& name = maker.name;
    std::vector<int> inputs = {
        source,  found.source_by.scale_id,  ZeroId(found.source_by, source_type, name + "_zero_x"),
        weights, found.weights_by.scale_id, ZeroId(found.weights_by, weights_type, name + "_zero_w")};
    if (!convolves && !multiplies) inputs.push_back(*addend);
    if (found.result_by) {
      const DataType type = ValueOf(model_.nodes[at].outputs[0]).type;
      inputs.insert(inputs.end(), {found.result_by->scale_id, ZeroId(*found.result_by, type, name + "_zero_y")});
    }
    if (convolves && *addend >= 0) inputs.push_back(*addend);
    Node& joined = model_.nodes[at];
    joined.name = maker.name;
    joined.layer = maker.layer;
    joined.op_type = convolves ? "QLinearConv" : multiplies ? "QLinearMatMul" : "QGemm";
    joined.attributes = convolves ? maker.attributes : std::map<std::string, Attribute>();
    joined.inputs = std::move(inputs);
    if (!convolves && !multiplies) {
      joined.domain = "com.microsoft";
      joined.attributes["transB"] = std::int64_t{transposed};
      model_.foreign_opsets.emplace("com.microsoft", 1);
    }
    return true;
  }

  OnnxDraft& draft_;
  Model& model_;
  std::vector<int> readers_;  // by value: nodes and outputs of the model
  std::set<int> joined_;      // nodes: operators that the storing of their results has become
};

}  // namespace

int JoinQuantized(OnnxDraft& draft) { return Joiner(draft).Join(); }

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/quantized_form.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millrace {
namespace {

constexpr float kMostStored = 63;  // of weights
constexpr float kMostNumber = 8;   // of inputs and results

using ConstantPointer = std::shared_ptr<const ConstantData>;

class Quantizer {
 public:
  explicit Quantizer(const Model& model) : from_(model) {
    to_ = model;
    to_.nodes.clear();
    instead_.assign(model.values.size(), -1);
    wanted_.assign(model.values.size(), false);
    not_negative_.assign(model.values.size(), false);
    most_.assign(model.values.size(), kMostNumber);
    readers_.assign(model.values.size(), 0);
  }

  Model Quantized() {
    FindWanted();
    for (const int input : from_.inputs) {
      if (IsWanted(input)) AddPair(input, false);
    }
    for (const Node& node : from_.nodes) {
      Node copy = node;
      for (int& input : copy.inputs) {
        if (input >= 0 && instead_[At(input)] >= 0) input = instead_[At(input)];
      }
      if (IsProduct(node)) copy.inputs[1] = WeightsOf(node);
      AddNode(std::move(copy));
      for (const int output : node.outputs) {
        if (output < 0) continue;
        not_negative_[At(output)] = IsNotNegative(node);
        most_[At(output)] = MostOf(node);
        if (IsWanted(output)) AddPair(output, not_negative_[At(output)]);
      }
    }
    DropUnread();
    return std::move(to_);
  }

 private:
  static std::size_t At(int id) { return static_cast<std::size_t>(id); }

  bool IsProduct(const Node& node) const {
    if (!node.domain.empty() || (node.op_type != "Conv" && node.op_type != "Gemm" && node.op_type != "MatMul"))
      return false;
    const Value& weights = from_.values[At(node.inputs[1])];
    if (weights.constant == nullptr || weights.type != DataType::kFloat32 || ElementsOf(weights.shape) == 0)
      return false;
    return node.op_type == "Conv" || weights.shape.size() == 2;
  }

  // Where a Clip from 0 on ends.
  std::optional<float> EndOfClip(const Node& node) const {
    if (!node.domain.empty() || node.op_type != "Clip" || node.inputs.size() != 3) return std::nullopt;
    std::array<float, 2> ends{};
    for (const std::size_t end : {0, 1}) {
      const int input = node.inputs[end + 1];
      const ConstantData* const constant = input < 0 ? nullptr : from_.values[At(input)].constant.get();
      if (constant == nullptr || constant->type() != DataType::kFloat32) return std::nullopt;
      ends[end] = constant->AsFloats().front();
    }
    return ends[0] == 0 && ends[1] > 0 ? std::optional(ends[1]) : std::nullopt;
  }

  float MostOf(const Node& node) const { return EndOfClip(node).value_or(kMostNumber); }

  // Behind a Relu or such a Clip, and behind ops that only pick among such numbers.
  bool IsNotNegative(const Node& node) const {
    if (node.op_type == "Relu" || EndOfClip(node)) return true;
    if (node.op_type != "MaxPool" && node.op_type != "Concat" && node.op_type != "Flatten" && node.op_type != "Reshape")
      return false;
    const std::size_t tensors = node.op_type == "Concat" ? node.inputs.size() : 1;
    return std::all_of(node.inputs.begin(), node.inputs.begin() + static_cast<std::ptrdiff_t>(tensors),
                       [this](int input) { return not_negative_[At(input)]; });
  }

  // The weights as they were go.
  void DropUnread() {
    std::vector<int> number(to_.values.size(), -1);
    std::vector<Value> kept;
    const auto keep = [&](int& id) {
      if (id < 0) return;
      if (number[At(id)] < 0) {
        number[At(id)] = static_cast<int>(kept.size());
        kept.push_back(std::move(to_.values[At(id)]));
      }
      id = number[At(id)];
    };
    for (int& id : to_.inputs) keep(id);
    for (Node& node : to_.nodes) {
      for (std::vector<int>* ids : {&node.inputs, &node.captured, &node.outputs}) {
        for (int& id : *ids) keep(id);
      }
    }
    for (int& id : to_.outputs) keep(id);
    to_.values = std::move(kept);
  }

  // Everything that products read or make; of a product with a Relu or Clip behind it, what that makes.
  void FindWanted() {
    for (const Node& node : from_.nodes) {
      for (const int input : node.inputs) {
        if (input >= 0) ++readers_[At(input)];
      }
    }
    for (const int output : from_.outputs) ++readers_[At(output)];
    for (const Node& node : from_.nodes) {
      if (IsProduct(node)) wanted_[At(node.inputs[0])] = wanted_[At(node.outputs[0])] = true;
    }
    for (const Node& node : from_.nodes) {
      if ((node.op_type != "Relu" && !EndOfClip(node)) || !wanted_[At(node.inputs[0])] ||
          readers_[At(node.inputs[0])] != 1)
        continue;
      wanted_[At(node.inputs[0])] = false;
      wanted_[At(node.outputs[0])] = true;
    }
  }

  bool IsWanted(int id) const {
    const Value& value = from_.values[At(id)];
    const bool leaves = std::find(from_.outputs.begin(), from_.outputs.end(), id) != from_.outputs.end();
    return wanted_[At(id)] && value.constant == nullptr && value.type == DataType::kFloat32 && !leaves;
  }

  int AddValue(const std::string& name, DataType type, const Shape& shape, ConstantPointer constant = nullptr) {
    Value value;
    value.name = name;
    value.type = type;
    value.shape = shape;
    value.constant = std::move(constant);
    to_.values.push_back(std::move(value));
    return static_cast<int>(to_.values.size()) - 1;
  }

  int AddConstant(const std::string& name, const ConstantPointer& constant) {
    return AddValue(name, constant->type(), constant->shape(), constant);
  }

  void AddNode(Node node) {
    for (const int output : node.outputs) {
      if (output >= 0) to_.values[At(output)].producer = static_cast<int>(to_.nodes.size());
    }
    to_.nodes.push_back(std::move(node));
  }

  void AddNode(const std::string& op_type, const std::vector<int>& inputs, int output, std::int64_t axis) {
    Node node;
    node.op_type = op_type;
    node.name = to_.values[At(output)].name;
    node.inputs = inputs;
    node.outputs = {output};
    if (axis >= 0) node.attributes["axis"] = axis;
    AddNode(std::move(node));
  }

  void AddPair(int id, bool not_negative) {
    const std::string name = from_.values[At(id)].name;
    const Shape shape = from_.values[At(id)].shape;
    const float most = most_[At(id)];
    const float scale = not_negative ? most / 255 : 2 * most / 255;
    const int scale_id = AddConstant(name + "_scale", ConstantData::Floats({}, {scale}));
    const std::byte zero{static_cast<unsigned char>(not_negative ? 0 : 128)};
    const int zero_id = AddConstant(name + "_zero_point", ConstantData::Dense(DataType::kUint8, {}, {zero}));
    const int stored = AddValue(name + "_quantized", DataType::kUint8, shape);
    const int back = AddValue(name + "_dequantized", DataType::kFloat32, shape);
    AddNode("QuantizeLinear", {id, scale_id, zero_id}, stored, -1);
    AddNode("DequantizeLinear", {stored, scale_id, zero_id}, back, -1);
    instead_[At(id)] = back;
  }

  // The weights of a product as integers, and what makes numbers of them again; once for all that read them.
  int WeightsOf(const Node& node) {
    const bool rows = node.op_type == "Conv" || Model::IntOf(node, "transB", 0) != 0;
    const std::int64_t axis = rows ? 0 : 1;
    const auto [found, fresh] = weights_.try_emplace({node.inputs[1], axis}, -1);
    if (fresh) found->second = AddWeights(from_.values[At(node.inputs[1])], axis);
    return found->second;
  }

  int AddWeights(const Value& weights, std::int64_t axis) {
    const bool rows = axis == 0;
    const std::string name = weights.name + (rows ? "_by_row" : "_by_column");
    const Shape shape = weights.shape;
    const auto channels = static_cast<std::size_t>(std::max<std::int64_t>(1, shape[static_cast<std::size_t>(axis)]));
    std::vector<float> scales(channels, 1.0f);
    ConstantPointer stored;
    if (weights.constant->filled()) {
      float one = 0;
      std::memcpy(&one, weights.constant->stored().data(), sizeof one);
      if (one != 0) std::fill(scales.begin(), scales.end(), std::abs(one) / kMostStored);
      const auto whole = static_cast<std::int8_t>(std::nearbyint(one / scales.front()));
      stored = ConstantData::Filled(DataType::kInt8, shape, {static_cast<std::byte>(whole)});
    } else {
      const std::vector<float> numbers = weights.constant->AsFloats();
      const std::size_t inner = rows ? std::max<std::size_t>(1, numbers.size() / channels) : 1;
      std::vector<float> most(channels, 0.0f);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        float& largest = most[i / inner % channels];
        largest = std::max(largest, std::abs(numbers[i]));
      }
      for (std::size_t c = 0; c < channels; ++c) {
        if (most[c] > 0) scales[c] = most[c] / kMostStored;
      }
      std::vector<std::byte> bytes(numbers.size());
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const float whole = std::nearbyint(numbers[i] / scales[i / inner % channels]);
        bytes[i] = static_cast<std::byte>(static_cast<std::int8_t>(whole));
      }
      stored = ConstantData::Dense(DataType::kInt8, shape, std::move(bytes));
    }
    const Shape per_channel = {static_cast<std::int64_t>(channels)};
    const int stored_id = AddConstant(name + "_quantized", stored);
    const int scale_id = AddConstant(name + "_scale", ConstantData::Floats(per_channel, scales));
    const int zero_id =
        AddConstant(name + "_zero_point", ConstantData::Filled(DataType::kInt8, per_channel, {std::byte{0}}));
    const int back = AddValue(name + "_dequantized", DataType::kFloat32, shape);
    AddNode("DequantizeLinear", {stored_id, scale_id, zero_id}, back, axis);
    return back;
  }

  const Model& from_;
  Model to_;
  std::map<std::pair<int, std::int64_t>, int> weights_;  // by value of from_ and axis: what is read instead
  std::vector<int> instead_;                             // by value of from_: the value of to_ that its readers read
  std::vector<bool> wanted_;                             // by value of from_: to be stored in 8 bits
  std::vector<bool> not_negative_;                       // by value of from_
  std::vector<float> most_;   // by value of the model: the largest number that is told from others
  std::vector<int> readers_;  // by value of from_
};

}  // namespace

Model QuantizedForm(const Model& model) { return Quantizer(model).Quantized(); }

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_halves.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "millrace/formats/onnx_read.h"
#include "millrace/formats/onnx_tensor.h"

namespace millrace {
namespace {

bool IsHalf(std::int64_t onnx_type) {
  return onnx_type == onnx::TensorProto::FLOAT16 || onnx_type == onnx::TensorProto::BFLOAT16;
}

// One sign, five exponent and ten fraction bits, as IEEE 754 has it.
float FromFloat16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 0x1f) {
    return fraction == 0 ? sign * std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
}

// The upper half of a float32.
float FromBfloat16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

class Widening {
 public:
  bool widened() const { return widened_; }

  void Graph(onnx::GraphProto& graph, bool inside) {
    if (inside) {
      for (onnx::TensorProto& tensor : *graph.mutable_initializer()) Tensor(tensor);
    } else {
      for (const onnx::TensorProto& tensor : graph.initializer()) widened_ = widened_ || IsHalf(tensor.data_type());
    }
    for (auto* infos : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()}) {
      for (onnx::ValueInfoProto& info : *infos) {
        if (!info.type().has_tensor_type() || !IsHalf(info.type().tensor_type().elem_type())) continue;
        info.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
        widened_ = true;
      }
    }
    for (onnx::NodeProto& node : *graph.mutable_node()) Node(node, inside);
  }

  void Node(onnx::NodeProto& node, bool inside) {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) Graph(*attribute.mutable_g(), true);
      if (attribute.has_t() && inside) Tensor(*attribute.mutable_t());
      if (attribute.has_t() && !inside) widened_ = widened_ || IsHalf(attribute.t().data_type());
      if (!NamesAType(attribute.name()) || !IsHalf(attribute.i())) continue;
      attribute.set_i(onnx::TensorProto::FLOAT);
      widened_ = true;
    }
  }

 private:
  static bool NamesAType(std::string_view attribute) {
    return attribute == "to" || attribute == "dtype" || attribute == "output_dtype" || attribute == "stash_type" ||
           attribute == "output_datatype";
  }

  void Tensor(onnx::TensorProto& tensor) {
    if (!IsHalf(tensor.data_type()) || IsExternal(tensor)) return;
    const std::string name = tensor.name();
    const auto wide = Widened(ConstantOf(tensor, "a tensor in a body"));
    tensor.Clear();
    FillTensor(*wide, name, &tensor);
    widened_ = true;
  }

  bool widened_ = false;
};

}  // namespace

bool WidenHalves(onnx::ModelProto& model) {
  Widening widening;
  widening.Graph(*model.mutable_graph(), false);
  for (onnx::FunctionProto& function : *model.mutable_functions()) {
    for (onnx::NodeProto& node : *function.mutable_node()) widening.Node(node, true);
  }
  return widening.widened();
}

std::shared_ptr<const ConstantData> Widened(std::shared_ptr<const ConstantData> tensor) {
  const bool ieee = tensor->type() == DataType::kFloat16;
  if (!ieee && tensor->type() != DataType::kBfloat16) return tensor;
  std::vector<std::byte> wide(tensor->stored().size() * 2);
  for (std::size_t i = 0; i < tensor->stored().size() / 2; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, tensor->stored().data() + 2 * i, sizeof bits);
    const float value = ieee ? FromFloat16(bits) : FromBfloat16(bits);
    std::memcpy(wide.data() + 4 * i, &value, sizeof value);
  }
  return tensor->filled() ? ConstantData::Filled(DataType::kFloat32, tensor->shape(), std::move(wide))
                          : ConstantData::Dense(DataType::kFloat32, tensor->shape(), std::move(wide));
}

}  // namespace millrace

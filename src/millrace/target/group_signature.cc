// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "millrace/runtime/group_values.h"
#include "millrace/target/profile_groups.h"

namespace millrace {
namespace {

// Integer constants up to this size decide what a node does (a Reshape's shape, a Slice's ends), not only how much.
constexpr std::int64_t kSmallConstant = 16;

std::string TypeAndShape(DataType type, const Shape& shape) {
  return fmt::format("{}[{}]", NameOf(type), fmt::join(shape, ","));
}

std::string ConstantText(const ConstantData& constant) {
  std::string text = TypeAndShape(constant.type(), constant.shape());
  const bool floating = constant.type() == DataType::kFloat32 || constant.type() == DataType::kFloat64 ||
                        constant.type() == DataType::kFloat16 || constant.type() == DataType::kBfloat16 ||
                        constant.type() == DataType::kString;
  if (!floating && ElementsOf(constant.shape()) <= kSmallConstant) {
    text += fmt::format("={}", fmt::join(constant.AsInt64s(), ","));
  }
  return text;
}

struct AttributeText {
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(float value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const std::vector<std::int64_t>& values) const {
    return fmt::format("{}", fmt::join(values, ","));
  }
  std::string operator()(const std::vector<float>& values) const { return fmt::format("{}", fmt::join(values, ",")); }
  std::string operator()(const std::vector<std::string>& values) const {
    return fmt::format("{}", fmt::join(values, ","));
  }
  std::string operator()(const std::shared_ptr<const ConstantData>& value) const {
    return value == nullptr ? "" : ConstantText(*value);
  }
  std::string operator()(const Subgraph& value) const {
    return fmt::format("body of {} bytes", value.serialized.size());
  }
};

}  // namespace

std::string GroupSignature(const Model& model, std::span<const int> nodes) {
  std::map<int, std::string> local;  // names of values within the signature
  const std::vector<int> inputs = GroupInputs(model, nodes);
  for (std::size_t i = 0; i < inputs.size(); ++i) local[inputs[i]] = fmt::format("in{}", i);
  const std::vector<int> outputs = GroupOutputs(model, nodes);
  std::string text = fmt::format("opset {}", model.opset);
  for (std::size_t position = 0; position < nodes.size(); ++position) {
    const Node& node = model.nodes[static_cast<std::size_t>(nodes[position])];
    text += fmt::format("; {}{}{}", node.domain, node.domain.empty() ? "" : ".", node.op_type);
    for (const auto& [name, attribute] : node.attributes) {
      text += fmt::format(" {}={}", name, std::visit(AttributeText(), attribute));
    }
    text += " (";
    for (const int input : node.inputs) {
      text += ' ';
      if (input < 0) {
        text += '-';
        continue;
      }
      const Value& value = model.values[static_cast<std::size_t>(input)];
      if (value.constant != nullptr) {
        text += ConstantText(*value.constant);
      } else {
        text += fmt::format("{}:{}", local[input], TypeAndShape(value.type, value.shape));
      }
    }
    text += " ) ->";
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const int output = node.outputs[i];
      text += ' ';
      if (output < 0) {
        text += '-';
        continue;
      }
      local[output] = fmt::format("n{}.{}", position, i);
      const Value& value = model.values[static_cast<std::size_t>(output)];
      text += TypeAndShape(value.type, value.shape);
      if (std::find(outputs.begin(), outputs.end(), output) != outputs.end()) text += '!';
    }
  }
  return text;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/model_builder.h"

#include <fmt/core.h>

#include <cmath>
#include <cstring>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/random/random.h"

namespace millrace {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 30;
constexpr std::uint64_t kMostDrawnBytes = 2'000'000'000;
constexpr std::size_t kMostNodes = 500'000;
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;  // of one value

// Throws InvalidInput for a dimension below 1 or a product that is out of all proportion.
void CheckShape(const std::string& name, const Shape& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t dimension : shape) {
    if (dimension < 1) {
      throw InvalidInput(
          fmt::format("'{}' would have a dimension of {}: make the image or the sequence larger", name, dimension));
    }
    if (dimension > kMostElements / elements) {
      throw InvalidInput(
          fmt::format("'{}' would have more than {} elements: make the model smaller", name, kMostElements));
    }
    elements *= dimension;
  }
}

}  // namespace

ModelBuilder::ModelBuilder(std::string name, std::int64_t opset, WeightSource weights) : weights_(weights) {
  model_.name = std::move(name);
  model_.opset = opset;
}

void ModelBuilder::BeginStage(int layer, std::string name) {
  layer_ = layer;
  stage_ = std::move(name);
}

std::string ModelBuilder::NextName(const std::string& what) {
  const std::string name = stage_.empty() ? what : stage_ + "/" + what;
  const int before = names_[name]++;
  return before == 0 ? name : fmt::format("{}_{}", name, before);
}

int ModelBuilder::AddValue(Value value) {
  CheckShape(value.name, value.shape);
  model_.values.push_back(std::move(value));
  return static_cast<int>(model_.values.size()) - 1;
}

int ModelBuilder::AddConstant(const std::string& role, std::shared_ptr<const ConstantData> data) {
  Value value;
  value.name = NextName(role);
  value.type = data->type();
  value.shape = data->shape();
  value.constant = std::move(data);
  return AddValue(std::move(value));
}

int ModelBuilder::Input(const std::string& name, DataType type, Shape shape) {
  Value value;
  value.name = name;
  value.type = type;
  value.shape = std::move(shape);
  model_.inputs.push_back(AddValue(std::move(value)));
  return model_.inputs.back();
}

void ModelBuilder::Output(int value, const std::string& name) {
  model_.values[static_cast<std::size_t>(value)].name = name;
  model_.outputs.push_back(value);
}

int ModelBuilder::Weight(const std::string& role, Shape shape, std::int64_t fan_in, double gain) {
  const double bound = gain * std::sqrt(3.0 / static_cast<double>(fan_in));
  return UniformWeight(role, std::move(shape), -bound, bound);
}

int ModelBuilder::UniformWeight(const std::string& role, Shape shape, double low, double high) {
  StopIfInterrupted();
  CheckShape(role, shape);
  const auto elements = static_cast<std::uint64_t>(ElementsOf(shape));
  weight_bytes_ += elements * sizeof(float);
  if (weight_bytes_ > (weights_.draw ? kMostDrawnBytes : kMostBytes)) {
    throw InvalidInput(fmt::format("{}: the weights pass {} bytes, more than {}: make the model smaller", model_.name,
                                   weights_.draw ? kMostDrawnBytes : kMostBytes,
                                   weights_.draw ? "an ONNX file holds" : "it may have"));
  }
  Random random = Random(weights_.seed).Fork(drawn_++);
  const auto start = static_cast<float>(low);
  const float step = static_cast<float>(high - low) * 0x1.0p-24F;
  const auto number = [&](std::uint64_t bits) { return start + step * static_cast<float>(bits & 0xffffff); };
  if (!weights_.draw) {
    std::vector<std::byte> one(sizeof(float));
    const float value = number(random.Next());
    std::memcpy(one.data(), &value, sizeof(float));
    return AddConstant(role, ConstantData::Filled(DataType::kFloat32, std::move(shape), std::move(one)));
  }
  // Two numbers of 24 bits out of every 64 drawn: the weights of a large model are most of the work of making it.
  std::vector<std::byte> all(elements * sizeof(float));
  for (std::uint64_t i = 0; i < elements; i += 2) {
    const std::uint64_t bits = random.Next();
    const float pair[2] = {number(bits >> 40), number(bits >> 8)};
    std::memcpy(all.data() + i * sizeof(float), pair, std::min<std::uint64_t>(2, elements - i) * sizeof(float));
  }
  return AddConstant(role, ConstantData::Dense(DataType::kFloat32, std::move(shape), std::move(all)));
}

int ModelBuilder::Scalar(const std::string& role, float value) {
  return AddConstant(role, ConstantData::Floats({}, {value}));
}

int ModelBuilder::Integers(const std::string& role, const std::vector<std::int64_t>& values) {
  return AddConstant(role, ConstantData::Int64s({static_cast<std::int64_t>(values.size())}, values));
}

void ModelBuilder::BeginNode(std::string op_type, std::vector<int> inputs, Attributes attributes) {
  if (model_.nodes.size() == kMostNodes) {
    throw InvalidInput(
        fmt::format("{}: it would have more than {} ops: make the model smaller", model_.name, kMostNodes));
  }
  Node node;
  node.name = NextName(op_type);
  node.op_type = std::move(op_type);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  node.layer = layer_;
  model_.nodes.push_back(std::move(node));
}

int ModelBuilder::AddOutput(Shape shape) {
  Node& node = model_.nodes.back();
  Value value;
  value.name = fmt::format("{}:{}", node.name, node.outputs.size());
  value.shape = std::move(shape);
  value.producer = static_cast<int>(model_.nodes.size()) - 1;
  node.outputs.push_back(AddValue(std::move(value)));
  return node.outputs.back();
}

int ModelBuilder::AddNode(std::string op_type, std::vector<int> inputs, Shape shape, Attributes attributes) {
  BeginNode(std::move(op_type), std::move(inputs), std::move(attributes));
  return AddOutput(std::move(shape));
}

Model ModelBuilder::Finish() { return std::move(model_); }

}  // namespace millrace

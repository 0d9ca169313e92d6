// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

// An ONNX model as plain data, free of protobuf: what the importer yields, the builders of workloads/ make, the
// exporter writes and the runtime executes. Node i of a model is op i of the graph GraphOfModel makes of it.
//
// Models from the importer are clean: nodes in topological order, dead ones removed, weight-making nodes folded into
// constants, every shape known. Sources: the ONNX IR specification, opsets 1..22.
namespace millrace {

enum class DataType {
  kFloat32,
  kFloat64,
  kFloat16,
  kBfloat16,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kBool,
  kString
};

std::size_t BytesOf(DataType type);  // of one element; 0 for strings
const char* NameOf(DataType type);   // "float32", ...

using Shape = std::vector<std::int64_t>;  // {} is a scalar

std::int64_t ElementsOf(const Shape& shape);  // product of the dimensions, 1 for a scalar

// A constant's elements: all of them, row-major little-endian, or one element that fills the whole shape (so a
// ConstantOfShape of half a gigabyte costs nothing until somebody reads it). Shared, never changed once made.
class ConstantData {
 public:
  static std::shared_ptr<const ConstantData> Dense(DataType type, Shape shape, std::vector<std::byte> elements);
  static std::shared_ptr<const ConstantData> Filled(DataType type, Shape shape, std::vector<std::byte> one_element);
  // Shortcuts for the types builders use.
  static std::shared_ptr<const ConstantData> Floats(Shape shape, const std::vector<float>& values);
  static std::shared_ptr<const ConstantData> Int64s(Shape shape, const std::vector<std::int64_t>& values);

  DataType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  std::size_t bytes() const { return static_cast<std::size_t>(ElementsOf(shape_)) * BytesOf(type_); }
  bool filled() const { return filled_; }
  // The stored bytes: every element, or the one that fills.
  const std::vector<std::byte>& stored() const { return stored_; }
  // Writes all elements to `destination`, which holds bytes().
  void CopyTo(std::byte* destination) const;
  std::vector<float> AsFloats() const;         // of a kFloat32, kFloat64 or integer constant
  std::vector<std::int64_t> AsInt64s() const;  // of an integer or bool constant

 private:
  DataType type_ = DataType::kFloat32;
  Shape shape_;
  bool filled_ = false;
  std::vector<std::byte> stored_;
};

// The body of a control-flow attribute, kept as the serialised GraphProto it came as: nothing here executes it.
struct Subgraph {
  std::string serialized;
};

using Attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                               std::vector<std::string>, std::shared_ptr<const ConstantData>, Subgraph>;

struct Value {
  std::string name;
  DataType type = DataType::kFloat32;
  Shape shape;
  std::shared_ptr<const ConstantData> constant;  // set: an initializer (or folded node), not a tensor of the graph
  int producer = -1;                             // node that makes it; -1: an input of the model, or a constant
};

struct Node {
  std::string name;
  std::string op_type;
  std::string domain;         // "" is the ONNX domain itself
  std::vector<int> inputs;    // value ids; -1: an optional input left out
  std::vector<int> outputs;   // value ids; -1: an optional output left out
  std::vector<int> captured;  // values that a control-flow body reads from outside; empty otherwise
  std::map<std::string, Attribute> attributes;
  std::optional<int> layer;  // stage number a builder knows; written to the node's doc string
};

struct Model {
  std::string name;
  std::int64_t opset = 13;  // of the ONNX domain
  std::vector<Node> nodes;
  std::vector<Value> values;
  std::vector<int> inputs;   // value ids, in order, constants left out
  std::vector<int> outputs;  // value ids, in order; may name an input or a constant
  std::map<std::string, std::string> metadata;
  std::map<std::string, std::int64_t> foreign_opsets;  // version of each other domain that nodes come from
  std::vector<std::string> functions;  // model-local functions, as the serialised FunctionProto they came as

  // Helpers for readers of attributes: the attribute, or `otherwise` where the node lacks it. Throw InvalidInput where
  // it has another type.
  static std::int64_t IntOf(const Node& node, const std::string& attribute, std::int64_t otherwise);
  static float FloatOf(const Node& node, const std::string& attribute, float otherwise);
  static std::string StringOf(const Node& node, const std::string& attribute, const std::string& otherwise);
  static std::vector<std::int64_t> IntsOf(const Node& node, const std::string& attribute,
                                          const std::vector<std::int64_t>& otherwise);
  static std::vector<float> FloatsOf(const Node& node, const std::string& attribute,
                                     const std::vector<float>& otherwise);
};

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string_view>

#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_tensor.h"

namespace millrace {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TypeProto;

constexpr std::int64_t kMostExtent = std::numeric_limits<std::int32_t>::max();

// The bounds within which each attribute's integers must lie, whatever the op: those that shape arithmetic divides by,
// multiplies with or indexes by.
struct Bounds {
  std::string_view attribute;
  std::int64_t least;
  std::int64_t most;
};

constexpr std::int64_t kMostRank = static_cast<std::int64_t>(kMostDimensions);
constexpr std::array kBounds = {
    Bounds{"strides", 1, kMostExtent},         Bounds{"kernel_shape", 1, kMostExtent},
    Bounds{"dilations", 1, kMostExtent},       Bounds{"group", 1, kMostExtent},
    Bounds{"pads", -kMostExtent, kMostExtent}, Bounds{"paddings", -kMostExtent, kMostExtent},
    Bounds{"output_padding", 0, kMostExtent},  Bounds{"output_shape", 1, kMostExtent},
    Bounds{"pooled_shape", 1, kMostExtent},    Bounds{"blocksize", 1, kMostExtent},
    Bounds{"hidden_size", 1, kMostExtent},     Bounds{"output_height", 1, kMostExtent},
    Bounds{"output_width", 1, kMostExtent},    Bounds{"sampling_ratio", 0, kMostExtent},
    Bounds{"num_groups", 1, kMostExtent},      Bounds{"num_scan_inputs", 1, kMostExtent},
    Bounds{"num_outputs", 1, kMostExtent},     Bounds{"batch_dims", -kMostRank, kMostRank},
    Bounds{"split", 0, kMostElements},         Bounds{"perm", 0, kMostRank},
    Bounds{"axes", -kMostExtent, kMostRank},   Bounds{"axis", -kMostExtent, kMostRank}};

bool HasNoNegativePads(std::string_view op_type) {
  return op_type == "Conv" || op_type == "ConvTranspose" || op_type == "ConvInteger" || op_type == "QLinearConv" ||
         op_type == "MaxPool" || op_type == "AveragePool" || op_type == "LpPool" || op_type == "MaxUnpool";
}

void CheckBounds(const NodeProto& node, const AttributeProto& attribute, const std::string& what) {
  for (const Bounds& bounds : kBounds) {
    if (attribute.name() != bounds.attribute) continue;
    const bool pads = bounds.attribute == "pads" && HasNoNegativePads(node.op_type());
    const std::int64_t least = pads ? 0 : bounds.least;
    const auto check = [&](std::int64_t value) {
      if (value < least || value > bounds.most) {
        throw InvalidInput(fmt::format("{}: attribute '{}' is {}, outside {} .. {}", what, attribute.name(), value,
                                       least, bounds.most));
      }
    };
    if (attribute.type() == AttributeProto::INT) check(attribute.i());
    for (const std::int64_t value : attribute.ints()) check(value);
  }
}

// Attributes that name an element type.
void CheckNamedType(const NodeProto& node, const AttributeProto& attribute, const std::string& place) {
  const bool names_one = attribute.name() == "to" || attribute.name() == "dtype" || attribute.name() == "output_dtype";
  if (!names_one || !PlainDomain(node.domain()).empty() || attribute.i() == onnx::TensorProto::UNDEFINED) return;
  const auto number = static_cast<std::int32_t>(std::clamp<std::int64_t>(attribute.i(), -1, kMostExtent));
  if (DataTypeOf(number)) return;
  throw InvalidInput(fmt::format("{} names an element type Millrace does not know, {}", place, NameOfOnnxType(number)));
}

void CheckGraph(const GraphProto& graph, const std::string& place);

void CheckAttribute(const NodeProto& node, const AttributeProto& attribute, const std::string& what) {
  const std::string place = fmt::format("{}: attribute '{}'", what, attribute.name());
  switch (attribute.type()) {
    case AttributeProto::UNDEFINED:
      throw InvalidInput(place + " has no type");
    case AttributeProto::TENSOR:
      if (!attribute.has_t()) throw InvalidInput(place + " says it is a tensor and holds none");
      CheckTensor(attribute.t(), place);
      break;
    case AttributeProto::GRAPH:
      if (!attribute.has_g()) throw InvalidInput(place + " says it is a graph and holds none");
      CheckGraph(attribute.g(), place + ", ");
      break;
    case AttributeProto::INT:
      CheckNamedType(node, attribute, place);
      break;
    case AttributeProto::FLOAT:
    case AttributeProto::STRING:
    case AttributeProto::FLOATS:
    case AttributeProto::INTS:
    case AttributeProto::STRINGS:
      break;
    case AttributeProto::SPARSE_TENSOR:
    case AttributeProto::SPARSE_TENSORS:
      throw InvalidInput(place + " is a sparse tensor, which Millrace does not take; store it dense");
    default:
      throw InvalidInput(place + " is a list of tensors, a list of graphs or a type, which Millrace does not take");
  }
  CheckBounds(node, attribute, what);
}

void CheckNode(const NodeProto& node, int index, const std::string& place) {
  const std::string what = place + Described(node, index);
  if (node.op_type().empty()) throw InvalidInput(what + " has no operator");
  std::set<std::string_view> names;
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.name().empty()) throw InvalidInput(what + " has an attribute without a name");
    if (!names.insert(attribute.name()).second) {
      throw InvalidInput(fmt::format("{}: attribute '{}' is given twice", what, attribute.name()));
    }
    if (!attribute.ref_attr_name().empty()) {
      throw InvalidInput(fmt::format("{}: attribute '{}' refers to a function's attribute outside of any function",
                                     what, attribute.name()));
    }
    CheckAttribute(node, attribute, what);
  }
}

void CheckType(const TypeProto& type, const std::string& what) {
  switch (type.value_case()) {
    case TypeProto::VALUE_NOT_SET:
      return;
    case TypeProto::kTensorType:
      break;
    case TypeProto::kSequenceType:
      throw InvalidInput(what + " is a sequence, which Millrace does not take; only tensors are");
    case TypeProto::kMapType:
      throw InvalidInput(what + " is a map, which Millrace does not take; only tensors are");
    case TypeProto::kOptionalType:
      throw InvalidInput(what + " is an optional value, which Millrace does not take; only tensors are");
    case TypeProto::kSparseTensorType:
      throw InvalidInput(what + " is a sparse tensor, which Millrace does not take; only dense ones are");
    default:
      throw InvalidInput(what + " is of an opaque type, which Millrace does not take; only tensors are");
  }
  const std::int32_t element = type.tensor_type().elem_type();
  if (element != onnx::TensorProto::UNDEFINED && !DataTypeOf(element)) {
    throw InvalidInput(what + " has an element type Millrace does not know, " + NameOfOnnxType(element));
  }
  Shape stated;
  for (const auto& dimension : type.tensor_type().shape().dim()) {
    stated.push_back(dimension.has_dim_value() ? dimension.dim_value() : 1);
  }
  CheckedElements(stated, what);
}

void CheckGraph(const GraphProto& graph, const std::string& place) {
  for (const auto& tensor : graph.initializer()) {
    if (tensor.name().empty()) throw InvalidInput(place + "an initializer has no name");
    CheckTensor(tensor, fmt::format("{}initializer '{}'", place, tensor.name()));
  }
  for (const auto& sparse : graph.sparse_initializer()) {
    throw InvalidInput(
        fmt::format("{}initializer '{}' is a sparse tensor, which Millrace does not take; store it dense", place,
                    sparse.values().name()));
  }
  for (const auto* infos : {&graph.input(), &graph.output(), &graph.value_info()}) {
    for (const auto& info : *infos) {
      if (info.name().empty()) throw InvalidInput(place + "an input, output or value has no name");
      CheckType(info.type(), fmt::format("{}'{}'", place, info.name()));
    }
  }
  for (int i = 0; i < graph.node_size(); ++i) CheckNode(graph.node(i), i, place);
}

bool UsesOnlyForeignOps(const GraphProto& graph) {
  for (const NodeProto& node : graph.node()) {
    if (PlainDomain(node.domain()).empty()) return false;
  }
  return true;
}

}  // namespace

std::string PlainDomain(const std::string& domain) { return domain == "ai.onnx" ? std::string() : domain; }

std::string Described(const NodeProto& node, int index) {
  if (node.name().empty()) return fmt::format("node {} ({})", index, node.op_type());
  return fmt::format("node '{}' ({})", node.name(), node.op_type());
}

void ValidateOnnx(const onnx::ModelProto& model) {
  if (!model.has_graph()) throw InvalidInput("the ONNX model holds no graph");
  if (model.ir_version() < 1 || model.ir_version() > kNewestIrVersion) {
    throw InvalidInput(fmt::format("ONNX IR version {} is not one Millrace reads (1 .. {}); export the model again",
                                   model.ir_version(), kNewestIrVersion));
  }
  bool has_opset = model.ir_version() < 3 || UsesOnlyForeignOps(model.graph());  // older models imply opset 1
  std::set<std::string> domains;
  for (const auto& import : model.opset_import()) {
    const std::string domain = PlainDomain(import.domain());
    if (!domains.insert(domain).second) {
      throw InvalidInput(fmt::format("the model imports two versions of domain '{}'", domain));
    }
    if (import.version() < 1) {
      throw InvalidInput(fmt::format("opset version {} of domain '{}' is no version", import.version(), domain));
    }
    if (!domain.empty()) continue;
    has_opset = true;
    if (import.version() > kNewestOpset) {
      throw InvalidInput(fmt::format(
          "opset {} is newer than Millrace reads (1 .. {}); export the model with opset {} or convert it to "
          "that (onnx.version_converter)",
          import.version(), kNewestOpset, kNewestOpset));
    }
  }
  if (!has_opset) throw InvalidInput("the model does not say which opset of the ONNX domain it uses");
  if (model.graph().output_size() == 0) throw InvalidInput("the model has no outputs, so there is nothing to run");
  CheckGraph(model.graph(), "");
}

}  // namespace millrace

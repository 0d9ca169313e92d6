// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_external.h"
#include "millrace/formats/onnx_tensor.h"
#include "millrace/formats/onnx_validate.h"

namespace millrace {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::ValueInfoProto;

// Sizes for dimensions that the file leaves open, and a note of those that found none.
class Dimensions {
 public:
  Dimensions(const std::map<std::string, std::int64_t>& sizes, std::vector<std::string>& warnings)
      : sizes_(sizes), warnings_(warnings) {}

  // The shape of a model input; open dimensions without a size are noted for Check.
  Shape OfInput(const ValueInfoProto& info) {
    Shape shape;
    const auto& stated = info.type().tensor_type().shape();
    for (int i = 0; i < stated.dim_size(); ++i) {
      const auto& dimension = stated.dim(i);
      if (dimension.has_dim_value()) {
        shape.push_back(dimension.dim_value());
        continue;
      }
      const std::string place = fmt::format("{}:{}", info.name(), i);
      const std::string name = dimension.dim_param().empty() ? place : dimension.dim_param();
      seen_.insert(name);
      const auto found = sizes_.find(name);
      if (found != sizes_.end()) {
        shape.push_back(found->second);
      } else if (dimension.dim_param().empty() && i == 0) {
        warnings_.push_back(
            fmt::format("input '{}': its first dimension has neither size nor name and is taken as 1; "
                        "--dim {}=SIZE says otherwise",
                        info.name(), place));
        shape.push_back(1);
      } else {
        if (open_names_.insert(name).second) open_.push_back(name);
        shape.push_back(1);
      }
    }
    return shape;
  }

  // The shape of another value where the file states all of it.
  std::optional<Shape> OfValue(const ValueInfoProto& info) const {
    if (!info.type().tensor_type().has_shape()) return std::nullopt;
    Shape shape;
    for (const auto& dimension : info.type().tensor_type().shape().dim()) {
      if (dimension.has_dim_value()) {
        shape.push_back(dimension.dim_value());
      } else if (const auto found = sizes_.find(dimension.dim_param()); found != sizes_.end()) {
        shape.push_back(found->second);
      } else {
        return std::nullopt;
      }
    }
    return shape;
  }

  void Check() const {
    if (!open_.empty()) {
      constexpr std::size_t kMostNamed = 10;
      std::string names, flags;
      for (std::size_t i = 0; i < std::min(open_.size(), kMostNamed); ++i) {
        const std::string& name = open_[i];
        names += (names.empty() ? "'" : ", '") + name + "'";
        flags += " --dim " + name + "=SIZE";
      }
      const std::string rest = open_.size() > kMostNamed ? " and others" : "";
      throw InvalidInput(
          fmt::format("the model's inputs leave the size of {}{} open; give it with{}", names, rest, flags));
    }
    for (const auto& [name, size] : sizes_) {
      if (size < 0) throw InvalidInput(fmt::format("--dim {}={}: a size is not negative", name, size));
      if (seen_.count(name) > 0) continue;
      std::string names;
      for (const std::string& known : seen_) names += (names.empty() ? "'" : ", '") + known + "'";
      warnings_.push_back(fmt::format("no input has a dimension '{}'; {}", name,
                                      names.empty() ? "all of them have sizes" : "those left open are " + names));
    }
  }

 private:
  const std::map<std::string, std::int64_t>& sizes_;
  std::vector<std::string>& warnings_;
  std::set<std::string> seen_;
  std::vector<std::string> open_;  // in the order of the inputs
  std::set<std::string> open_names_;
};

class DraftMaker {
 public:
  DraftMaker(onnx::ModelProto& message, const std::string* folder, const OnnxReadOptions& options,
             std::vector<std::string>& warnings)
      : message_(message), graph_(*message.mutable_graph()), dimensions_(options.dimensions, warnings) {
    if (folder != nullptr) external_.emplace(*folder);
  }

  OnnxDraft Make() {
    TakeHeader();
    TakeInitializers();
    TakeInputs();
    TakeNodes();
    for (const ValueInfoProto& output : graph_.output()) {
      model().outputs.push_back(Known(output.name(), "the model's output"));
      draft_.outputs.push_back(output);
    }
    for (const auto* infos : {&graph_.value_info(), &graph_.output()}) {
      for (const ValueInfoProto& info : *infos) TakeStated(info);
    }
    Sort();
    return std::move(draft_);
  }

 private:
  Model& model() { return draft_.model; }

  int AddValue(const std::string& name, const std::string& maker) {
    const int id = static_cast<int>(model().values.size());
    if (!ids_.emplace(name, id).second) {
      throw InvalidInput(fmt::format("the value '{}' is defined twice, the second time by {}", name, maker));
    }
    Value value;
    value.name = name;
    model().values.push_back(std::move(value));
    draft_.known.push_back(0);
    draft_.stated.emplace_back();
    return id;
  }

  void SetShape(int id, DataType type, Shape shape) {
    Value& value = model().values[static_cast<std::size_t>(id)];
    value.type = type;
    value.shape = std::move(shape);
    draft_.known[static_cast<std::size_t>(id)] = 1;
  }

  int Known(const std::string& name, const std::string& reader) const {
    const auto found = ids_.find(name);
    if (found == ids_.end()) {
      throw InvalidInput(fmt::format("{} reads '{}', which nothing in the model makes", reader, name));
    }
    return found->second;
  }

  void TakeHeader() {
    model().name = graph_.name();
    model().opset = message_.ir_version() < 3 ? 1 : kNewestKnownOpset;
    for (const auto& import : message_.opset_import()) {
      const std::string domain = PlainDomain(import.domain());
      if (domain.empty()) {
        model().opset = import.version();
      } else {
        model().foreign_opsets[domain] = import.version();
      }
    }
    for (const auto& entry : message_.metadata_props()) model().metadata[entry.key()] = entry.value();
    for (const auto& function : message_.functions()) model().functions.push_back(function.SerializeAsString());
  }

  std::shared_ptr<const ConstantData> Constant(const onnx::TensorProto& tensor, const std::string& what) {
    if (!IsExternal(tensor)) return Widened(ConstantOf(tensor, what));
    if (!external_) throw InvalidInput(what + " keeps its data in another file, and there is no folder to look in");
    return Widened(external_->Read(tensor, what));
  }

  void TakeInitializers() {
    for (onnx::TensorProto& kept : *graph_.mutable_initializer()) {
      onnx::TensorProto tensor;  // freed with each turn, so that no two copies of all weights are held
      tensor.Swap(&kept);
      const std::string what = fmt::format("initializer '{}'", tensor.name());
      const int id = AddValue(tensor.name(), what);
      const auto constant = Constant(tensor, what);
      SetShape(id, constant->type(), constant->shape());
      model().values[static_cast<std::size_t>(id)].constant = constant;
    }
  }

  void TakeInputs() {
    for (const ValueInfoProto& input : graph_.input()) {
      const auto found = ids_.find(input.name());
      if (found != ids_.end() && model().values[static_cast<std::size_t>(found->second)].constant != nullptr &&
          overridden_.insert(input.name()).second) {
        continue;  // an initializer listed as an input too, as old models do
      }
      const std::string what = fmt::format("input '{}'", input.name());
      const auto& tensor = input.type().tensor_type();
      const std::optional<DataType> type = DataTypeOf(tensor.elem_type());
      if (!type) throw InvalidInput(what + " does not state its element type");
      if (!tensor.has_shape()) throw InvalidInput(what + " does not state how many dimensions it has");
      const Shape shape = dimensions_.OfInput(input);
      CheckedElements(shape, what);
      const int id = AddValue(input.name(), what);
      SetShape(id, *type, shape);
      model().inputs.push_back(id);
    }
    dimensions_.Check();
  }

  Attribute AttributeOf(const AttributeProto& attribute, const std::string& what) {
    switch (attribute.type()) {
      case AttributeProto::INT:
        return attribute.i();
      case AttributeProto::FLOAT:
        return attribute.f();
      case AttributeProto::STRING:
        return attribute.s();
      case AttributeProto::INTS:
        return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
      case AttributeProto::FLOATS:
        return std::vector<float>(attribute.floats().begin(), attribute.floats().end());
      case AttributeProto::STRINGS:
        return std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
      case AttributeProto::TENSOR:
        return Constant(attribute.t(), what);
      case AttributeProto::GRAPH:
        return Subgraph{attribute.g().SerializeAsString()};
      default:
        throw InvalidInput(what + " has a type that Millrace does not take");
    }
  }

  void TakeNodes() {
    for (int i = 0; i < graph_.node_size(); ++i) {
      NodeProto& message = *graph_.mutable_node(i);
      const std::string what = Described(message, i);
      Node node;
      node.name = message.name();
      node.op_type = message.op_type();
      node.domain = PlainDomain(message.domain());
      if (!node.domain.empty() && model().foreign_opsets.count(node.domain) == 0) {
        throw InvalidInput(fmt::format("{}: the model does not import its domain '{}'", what, node.domain));
      }
      node.layer = LayerOf(message.doc_string());
      for (const AttributeProto& attribute : message.attribute()) {
        node.attributes.emplace(attribute.name(),
                                AttributeOf(attribute, fmt::format("{}: attribute '{}'", what, attribute.name())));
      }
      bool makes_something = false;
      for (const std::string& name : message.output()) {
        makes_something = makes_something || !name.empty();
        node.outputs.push_back(name.empty() ? -1 : AddValue(name, what));
        if (!name.empty()) model().values.back().producer = i;
      }
      if (!makes_something) throw InvalidInput(what + " has no outputs");
      model().nodes.push_back(std::move(node));
    }
    for (int i = 0; i < graph_.node_size(); ++i) {
      Node& node = model().nodes[static_cast<std::size_t>(i)];
      const NodeProto& message = graph_.node(i);
      const std::string what = Described(message, i);
      for (const std::string& name : message.input()) node.inputs.push_back(name.empty() ? -1 : Known(name, what));
      std::unordered_set<int> captured;
      for (const AttributeProto& attribute : message.attribute()) {
        if (attribute.type() != AttributeProto::GRAPH) continue;
        for (const std::string& name : NamesCaptured(attribute.g())) {
          const int id = Known(name, what + "'s body");
          if (captured.insert(id).second) node.captured.push_back(id);
        }
      }
    }
  }

  static std::optional<int> LayerOf(const std::string& doc_string) {
    constexpr std::string_view kKey = "layer=";
    if (doc_string.size() <= kKey.size() || doc_string.size() > kKey.size() + 9 ||
        doc_string.compare(0, kKey.size(), kKey) != 0) {
      return std::nullopt;
    }
    int layer = 0;
    for (const char c : doc_string.substr(kKey.size())) {
      if (c < '0' || c > '9') return std::nullopt;
      layer = layer * 10 + (c - '0');
    }
    return layer;
  }

  void TakeStated(const ValueInfoProto& info) {
    const auto found = ids_.find(info.name());
    if (found == ids_.end()) return;
    const std::optional<DataType> type = DataTypeOf(info.type().tensor_type().elem_type());
    std::optional<Shape> shape = dimensions_.OfValue(info);
    if (!type || !shape) return;
    CheckedElements(*shape, fmt::format("'{}'", info.name()));
    draft_.stated[static_cast<std::size_t>(found->second)] = OnnxDraft::Stated{*type, std::move(*shape)};
  }

  // Topological, the file's own order where that is one.
  void Sort() {
    std::vector<Node>& nodes = model().nodes;
    std::vector<std::vector<int>> readers(nodes.size());
    std::vector<int> waiting(nodes.size(), 0);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const auto* ids : {&nodes[i].inputs, &nodes[i].captured}) {
        for (const int id : *ids) {
          const int producer = id < 0 ? -1 : model().values[static_cast<std::size_t>(id)].producer;
          if (producer < 0) continue;
          readers[static_cast<std::size_t>(producer)].push_back(static_cast<int>(i));
          ++waiting[i];
        }
      }
    }
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (waiting[i] == 0) ready.push(static_cast<int>(i));
    }
    std::vector<Node> sorted;
    sorted.reserve(nodes.size());
    while (!ready.empty()) {
      const std::size_t next = static_cast<std::size_t>(ready.top());
      ready.pop();
      for (const int output : nodes[next].outputs) {
        if (output >= 0) model().values[static_cast<std::size_t>(output)].producer = static_cast<int>(sorted.size());
      }
      sorted.push_back(std::move(nodes[next]));
      for (const int reader : readers[next]) {
        if (--waiting[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
      }
    }
    if (sorted.size() != nodes.size()) {
      std::size_t stuck = 0;
      while (waiting[stuck] == 0) ++stuck;
      throw InvalidInput(Described(graph_.node(static_cast<int>(stuck)), static_cast<int>(stuck)) +
                         " lies on a cycle or behind one; a model has none");
    }
    nodes = std::move(sorted);
  }

  onnx::ModelProto& message_;
  GraphProto& graph_;
  Dimensions dimensions_;
  std::optional<ExternalData> external_;
  std::unordered_map<std::string, int> ids_;
  std::unordered_set<std::string> overridden_;
  OnnxDraft draft_;
};

void CollectCaptured(const GraphProto& body, std::vector<std::string>& captured) {
  std::unordered_set<std::string> defined;
  for (const auto& input : body.input()) defined.insert(input.name());
  for (const auto& tensor : body.initializer()) defined.insert(tensor.name());
  for (const NodeProto& node : body.node()) defined.insert(node.output().begin(), node.output().end());
  const auto read = [&](const std::string& name) {
    if (!name.empty() && defined.count(name) == 0) captured.push_back(name);
  };
  for (const NodeProto& node : body.node()) {
    for (const std::string& name : node.input()) read(name);
    for (const AttributeProto& attribute : node.attribute()) {
      if (attribute.type() != AttributeProto::GRAPH) continue;
      std::vector<std::string> inner;
      CollectCaptured(attribute.g(), inner);
      for (const std::string& name : inner) read(name);
    }
  }
  for (const auto& output : body.output()) read(output.name());
}

}  // namespace

OnnxDraft DraftOf(onnx::ModelProto& message, const std::string* folder, const OnnxReadOptions& options,
                  std::vector<std::string>& warnings) {
  return DraftMaker(message, folder, options, warnings).Make();
}

std::vector<std::string> NamesCaptured(const GraphProto& body) {
  std::vector<std::string> all;
  CollectCaptured(body, all);
  std::vector<std::string> captured;
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : all) {
    if (seen.insert(name).second) captured.push_back(name);
  }
  return captured;
}

}  // namespace millrace

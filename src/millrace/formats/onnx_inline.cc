// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_body.h"
#include "millrace/formats/onnx_body_model.h"
#include "millrace/formats/onnx_move.h"

// Branches of an If in the place of the If.
namespace millrace {
namespace {

using Names = std::map<std::string, std::string>;

void Rename(std::string* name, const Names& names) {
  const auto found = names.find(*name);
  if (found != names.end()) *name = found->second;
}

// Everywhere in the body and the bodies within: what a name stands for stays the same.
void RenameIn(onnx::GraphProto& body, const Names& names) {
  for (auto& tensor : *body.mutable_initializer()) Rename(tensor.mutable_name(), names);
  for (auto* infos : {body.mutable_input(), body.mutable_output(), body.mutable_value_info()}) {
    for (auto& info : *infos) Rename(info.mutable_name(), names);
  }
  for (auto& node : *body.mutable_node()) {
    for (std::string& name : *node.mutable_input()) Rename(&name, names);
    for (std::string& name : *node.mutable_output()) Rename(&name, names);
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) RenameIn(*attribute.mutable_g(), names);
    }
  }
}

class Inliner {
 public:
  explicit Inliner(OnnxDraft& draft) : draft_(draft) {
    for (const Value& value : draft.model.values) taken_.insert(value.name);
  }

  int Inline() {
    int inlined = 0;
    std::vector<Node> nodes = std::move(draft_.model.nodes);
    draft_.model.nodes.clear();
    for (Node& node : nodes) {
      if (!IsDecided(draft_, node)) {
        draft_.model.nodes.push_back(std::move(node));
        continue;
      }
      const bool condition = ValueOf(node.inputs[0]).constant->AsInt64s()[0] != 0;
      Put(node, BodyOf(node, condition ? "then_branch" : "else_branch"));
      ++inlined;
    }
    for (std::size_t i = 0; i < draft_.model.nodes.size(); ++i) {
      for (const int id : draft_.model.nodes[i].outputs) {
        if (id >= 0 && ValueOf(id).constant == nullptr) ValueOf(id).producer = static_cast<int>(i);
      }
    }
    return inlined;
  }

 private:
  Value& ValueOf(int id) { return draft_.model.values[static_cast<std::size_t>(id)]; }

  // Names that the branch defines and the model has already get new ones.
  void MakeUnique(onnx::GraphProto& body) {
    Names names;
    const auto add = [&](const std::string& name) {
      std::string fresh = name;
      for (int i = 1; !fresh.empty() && !taken_.insert(fresh).second; ++i) fresh = name + "_" + std::to_string(i);
      if (fresh != name) names[name] = fresh;
    };
    for (const auto& tensor : body.initializer()) add(tensor.name());
    for (const auto& node : body.node()) {
      for (const std::string& name : node.output()) add(name);
    }
    if (!names.empty()) RenameIn(body, names);
  }

  void Put(const Node& node, onnx::GraphProto body) {
    std::map<std::string, int> outside;
    for (const int id : node.captured) outside.emplace(ValueOf(id).name, id);
    MakeUnique(body);
    onnx::ModelProto message = BodyAsModel(draft_, node, std::move(body), {});
    std::vector<std::string> warnings;
    OnnxDraft branch = DraftOf(message, nullptr, {}, warnings);
    if (branch.model.outputs.size() != node.outputs.size()) {
      throw InvalidInput(fmt::format("{}: it has {} outputs and the branch it takes has {}", NodeLabel(node),
                                     node.outputs.size(), branch.model.outputs.size()));
    }
    std::vector<int> ids;
    for (std::size_t i = 0; i < branch.model.values.size(); ++i) {
      const auto found = outside.find(branch.model.values[i].name);
      ids.push_back(found != outside.end() ? found->second : static_cast<int>(draft_.model.values.size()));
      if (found != outside.end()) continue;
      draft_.model.values.push_back(std::move(branch.model.values[i]));
      draft_.known.push_back(branch.known[i]);
      draft_.stated.push_back(std::move(branch.stated[i]));
    }
    const auto renumber = [&ids](std::vector<int>& list) {
      for (int& id : list) {
        if (id >= 0) id = ids[static_cast<std::size_t>(id)];
      }
    };
    renumber(branch.model.outputs);
    for (Node& inner : branch.model.nodes) {
      renumber(inner.inputs);
      renumber(inner.outputs);
      renumber(inner.captured);
      if (!inner.layer) inner.layer = node.layer;
    }
    HandOut(node, branch.model);
    for (Node& inner : branch.model.nodes) draft_.model.nodes.push_back(std::move(inner));
    for (Node& handing : handing_) draft_.model.nodes.push_back(std::move(handing));
    handing_.clear();
  }

  // The If's outputs are made by the branch's own nodes, or by an Identity where a value has another use or maker.
  void HandOut(const Node& node, Model& branch) {
    std::set<int> fixed;  // values that keep their names: bodies within read them, or an output has them already
    for (const Node& inner : branch.nodes) fixed.insert(inner.captured.begin(), inner.captured.end());
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const int output = node.outputs[i];
      const int made = branch.outputs[i];
      if (output < 0) continue;
      bool direct = false;
      for (const Node& inner : branch.nodes) {
        for (const int id : inner.outputs) direct = direct || (id == made && fixed.count(made) == 0);
      }
      if (direct) {
        for (Node& inner : branch.nodes) {
          for (auto* list : {&inner.inputs, &inner.outputs}) std::replace(list->begin(), list->end(), made, output);
        }
        std::replace(branch.outputs.begin(), branch.outputs.end(), made, output);
        fixed.insert(output);
        continue;
      }
      Node identity;
      identity.name = node.name.empty() ? std::string() : fmt::format("{}_output_{}", node.name, i);
      identity.op_type = "Identity";
      identity.inputs = {made};
      identity.outputs = {output};
      identity.layer = node.layer;
      handing_.push_back(std::move(identity));
    }
  }

  OnnxDraft& draft_;
  std::set<std::string> taken_;
  std::vector<Node> handing_;
};

}  // namespace

int InlineConstantIfs(OnnxDraft& draft) { return Inliner(draft).Inline(); }

}  // namespace millrace

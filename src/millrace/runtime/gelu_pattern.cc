// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/gelu_pattern.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "millrace/runtime/value_readers.h"

namespace millrace {
namespace {

constexpr double kTolerance = 1e-5;

class Matcher {
 public:
  Matcher(const Model& model, std::span<const int> nodes) : model_(model), nodes_(nodes) {}

  std::optional<GeluPattern> From(int value) {
    for (const int first : ReadersOf(model_, value)) {
      if (!Inside(first) || (!IsTimes(first, value, std::numbers::sqrt2 / 2))) continue;
      const int erf = OnlyReader(first);
      if (erf < 0 || At(erf).op_type != "Erf") continue;
      const int shifted = OnlyReader(erf);
      if (shifted < 0 || At(shifted).op_type != "Add" || !HasConstant(shifted, 1)) continue;
      const int product = OnlyReader(shifted);
      if (product < 0 || At(product).op_type != "Mul") continue;
      const Node& multiplied = At(product);
      const int other = multiplied.inputs[0] == OutputOf(shifted) ? multiplied.inputs[1] : multiplied.inputs[0];
      if (other == value) {
        const int last = OnlyReader(product);
        if (last >= 0 && IsTimes(last, OutputOf(product), 0.5))
          return Found({first, erf, shifted, product, last}, OutputOf(last));
      }
      const int half = model_.values[static_cast<std::size_t>(other)].producer;
      if (Inside(half) && IsTimes(half, value, 0.5) && OnlyReader(half) == product)
        return Found({half, first, erf, shifted, product}, OutputOf(product));
    }
    return std::nullopt;
  }

 private:
  const Node& At(int node) const { return model_.nodes[static_cast<std::size_t>(node)]; }
  int OutputOf(int node) const { return At(node).outputs.front(); }
  bool Inside(int node) const { return node >= 0 && std::find(nodes_.begin(), nodes_.end(), node) != nodes_.end(); }

  // The one reader of the node's output, if it belongs to the group; -1 otherwise.
  int OnlyReader(int node) const {
    const std::vector<int> readers = ReadersOf(model_, OutputOf(node));
    return readers.size() == 1 && Inside(readers.front()) ? readers.front() : -1;
  }

  bool HasConstant(int node, double wanted) const {
    for (const int input : At(node).inputs) {
      const ConstantData* constant = ConstantOf(model_, input);
      if (constant == nullptr || constant->type() != DataType::kFloat32 || ElementsOf(constant->shape()) != 1) continue;
      if (constant->shape().size() > model_.values[static_cast<std::size_t>(OutputOf(node))].shape.size()) continue;
      if (std::abs(constant->AsFloats().front() - wanted) <= kTolerance * std::abs(wanted)) return true;
    }
    return false;
  }

  bool IsTimes(int node, int value, double factor) const {
    const Node& of = At(node);
    if (of.inputs.size() != 2) return false;
    if (of.op_type == "Div") return of.inputs[0] == value && HasConstant(node, 1 / factor);
    return of.op_type == "Mul" && (of.inputs[0] == value || of.inputs[1] == value) && HasConstant(node, factor);
  }

  std::optional<GeluPattern> Found(std::vector<int> members, int output) const {
    if (model_.values[static_cast<std::size_t>(output)].type != DataType::kFloat32) return std::nullopt;
    std::sort(members.begin(), members.end(), [this](int a, int b) {
      return std::find(nodes_.begin(), nodes_.end(), a) < std::find(nodes_.begin(), nodes_.end(), b);
    });
    return GeluPattern{std::move(members), output};
  }

  const Model& model_;
  std::span<const int> nodes_;
};

}  // namespace

std::optional<GeluPattern> GeluOf(const Model& model, std::span<const int> nodes, int value) {
  return Matcher(model, nodes).From(value);
}

Activation GeluActivation() { return {{dnnl::algorithm::eltwise_gelu_erf, 0, 0}}; }

}  // namespace millrace

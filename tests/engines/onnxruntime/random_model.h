// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/formats/model.h"
#include "millrace/random/random.h"

namespace millrace::testing {

// A runnable model of additions, products and activations over 4 x 8 matrices, wired at random: several inputs, values
// read more than once or never, constants of which some are shared, outputs in the middle.
inline Model RandomModel(Random& random, int most_nodes) {
  const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random.Below(n)); };
  Model model;
  model.name = "random";
  model.opset = 13;
  const auto add = [&model](std::string name, int producer) {
    Value value;
    value.name = std::move(name);
    value.shape = {4, 8};
    value.producer = producer;
    model.values.push_back(value);
    return static_cast<int>(model.values.size()) - 1;
  };
  std::vector<int> there;
  const std::size_t inputs = 1 + below(3);
  for (std::size_t i = 0; i < inputs; ++i) there.push_back(add("in" + std::to_string(i), -1));
  model.inputs = there;
  for (int i = 0; i < 2; ++i) {
    const int value = add("weight" + std::to_string(i), -1);
    std::vector<float> elements;
    for (int element = 0; element < 32; ++element) elements.push_back(static_cast<float>(random.Uniform(-1, 1)));
    model.values[static_cast<std::size_t>(value)].constant = ConstantData::Floats({4, 8}, elements);
    there.push_back(value);
  }
  const std::size_t nodes = 1 + below(static_cast<std::size_t>(most_nodes));
  for (std::size_t i = 0; i < nodes; ++i) {
    static const std::vector<std::string> kUnary = {"Relu", "Tanh", "Sigmoid", "Neg"};
    static const std::vector<std::string> kBinary = {"Add", "Sub", "Mul"};
    Node node;
    node.name = "node" + std::to_string(i);
    const bool binary = random.Below(2) == 0;
    node.op_type = binary ? kBinary[below(kBinary.size())] : kUnary[below(kUnary.size())];
    for (int input = 0; input < (binary ? 2 : 1); ++input) {
      // Mostly of the last few, so that chains form.
      const std::size_t back =
          random.Below(3) == 0 ? below(there.size()) : below(std::min<std::size_t>(4, there.size()));
      node.inputs.push_back(there[there.size() - 1 - back]);
    }
    node.outputs = {add("t" + std::to_string(i), static_cast<int>(i))};
    there.push_back(node.outputs.front());
    model.nodes.push_back(node);
  }
  std::vector<bool> read(model.values.size(), false);
  for (const Node& node : model.nodes) {
    for (const int input : node.inputs) read[static_cast<std::size_t>(input)] = true;
  }
  for (const Node& node : model.nodes) {
    const int made = node.outputs.front();
    if ((!read[static_cast<std::size_t>(made)] && random.Below(8) > 0) || random.Below(8) == 0)
      model.outputs.push_back(made);
  }
  if (model.outputs.empty()) model.outputs = {model.nodes.back().outputs.front()};
  return model;
}

}  // namespace millrace::testing

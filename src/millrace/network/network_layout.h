// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/network/weights.h"
#include "millrace/random/random.h"

// The tensors an architecture is made of and how training starts them: data that its shapes, its initial weights and
// the check of a file are all read from.
namespace millrace {

using TensorShapes = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

class NetworkLayout {
 public:
  // A matrix that starts He-uniform: in +-sqrt(6 / sum_inputs), where `sum_inputs` counts the inputs of all layers that
  // are added up before the next relu (He et al., "Delving Deep into Rectifiers", 2015).
  void AddWeight(const std::string& layer, int outputs, int inputs, int sum_inputs);
  void AddZeroWeight(const std::string& layer, int outputs, int inputs);
  void AddBias(const std::string& layer, int outputs);
  void AddNorm(const std::string& layer, int width);  // a weight that starts at 1 and a bias
  void AddZeros(const std::string& name, int count);

  // NAME.embed, .condition, .features, .hidden, .out and .strength of a head (choice_head.h) whose first layer also
  // adds up `more_inputs`.
  void AddHead(const std::string& head, int features, int priors, int more_inputs);

  TensorShapes Shapes() const;
  Weights Start(const std::string& architecture, Random& random) const;

 private:
  struct Entry {
    std::string name;
    std::vector<std::int64_t> shape;
    int sum_inputs = 0;  // 0: starts at `start`
    float start = 0;
  };
  std::vector<Entry> entries_;
};

// An entry of the metadata. Throws InvalidInput where it is not there.
const std::string& StatedBy(const Weights& weights, const std::string& what);

// Version 1 of every architecture is the one this program knows. Throws InvalidInput for any other, and for another
// architecture.
void CheckArchitecture(const Weights& weights, const std::string& architecture);

// Sets HEAD.strength.bias to the logarithms of these strengths.
void StartStrengths(Weights& weights, const std::string& head, std::span<const double> strengths);

}  // namespace millrace

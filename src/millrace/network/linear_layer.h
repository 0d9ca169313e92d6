// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "millrace/network/weights.h"
#include "millrace/vector/lanes.h"

// y = W x + b over many rows: what encoders spend their time in. The sum of an output runs over the inputs in order,
// whatever the number of rows, so a row's result depends on nothing but the row.
namespace millrace {

// Immutable once made. Outputs are filled up to a multiple of kLanes by ones that are 0; outputs() counts these, too.
class LinearLayer {
 public:
  enum class Bias { kNone, kOwn };
  enum class Then { kNothing, kRelu };

  LinearLayer() = default;
  // Takes name.weight (outputs, inputs) and name.bias (outputs). Throws InvalidInput as Weights::Get does.
  LinearLayer(const Weights& weights, const std::string& name, int inputs, int outputs, Bias bias);

  int inputs() const { return inputs_; }
  int outputs() const { return outputs_; }
  const float* weight() const { return weight_.data(); }  // by block of kLanes outputs x input x kLanes
  const float* bias() const { return bias_.data(); }      // 0 where it has none

  // `rows` x inputs -> `rows` x outputs, row-major, the output at the address of a LaneArray or whole kLanes behind it.
  // They do not overlap.
  void Apply(const float* input, std::size_t rows, Then then, float* output) const;

 private:
  int inputs_ = 0;
  int outputs_ = 0;
  LaneArray weight_, bias_;
};

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/network/weights.h"

// A network under training, whatever it is trained on: its weights, their moving average and the optimiser's moments.
namespace millrace {

class Learner {
 public:
  Learner() = default;
  virtual ~Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  virtual Weights weights() const = 0;
  virtual Weights average() const = 0;

  // All of it as tensors for a checkpoint. Load throws InvalidInput where they do not fit this network.
  virtual Weights Save() const = 0;
  virtual void Load(const Weights& saved) = 0;
};

}  // namespace millrace

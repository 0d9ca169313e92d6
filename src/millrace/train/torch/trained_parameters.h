// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "millrace/network/weights.h"
#include "millrace/random/random.h"
#include "millrace/train/torch/team.h"
#include "millrace/train/torch/tensors.h"

// The parameters of a network under training, their moving average, and the optimiser that moves them.
//
// Source: Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015.
namespace millrace {

using Shapes = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;  // by tensor name

// He-uniform for matrices, zero for biases.
Weights DrawWeights(const Shapes& shapes, Random& random);

// A network's numbers out of libtorch and back. Values are copied.
WeightTensor ToWeightTensor(const torch::Tensor& tensor, std::vector<std::int64_t> shape);

// Threads of libtorch and of the linear algebra under it, which libtorch leaves to itself.
void SetTorchThreads(int threads);

// Adam. All parameters lie one after the other in one flat tensor, their gradients in another, so that a step is a
// handful of operations.
class TrainedParameters {
 public:
  // `team` must outlive the parameters; null: nobody else trains them. Throws InvalidInput where `start` lacks one of
  // the shapes.
  TrainedParameters(Shapes shapes, const Weights& start, double average_decay, torch::Device device,
                    const Team* team = nullptr);

  // Leaves that require gradients: views of the flat tensor, valid as long as this lives.
  const Parameters& parameters() const { return parameters_; }

  // Call it before backward passes, which add their gradients up; EndPart after those of each part of an update that
  // this rank owns; and AddUp before Descend, whereupon every rank has the gradient of all parts.
  void ClearGradient();
  void EndPart();
  void AddUp(std::size_t parts);

  // One gradient step. The gradient's norm is first cut down to `gradient_limit` (0: it is not). Returns the norm
  // before. Throws WorkFailed, and changes nothing, where that is not finite.
  double Descend(double learning_rate, double gradient_limit);

  // The first `count` shapes, now or averaged.
  Weights Values(std::size_t count) const { return Named(flat_, count); }
  Weights Average(std::size_t count) const { return Named(average_, count); }

  // Everything above as tensors for a checkpoint. Load throws InvalidInput where they do not fit.
  Weights Save() const;
  void Load(const Weights& saved);

 private:
  Weights Named(const torch::Tensor& flat, std::size_t count) const;

  Shapes shapes_;
  double average_decay_;
  torch::Device device_;
  const Team* team_;
  std::vector<std::vector<float>> of_parts_;  // gradients of a team's parts
  torch::Tensor flat_, gradient_, average_, first_moment_, second_moment_;
  Parameters parameters_;
  std::int64_t steps_ = 0;
};

}  // namespace millrace

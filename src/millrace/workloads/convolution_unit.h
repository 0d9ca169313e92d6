// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "millrace/workloads/model_builder.h"
#include "millrace/workloads/models.h"

// What the convolutional networks share.
namespace millrace {

enum class Activation { kNone, kRelu, kRelu6 };

// Makes convolutions as a network's options want them: with batch normalisation as a node of its own or folded into
// weights and bias, and channels scaled by the width.
class ConvolutionUnit {
 public:
  ConvolutionUnit(ModelBuilder& builder, const ModelOptions& options);

  // channels x width, rounded to a multiple of 8 but never below 90 % of that (MobileNetV2's rule), at least 8.
  std::int64_t Scaled(std::int64_t channels) const;

  // Convolution, then normalisation, then activation. `convolution.channels` is taken as it is.
  int Apply(int x, Convolution convolution, Activation activation) const;

 private:
  ModelBuilder& builder_;
  bool keep_batch_normalization_;
  double width_;
};

// The model's input, an image or several.
int ImageInput(ModelBuilder& builder, const ModelOptions& options, std::int64_t usual_size);

}  // namespace millrace

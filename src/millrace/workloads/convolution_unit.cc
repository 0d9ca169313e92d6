// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/convolution_unit.h"

#include <algorithm>

namespace millrace {

ConvolutionUnit::ConvolutionUnit(ModelBuilder& builder, const ModelOptions& options)
    : builder_(builder),
      keep_batch_normalization_(options.keep_batch_normalization),
      width_(options.width.value_or(1.0)) {}

std::int64_t ConvolutionUnit::Scaled(std::int64_t channels) const {
  if (width_ == 1.0) return channels;
  const double wanted = static_cast<double>(channels) * width_;
  const std::int64_t rounded = std::max<std::int64_t>(8, static_cast<std::int64_t>(wanted + 4) / 8 * 8);
  return static_cast<double>(rounded) < 0.9 * wanted ? rounded + 8 : rounded;
}

int ConvolutionUnit::Apply(int x, Convolution convolution, Activation activation) const {
  convolution.bias = !keep_batch_normalization_;
  int y = builder_.Conv(x, convolution);
  if (keep_batch_normalization_) y = builder_.BatchNormalization(y);
  if (activation == Activation::kRelu) return builder_.Relu(y);
  if (activation == Activation::kRelu6) return builder_.Clip(y, 0, 6);
  return y;
}

int ImageInput(ModelBuilder& builder, const ModelOptions& options, std::int64_t usual_size) {
  const std::int64_t size = options.image.value_or(usual_size);
  return builder.Input("image", DataType::kFloat32, {options.batch.value_or(1), 3, size, size});
}

}  // namespace millrace

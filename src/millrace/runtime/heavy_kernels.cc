// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/heavy_kernels.h"

#include "millrace/runtime/activation.h"
#include "millrace/runtime/byte_average.h"
#include "millrace/runtime/byte_pooling.h"
#include "millrace/runtime/channel_affine_kernel.h"
#include "millrace/runtime/concatenation.h"
#include "millrace/runtime/convolution.h"
#include "millrace/runtime/convolution_transpose.h"
#include "millrace/runtime/einsum.h"
#include "millrace/runtime/group_normalization.h"
#include "millrace/runtime/matrix_product.h"
#include "millrace/runtime/normalization.h"
#include "millrace/runtime/pooling.h"
#include "millrace/runtime/quantized_convolution.h"
#include "millrace/runtime/quantized_product.h"
#include "millrace/runtime/same_shape_arithmetic.h"
#include "millrace/runtime/softmax.h"

namespace millrace {

std::vector<KernelEntry> HeavyKernels() {
  std::vector<KernelEntry> all;
  for (const auto kernels :
       {ActivationKernels, ByteAverageKernels, BytePoolingKernels, ChannelAffineKernels, ConcatenationKernels,
        ConvolutionKernels, ConvolutionTransposeKernels, EinsumKernels, MatrixProductKernels, NormalizationKernels,
        GroupNormalizationKernels, PoolingKernels, QuantizedConvolutionKernels, QuantizedProductKernels,
        SameShapeArithmeticKernels, SoftmaxKernels}) {
    const std::vector<KernelEntry> some = kernels();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace millrace

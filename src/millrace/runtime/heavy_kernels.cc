// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/heavy_kernels.h"

#include "millrace/runtime/activation.h"
#include "millrace/runtime/convolution.h"
#include "millrace/runtime/matrix_product.h"

namespace millrace {

std::vector<KernelEntry> HeavyKernels() {
  std::vector<KernelEntry> all;
  for (const auto kernels : {ActivationKernels, ConvolutionKernels, MatrixProductKernels}) {
    const std::vector<KernelEntry> some = kernels();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace millrace

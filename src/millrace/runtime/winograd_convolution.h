// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "millrace/runtime/epilogue.h"
#include "millrace/runtime/kernel.h"

// Conv with windows of three by three in steps of one by Winograd's way (winograd.h). Inputs are transformed to 36
// matrices, tiles by channels, each is multiplied with transformed weights by a convolution of oneDNN's with a
// window of one position, and results are transformed back with bias, residual and bounds. Where channels lie
// innermost (convolution_layout.h), each worker of a gang has tiles to itself, unless there are more weights than
// numbers of tiles; else a gang shares out rows of tiles in blocks of channels, then matrices, then rows again:
// three phases, as often as what is in between fits in some memory. Rounding errors are 1e-6 of the results' root
// mean square, those of sums of products 2e-7.
namespace millrace {

// Whether this kernel has what such a Conv and its epilogue need: constant weights, one group, four dimensions, no
// activation but bounds.
bool CanTakeWinograd(const Model& model, const Epilogue& epilogue);

// Whether it is the faster one: few channels or tiles cost more to transform than multiplications saved, and with
// AVX-512 oneDNN has a Winograd's way of its own, which small images are left to.
bool WinogradPays(const KernelRequest& request, const Epilogue& epilogue);

// The request's nodes are those of the epilogue.
std::unique_ptr<Kernel> MakeWinogradConvolution(const KernelRequest& request, const Epilogue& epilogue);

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/runtime/kernel.h"

// How the tensors of a float32 convolution lie, and what a gang shares out of its result. In blocks, a gang can share
// out output channels: each worker reads its share of the weights and the whole input, of which others have made half
// or more. With the channels innermost, rows are contiguous. A gang can share out those: each worker reads all weights
// and goes on from the rows that it has made itself. Fewer bytes decide.
namespace millrace {

// Whether a gang of so many workers shares out a result of this shape by whole images, of which none needs another.
bool AreImagesShared(const Shape& shape, int workers);

// Whether a gang shares out the rows of a result of this shape: there are enough for even shares, images would not do,
// and the tensors may lie with the channels innermost.
bool AreRowsShared(const Shape& shape, int workers);

// The layout for a convolution with so many bytes of weights that reads value `source` and makes a result of this shape
// in four dimensions. One worker takes its source as it is at hand.
Layout ConvolutionLayout(const KernelRequest& request, int source, std::int64_t weight_bytes, const Shape& result);

}  // namespace millrace

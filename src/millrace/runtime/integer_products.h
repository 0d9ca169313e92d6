// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "millrace/formats/model.h"

// What of integers of 8 bits oneDNN multiplies exactly on this processor.
namespace millrace {

dnnl::memory::data_type ByteTypeOf(DataType type);  // of kInt8 and kUint8

// A row-major tensor of this shape.
dnnl::memory::desc PlainOf(const Shape& shape, dnnl::memory::data_type type);

// The same with the second dimension innermost.
dnnl::memory::desc ChannelsLastOf(const Shape& shape, dnnl::memory::data_type type);

// Whether sums of products with these weights, whole numbers within [-128, 127], come out exact. Processors with VNNI
// add in 32 bits. Others add two products in 16 bits first, so that two weights of a row must not be too large for the
// largest byte, and they halve weights for signed sources. `per_row`: weights in a row that is summed.
bool SumsAreExact(const std::vector<float>& weights, std::size_t per_row, DataType source);

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/runtime/kernel.h"
#include "millrace/runtime/work_share.h"

// The sliding window of convolutions and pools, out of a node's attributes: kernel, strides, dilations, padding.
namespace millrace {

struct SlidingWindow {
  Shape kernel;
  Shape strides;
  Shape dilations;
  Shape pads_begin;
  Shape pads_end;      // as the attributes say
  Shape output;        // spatial sizes of the result
  Shape reaching_end;  // what the padding at the end must be for the windows of `output` to fit (ceil_mode)
};

// The window of `node` over an input of these spatial sizes. `kernel` is used where the node has no kernel_shape.
// Throws InvalidInput on attributes of the wrong number or value, or a window larger than its padded input.
SlidingWindow WindowOf(const Node& node, const Shape& spatial, const Shape& kernel);

// Whether a window may lie in padding alone.
bool MayBePadding(const SlidingWindow& window);

// Some rows of the result (the first spatial dimension): which of the source's `rows` rows they read, and what padding
// is left before and behind those.
struct RowBand {
  Share source;
  std::int64_t before = 0;
  std::int64_t behind = 0;
};
RowBand RowBandOf(const SlidingWindow& window, Share result, std::int64_t rows);

}  // namespace millrace

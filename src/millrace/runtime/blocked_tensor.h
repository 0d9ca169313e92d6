// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "millrace/runtime/kernel.h"
#include "millrace/runtime/work_share.h"

// Parts of tensors with images and channels in front, in any layout, as oneDNN and our loops address them.
namespace millrace {

// oneDNN's description of a tensor of this shape in this layout.
dnnl::memory::desc DescriptionOf(const Shape& shape, Layout layout);

// Bytes from the tensor's beginning to the first element of this image and channel; a channel inside a block has
// no beginning of its own, and of channels innermost all but the first lie between others.
std::size_t OffsetOf(const Shape& shape, Layout layout, std::int64_t image, std::int64_t channel);

// Dimensions from `axis` on, multiplied.
std::int64_t ElementsFrom(const Shape& shape, std::size_t axis);

// Some images and some channels: contiguous in memory, because it is all channels or one image.
struct ChannelPart {
  Share images;
  Share channels;
};

// Elements from the beginning of a tensor with its channels innermost to this row.
std::size_t RowOffset(const Shape& shape, std::int64_t image, std::int64_t row);

// A worker's share of work done channel by channel.
std::vector<ChannelPart> ChannelPartsOf(const Shape& shape, Layout layout, int workers, int worker);

}  // namespace millrace

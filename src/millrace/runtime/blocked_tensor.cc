// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/blocked_tensor.h"

#include "millrace/runtime/primitive_kernel.h"
#include "millrace/runtime/reorder.h"

namespace millrace {

dnnl::memory::desc DescriptionOf(const Shape& shape, Layout layout) {
  if (layout == Layout::kPlain) return PlainDescription(shape);
  if (layout == Layout::kChannelsLast) {
    return {shape, dnnl::memory::data_type::f32, dnnl::memory::format_tag::nhwc};
  }
  const bool wide = ChannelBlock() == kWideBlock;
  return {shape, dnnl::memory::data_type::f32,
          wide ? dnnl::memory::format_tag::nChw16c : dnnl::memory::format_tag::nChw8c};
}

std::size_t OffsetOf(const Shape& shape, Layout layout, std::int64_t image, std::int64_t channel) {
  const std::int64_t channels =
      layout == Layout::kBlocked ? (shape[1] + ChannelBlock() - 1) / ChannelBlock() * ChannelBlock() : shape[1];
  const std::int64_t pixels = ElementsFrom(shape, 2);
  const std::int64_t apart = layout == Layout::kChannelsLast ? 1 : pixels;  // channels, one from the next
  return static_cast<std::size_t>(image * channels * pixels + channel * apart) * sizeof(float);
}

std::int64_t ElementsFrom(const Shape& shape, std::size_t axis) {
  std::int64_t product = 1;
  for (std::size_t i = axis; i < shape.size(); ++i) product *= shape[i];
  return product;
}

std::size_t RowOffset(const Shape& shape, std::int64_t image, std::int64_t row) {
  return static_cast<std::size_t>((image * shape[2] + row) * shape[1] * ElementsFrom(shape, 3));
}

std::vector<ChannelPart> ChannelPartsOf(const Shape& shape, Layout layout, int workers, int worker) {
  std::vector<ChannelPart> parts;
  if (shape[0] % workers == 0) {
    parts.push_back({ShareOf(shape[0], workers, worker), {0, shape[1]}});
    return parts;
  }
  const Share channels = ShareOf(shape[1], workers, worker, layout == Layout::kPlain ? 1 : ChannelBlock());
  if (channels.size() == 0) return parts;
  for (std::int64_t image = 0; image < shape[0]; ++image) parts.push_back({{image, image + 1}, channels});
  return parts;
}

}  // namespace millrace

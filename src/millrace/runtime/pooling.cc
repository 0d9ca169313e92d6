// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/pooling.h"

#include <algorithm>
#include <string_view>

#include "millrace/runtime/blocked_tensor.h"
#include "millrace/runtime/primitive_kernel.h"
#include "millrace/runtime/refusal.h"
#include "millrace/runtime/reorder.h"
#include "millrace/runtime/window.h"
#include "millrace/runtime/work_share.h"

namespace millrace {
namespace {

bool IsGlobal(const Node& node) { return node.op_type.starts_with("Global"); }

SlidingWindow PoolWindowOf(const Node& node, const Shape& source) {
  const Shape spatial(source.begin() + 2, source.end());
  return WindowOf(node, spatial, IsGlobal(node) ? spatial : Shape{});
}

class PoolingKernel : public PrimitiveKernel {
 public:
  explicit PoolingKernel(const KernelRequest& request) : PrimitiveKernel(request) {
    const Node& node = request.model->nodes[static_cast<std::size_t>(request.nodes.front())];
    const Shape source_shape = input_specs_.front().shape;
    const Shape output_shape = output_specs_.front().shape;
    const Layout layout = LayoutFor(request, node, source_shape, output_shape);
    input_specs_.front().layout = layout;
    output_specs_.front().layout = layout;
    for (int worker = 0; worker < workers(); ++worker) {
      if (layout == Layout::kChannelsLast) {
        ForOwnRows(output_shape[0], output_shape[2], workers(), worker,
                   [&](std::int64_t image, Share rows) { AddRows(worker, node, image, rows); });
        continue;
      }
      for (const ChannelPart& part : ChannelPartsOf(source_shape, layout, workers(), worker)) {
        Shape source = source_shape;
        Shape output = output_shape;
        source[0] = output[0] = part.images.size();
        source[1] = output[1] = part.channels.size();
        const auto description = Describe(node, source, output, layout, PoolWindowOf(node, source));
        AddPrimitive(0, worker, dnnl::pooling_v2_forward(description), description.scratchpad_desc(),
                     {{DNNL_ARG_SRC, description.src_desc(),
                       Operand::Input(0, OffsetOf(source_shape, layout, part.images.begin, part.channels.begin))},
                      {DNNL_ARG_DST, description.dst_desc(),
                       Operand::Output(0, OffsetOf(output_shape, layout, part.images.begin, part.channels.begin))}});
      }
    }
  }

 private:
  // As the source is at hand, but for rows of pixels where oneDNN has only simple loops for those, ten times slower.
  Layout LayoutFor(const KernelRequest& request, const Node& node, const Shape& source, const Shape& output) const {
    if (!CanBeBlocked(DataType::kFloat32, source)) return Layout::kPlain;
    const Layout available = request.available[static_cast<std::size_t>(inputs_.front())];
    if (available != Layout::kPlain) return available;
    const std::string_view plain =
        Describe(node, source, output, Layout::kPlain, PoolWindowOf(node, source)).impl_info_str();
    return plain.starts_with("jit") ? Layout::kPlain : Layout::kBlocked;
  }

  // Some rows of an image's result, with the channels innermost.
  void AddRows(int worker, const Node& node, std::int64_t image, Share rows) {
    Shape source = input_specs_.front().shape, output = output_specs_.front().shape;
    SlidingWindow window = PoolWindowOf(node, source);
    const RowBand band = RowBandOf(window, rows, source[2]);
    const Operand from = Operand::Input(0, RowOffset(source, image, band.source.begin) * sizeof(float));
    const Operand to = Operand::Output(0, RowOffset(output, image, rows.begin) * sizeof(float));
    source[0] = output[0] = 1;
    source[2] = band.source.size();
    output[2] = rows.size();
    window.pads_begin[0] = band.before;
    window.pads_end[0] = window.reaching_end[0] = band.behind;
    const auto description = Describe(node, source, output, Layout::kChannelsLast, window);
    AddPrimitive(0, worker, dnnl::pooling_v2_forward(description), description.scratchpad_desc(),
                 {{DNNL_ARG_SRC, description.src_desc(), from}, {DNNL_ARG_DST, description.dst_desc(), to}});
  }

  static dnnl::pooling_v2_forward::primitive_desc Describe(const Node& node, const Shape& source, const Shape& output,
                                                           Layout layout, SlidingWindow window) {
    for (std::int64_t& dilation : window.dilations) --dilation;
    for (std::size_t axis = 0; axis < window.pads_end.size(); ++axis)
      window.pads_end[axis] = std::max(window.pads_end[axis], window.reaching_end[axis]);
    dnnl::algorithm algorithm = dnnl::algorithm::pooling_max;
    if (node.op_type.ends_with("AveragePool")) {
      algorithm = Model::IntOf(node, "count_include_pad", 0) != 0 ? dnnl::algorithm::pooling_avg_include_padding
                                                                  : dnnl::algorithm::pooling_avg_exclude_padding;
    }
    return {
        {dnnl::prop_kind::forward_inference, algorithm, DescriptionOf(source, layout), DescriptionOf(output, layout),
         window.strides, window.kernel, window.dilations, window.pads_begin, window.pads_end},
        PrimitiveAttributes(),
        CpuEngine()};
  }
};

std::unique_ptr<Kernel> MakePooling(const KernelRequest& request) { return std::make_unique<PoolingKernel>(request); }

std::string UnsupportedPooling(const Model& model, int node) {
  if (std::string reason = RefuseOutput(model, node, 1, "Indices"); !reason.empty()) return reason;
  if (std::string reason = RefuseTypes(model, node); !reason.empty()) return reason;
  if (std::string reason = RefuseConstant(model, node); !reason.empty()) return reason;
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  const Shape& source = model.values[static_cast<std::size_t>(of.inputs[0])].shape;
  if (source.size() < 3 || source.size() > 5)
    return of.op_type + " with " + std::to_string(static_cast<int>(source.size()) - 2) + " spatial dimensions";
  const SlidingWindow window = PoolWindowOf(of, source);
  for (std::size_t axis = 0; axis < window.kernel.size(); ++axis) {
    if (window.pads_begin[axis] >= window.kernel[axis] || window.pads_end[axis] >= window.kernel[axis])
      return of.op_type + " with padding as wide as its window";
    if (Model::IntOf(of, "count_include_pad", 0) != 0 && window.reaching_end[axis] > window.pads_end[axis])
      return of.op_type + " with count_include_pad and windows past the padding";
  }
  return "";
}

}  // namespace

std::vector<KernelEntry> PoolingKernels() {
  std::vector<KernelEntry> entries;
  for (const char* type : {"AveragePool", "GlobalAveragePool", "GlobalMaxPool", "MaxPool"})
    entries.push_back({type, MakePooling, UnsupportedPooling});
  return entries;
}

}  // namespace millrace

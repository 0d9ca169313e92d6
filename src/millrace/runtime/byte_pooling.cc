// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/byte_pooling.h"

#include <algorithm>
#include <limits>

#include "millrace/runtime/blocked_tensor.h"
#include "millrace/runtime/integer_products.h"
#include "millrace/runtime/position_windows.h"
#include "millrace/runtime/primitive_kernel.h"
#include "millrace/runtime/refusal.h"
#include "millrace/runtime/reorder.h"
#include "millrace/runtime/window.h"
#include "millrace/runtime/work_share.h"

namespace millrace {
namespace {

SlidingWindow PoolingWindow(const Model& model, const Node& node) {
  const Shape& source = model.values[static_cast<std::size_t>(node.inputs[0])].shape;
  return WindowOf(node, Shape(source.begin() + 2, source.end()), {});
}

// oneDNN's kernel for AVX2 ends a row of channels that fills no whole register by a masked store, which begins up to 28
// bytes before the tensor. AMD's processors fault there where that page is not mapped, though nothing is written.
constexpr std::int64_t kRegisterBytes = 32;

// Of windows over the positions of one image, each of them `channels` bytes side by side.
template <typename Byte>
void TakeLargest(const PositionWindows& windows, std::int64_t channels, const Byte* image, Share rows, Byte* to) {
  windows.ForResults(rows, [&](const PositionWindows::Place& at) {
    std::fill_n(to, channels, std::numeric_limits<Byte>::lowest());
    windows.ForSources(at, [&](std::int64_t position) {
      const Byte* from = image + position * channels;
      for (std::int64_t channel = 0; channel < channels; ++channel) to[channel] = std::max(to[channel], from[channel]);
    });
    to += channels;
  });
}

class BytePooling : public PrimitiveKernel {
 public:
  explicit BytePooling(const KernelRequest& request) : PrimitiveKernel(request) {
    const Node& node = request.model->nodes[static_cast<std::size_t>(request.nodes.front())];
    window_ = PoolingWindow(*request.model, node);
    source_ = input_specs_.front().shape;
    result_ = output_specs_.front().shape;
    type_ = ByteTypeOf(input_specs_.front().type);
    input_specs_.front().layout = output_specs_.front().layout = Layout::kChannelsLast;
    for (int worker = 0; worker < workers(); ++worker) {
      ForOwnRows(result_[0], result_[2], workers(), worker, [&](std::int64_t image, Share rows) {
        if (source_[1] % kRegisterBytes == 0) {
          AddRows(worker, image, rows);
        } else if (type_ == dnnl::memory::data_type::u8) {
          AddLoops<std::uint8_t>(worker, image, rows);
        } else {
          AddLoops<std::int8_t>(worker, image, rows);
        }
      });
    }
  }

 private:
  template <typename Byte>
  void AddLoops(int worker, std::int64_t image, Share rows) {
    const Operand from = Operand::Input(0, RowOffset(source_, image, 0));
    const Operand to = Operand::Output(0, RowOffset(result_, image, rows.begin));
    AddTask(0, worker,
            [windows = PositionWindows(window_, source_), channels = source_[1], from, to,
             rows](const KernelBuffers& buffers) {
              TakeLargest(windows, channels, reinterpret_cast<const Byte*>(from.Read(buffers)), rows,
                          reinterpret_cast<Byte*>(to.Write(buffers)));
            });
  }

  void AddRows(int worker, std::int64_t image, Share rows) {
    const RowBand band = RowBandOf(window_, rows, source_[2]);
    Shape source = source_, result = result_, dilations = window_.dilations, before = window_.pads_begin,
          behind = window_.pads_end;
    source[0] = result[0] = 1;
    source[2] = band.source.size();
    result[2] = rows.size();
    before[0] = band.before;
    behind[0] = band.behind;
    for (std::size_t axis = 1; axis < behind.size(); ++axis)
      behind[axis] = std::max(behind[axis], window_.reaching_end[axis]);
    for (std::int64_t& dilation : dilations) --dilation;
    const dnnl::pooling_v2_forward::primitive_desc description(
        {dnnl::prop_kind::forward_inference, dnnl::algorithm::pooling_max, ChannelsLastOf(source, type_),
         ChannelsLastOf(result, type_), window_.strides, window_.kernel, dilations, before, behind},
        PrimitiveAttributes(), CpuEngine());
    AddPrimitive(
        0, worker, dnnl::pooling_v2_forward(description), description.scratchpad_desc(),
        {{DNNL_ARG_SRC, description.src_desc(), Operand::Input(0, RowOffset(source_, image, band.source.begin))},
         {DNNL_ARG_DST, description.dst_desc(), Operand::Output(0, RowOffset(result_, image, rows.begin))}});
  }

  SlidingWindow window_;
  Shape source_, result_;
  dnnl::memory::data_type type_ = dnnl::memory::data_type::u8;
};

std::string UnsupportedBytePooling(const Model& model, int node) {
  if (std::string reason = RefuseOutput(model, node, 1, "Indices"); !reason.empty()) return reason;
  if (std::string reason = RefuseConstant(model, node); !reason.empty()) return reason;
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  const Value& source = model.values[static_cast<std::size_t>(of.inputs[0])];
  if (!CanHaveChannelsLast(source.type, source.shape) || BytesOf(source.type) != 1)
    return of.op_type + " on " + NameOf(source.type);
  return MayBePadding(PoolingWindow(model, of)) ? of.op_type + " with windows that are padding" : "";
}

std::unique_ptr<Kernel> MakeBytePooling(const KernelRequest& request) { return std::make_unique<BytePooling>(request); }

}  // namespace

std::vector<KernelEntry> BytePoolingKernels() { return {{"MaxPool", MakeBytePooling, UnsupportedBytePooling}}; }

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/byte_average.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "millrace/runtime/blocked_tensor.h"
#include "millrace/runtime/integer_products.h"
#include "millrace/runtime/position_windows.h"
#include "millrace/runtime/primitive_kernel.h"
#include "millrace/runtime/quantization.h"
#include "millrace/runtime/refusal.h"
#include "millrace/runtime/reorder.h"
#include "millrace/runtime/window.h"
#include "millrace/runtime/work_share.h"
#include "millrace/vector/vector_loops.h"

namespace millrace {
namespace {

// The most positions of a window, so that sums stay within 32 bits.
constexpr std::int64_t kMostPositions = std::int64_t{1} << 22;

SlidingWindow AveragedWindow(const Model& model, const Node& node) {
  const Shape& source = model.values[static_cast<std::size_t>(node.inputs[0])].shape;
  const Shape spatial(source.begin() + 2, source.end());
  Node pool = node;
  if (node.op_type == "QLinearGlobalAveragePool") pool.attributes = {{"kernel_shape", Attribute(spatial)}};
  return WindowOf(pool, spatial, {});
}

template <typename Byte>
MILLRACE_INLINE void AddBytes(const Byte* from, std::int32_t* sums, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) sums[i] += from[i];
}

// Stores (sum - `less`) x factor + zero point.
template <typename Byte>
MILLRACE_INLINE void StoreSums(const std::int32_t* sums, Byte* to, std::int64_t count, std::int32_t less, float factor,
                               float zero) {
  constexpr auto kLow = static_cast<float>(std::numeric_limits<Byte>::min());
  constexpr auto kHigh = static_cast<float>(std::numeric_limits<Byte>::max());
  for (std::int64_t i = 0; i < count; ++i) {
    const float number = static_cast<float>(sums[i] - less) * factor;
    to[i] = static_cast<Byte>(static_cast<std::int32_t>(RoundedWithin(number, kLow - zero, kHigh - zero) + zero));
  }
}

// What the averages are stored by.
struct AverageScaling {
  std::int32_t source_zero = 0;
  float factor = 1;  // scale of the source over that of the result
  float result_zero = 0;
  bool count_padding = false;
};

template <typename Byte>
class Averages {
 public:
  Averages(const PositionWindows& windows, std::int64_t channels, const AverageScaling& by)
      : windows_(windows), channels_(channels), by_(by) {}

  void Take(const Byte* image, Share rows, Byte* to) const {
    windows_.ForResults(rows, [&](const PositionWindows::Place& at) {
      for (std::int64_t channel = 0; channel < channels_; channel += kBlock)
        TakeAt(image + channel, at, std::min(kBlock, channels_ - channel), to + channel);
      to += channels_;
    });
  }

 private:
  static constexpr std::int64_t kBlock = 256;  // channels whose sums stay in the nearest cache

  void TakeAt(const Byte* image, const PositionWindows::Place& at, std::int64_t channels, Byte* to) const {
    std::array<std::int32_t, kBlock> sums{};
    std::int32_t positions = 0;
    windows_.ForSources(at, [&](std::int64_t position) {
      add_(image + position * channels_, sums.data(), channels);
      ++positions;
    });
    const std::int64_t divisor = by_.count_padding ? windows_.WindowSize() : positions;
    store_(sums.data(), to, channels, positions * by_.source_zero, by_.factor / static_cast<float>(divisor),
           by_.result_zero);
  }

  PositionWindows windows_;
  std::int64_t channels_;
  AverageScaling by_;
  decltype(Versions<&AddBytes<Byte>>::Best()) add_ = Versions<&AddBytes<Byte>>::Best();
  decltype(Versions<&StoreSums<Byte>>::Best()) store_ = Versions<&StoreSums<Byte>>::Best();
};

class ByteAverage : public PrimitiveKernel {
 public:
  explicit ByteAverage(const KernelRequest& request) : PrimitiveKernel(request) {
    const Model& model = *request.model;
    const Node& node = model.nodes[static_cast<std::size_t>(request.nodes.front())];
    const Shape source = input_specs_.front().shape, result = output_specs_.front().shape;
    const PositionWindows windows(AveragedWindow(model, node), source);
    const Quantization from = *QuantizationAt(model, node, 1), to = *QuantizationAt(model, node, 3);
    const AverageScaling by = {from.zero_point[0], from.scale[0] / to.scale[0], static_cast<float>(to.zero_point[0]),
                               Model::IntOf(node, "count_include_pad", 0) != 0};
    input_specs_.front().layout = output_specs_.front().layout = Layout::kChannelsLast;
    for (int worker = 0; worker < workers(); ++worker) {
      ForOwnRows(result[0], result[2], workers(), worker, [&](std::int64_t image, Share rows) {
        const Operand read = Operand::Input(0, RowOffset(source, image, 0));
        const Operand made = Operand::Output(0, RowOffset(result, image, rows.begin));
        if (input_specs_.front().type == DataType::kUint8) {
          AddRows(worker, Averages<std::uint8_t>(windows, source[1], by), read, made, rows);
        } else {
          AddRows(worker, Averages<std::int8_t>(windows, source[1], by), read, made, rows);
        }
      });
    }
  }

 private:
  template <typename Byte>
  void AddRows(int worker, const Averages<Byte>& averages, const Operand& from, const Operand& to, Share rows) {
    AddTask(0, worker, [averages, from, to, rows](const KernelBuffers& buffers) {
      averages.Take(reinterpret_cast<const Byte*>(from.Read(buffers)), rows,
                    reinterpret_cast<Byte*>(to.Write(buffers)));
    });
  }
};

std::string UnsupportedByteAverage(const Model& model, int node) {
  if (std::string reason = RefuseConstant(model, node); !reason.empty()) return reason;
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  const Value& source = model.values[static_cast<std::size_t>(of.inputs[0])];
  if (!CanHaveChannelsLast(source.type, source.shape) || BytesOf(source.type) != 1)
    return of.op_type + " on " + NameOf(source.type);
  if (model.values[static_cast<std::size_t>(of.outputs[0])].type != source.type) return of.op_type + " to another type";
  if (Model::IntOf(of, "channels_last", 0) != 0) return of.op_type + " with channels_last";
  const auto from = QuantizationAt(model, of, 1), to = QuantizationAt(model, of, 3);
  if (!from || !to || !from->whole() || !to->whole())
    return of.op_type + " of this form (scales and zero points are constants here, one for all)";
  const SlidingWindow window = AveragedWindow(model, of);
  if (MayBePadding(window)) return of.op_type + " with windows that are padding";
  std::int64_t positions = 1;
  for (std::size_t axis = 0; axis < window.kernel.size(); ++axis) {
    const std::int64_t extent = window.kernel[axis];
    if (extent > kMostPositions / positions) return of.op_type + " with a window of so many positions";
    positions *= extent;
    if (Model::IntOf(of, "count_include_pad", 0) != 0 && window.reaching_end[axis] > window.pads_end[axis])
      return of.op_type + " with count_include_pad and windows past the padding";
  }
  return "";
}

std::unique_ptr<Kernel> MakeByteAverage(const KernelRequest& request) { return std::make_unique<ByteAverage>(request); }

}  // namespace

std::vector<KernelEntry> ByteAverageKernels() {
  return {{"com.microsoft.QLinearAveragePool", MakeByteAverage, UnsupportedByteAverage},
          {"com.microsoft.QLinearGlobalAveragePool", MakeByteAverage, UnsupportedByteAverage}};
}

}  // namespace millrace

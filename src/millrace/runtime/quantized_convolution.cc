// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/quantized_convolution.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include "millrace/runtime/blocked_tensor.h"
#include "millrace/runtime/integer_products.h"
#include "millrace/runtime/one_node_kernel.h"
#include "millrace/runtime/primitive_kernel.h"
#include "millrace/runtime/quantization.h"
#include "millrace/runtime/value_readers.h"
#include "millrace/runtime/window.h"
#include "millrace/runtime/work_share.h"

namespace millrace {
namespace {

constexpr float kMostExact = 16777216;  // 2^24
constexpr float kMiddleOfUnsigned = 128;

// What the node's numbers are; nothing where the kernel does not know such a node, with the reason in `why`.
struct ConvolutionNumbers {
  int source = -1, weights = -1;           // values
  std::vector<std::int32_t> weights_zero;  // one, or by output channel
  std::int32_t source_zero = 0;            // where it is constant
  int computed_zero = -1;                  // the value that has it, where it is computed
  bool stores = false;                     // QLinearConv
  std::vector<float> factor;               // by output channel: of the sums; 1 where they stay
  std::vector<std::int32_t> bias;          // by output channel
  std::int32_t result_zero = 0;
};

// The weights less their zero points, [output channel, input channel, kernel...].
std::vector<float> CentredWeights(const Model& model, const ConvolutionNumbers& numbers) {
  const ConstantData& weights = *ConstantOf(model, numbers.weights);
  const std::vector<std::int64_t> stored = weights.AsInt64s();
  const std::size_t per_channel = stored.size() / static_cast<std::size_t>(weights.shape().front());
  std::vector<float> centred(stored.size());
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const std::size_t channel = numbers.weights_zero.size() == 1 ? 0 : i / per_channel;
    centred[i] = static_cast<float>(stored[i] - numbers.weights_zero[channel]);
  }
  return centred;
}

// Whether they are bytes with a sign.
bool AreBytesWithSign(const std::vector<float>& weights) {
  return std::all_of(weights.begin(), weights.end(),
                     [](float weight) { return std::abs(weight + 0.5f) < kMiddleOfUnsigned; });
}

bool SumsFitInFloats(const std::vector<float>& weights, std::size_t channels) {
  const std::size_t per_channel = weights.size() / channels;
  for (std::size_t c = 0; c < channels; ++c) {
    float most = 0;
    for (std::size_t i = c * per_channel; i < (c + 1) * per_channel; ++i) most += std::abs(weights[i]);
    if (255 * most > kMostExact) return false;
  }
  return true;
}

std::optional<ConvolutionNumbers> ConvolutionNumbersOf(const Model& model, int node_id, std::string* why) {
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const auto refuse = [&](const std::string& what) {
    *why = node.op_type + " " + what;
    return std::nullopt;
  };
  ConvolutionNumbers numbers;
  numbers.stores = node.op_type == "QLinearConv";
  const std::size_t weights_at = numbers.stores ? 3 : 1;
  numbers.source = node.inputs[0];
  numbers.weights = node.inputs[weights_at];
  const Value& source = model.values[static_cast<std::size_t>(numbers.source)];
  const ConstantData* weights = ConstantOf(model, numbers.weights);
  if (source.constant != nullptr) return refuse("of a constant");
  if (weights == nullptr) return refuse("with computed weights");
  for (const DataType type : {source.type, weights->type()}) {
    if (type != DataType::kInt8 && type != DataType::kUint8) return refuse(std::string("on ") + NameOf(type));
  }
  if (source.shape.size() < 3 || source.shape.size() > 5 || weights->shape().size() != source.shape.size())
    return refuse("with " + std::to_string(static_cast<int>(source.shape.size()) - 2) + " spatial dimensions");
  if (ElementsOf(source.shape) == 0 || ElementsOf(weights->shape()) == 0) return refuse("on a tensor without elements");
  const auto channels = static_cast<std::size_t>(weights->shape()[0]);
  const auto fits = [channels](std::size_t count) { return count == 1 || count == channels; };
  const auto weight_zeros = ZeroPointsAt(model, node, numbers.stores ? 5 : 3);
  if (!weight_zeros || !fits(weight_zeros->size())) return refuse("with computed zero points");
  numbers.weights_zero = *weight_zeros;
  numbers.factor.assign(channels, 1.0f);
  numbers.bias.assign(channels, 0);
  if (numbers.stores) {
    const auto source_by = QuantizationAt(model, node, 1), weights_by = QuantizationAt(model, node, 4),
               result_by = QuantizationAt(model, node, 6);
    if (!source_by || !result_by || !weights_by || !source_by->whole() || !result_by->whole() ||
        !fits(weights_by->scale.size()))
      return refuse("whose scales are computed or of another form");
    numbers.source_zero = source_by->zero_point.front();
    numbers.result_zero = result_by->zero_point.front();
    for (std::size_t c = 0; c < channels; ++c) {
      const float weight_scale = weights_by->scale[weights_by->whole() ? 0 : c];
      numbers.factor[c] = source_by->scale.front() * weight_scale / result_by->scale.front();
    }
    if (node.inputs.size() > 8 && node.inputs[8] >= 0) {
      const ConstantData* bias = ConstantOf(model, node.inputs[8]);
      if (bias == nullptr || bias->type() != DataType::kInt32 || ElementsOf(bias->shape()) != weights->shape()[0])
        return refuse("with a bias that is no constant of int32");
      const std::vector<std::int64_t> wide = bias->AsInt64s();
      std::copy(wide.begin(), wide.end(), numbers.bias.begin());
    }
  } else if (const auto zero = ZeroPointsAt(model, node, 2)) {
    numbers.source_zero = zero->front();
  } else {
    numbers.computed_zero = node.inputs[2];
    if (ElementsOf(model.values[static_cast<std::size_t>(numbers.computed_zero)].shape) != 1)
      return refuse("with several zero points for its input");
  }
  return numbers;
}

template <typename Stored>
MILLRACE_INLINE void Centre(const std::byte* in, float* out, std::int64_t count, float zero) {
  const auto* from = reinterpret_cast<const Stored*>(in);
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(static_cast<std::int32_t>(from[i])) - zero;
}

template <typename Stored>
MILLRACE_INLINE void NarrowSums(const float* sums, std::byte* out, std::int64_t count, float factor, float bias,
                                float zero, float low, float high) {
  auto* to = reinterpret_cast<Stored*>(out);
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = static_cast<Stored>(
        static_cast<std::int32_t>(RoundedWithin((sums[i] + bias) * factor, low - zero, high - zero) + zero));
}

class QuantizedConvolution : public PrimitiveKernel {
 public:
  QuantizedConvolution(const KernelRequest& request, ConvolutionNumbers numbers)
      : PrimitiveKernel(request), numbers_(std::move(numbers)) {
    const Model& model = *request.model;
    const Node& node = model.nodes[static_cast<std::size_t>(request.nodes.front())];
    const Value& source = model.values[static_cast<std::size_t>(numbers_.source)];
    const Value& result = model.values[static_cast<std::size_t>(node.outputs.front())];
    source_type_ = source.type;
    result_type_ = result.type;
    source_shape_ = source.shape;
    result_shape_ = result.shape;
    weights_shape_ = model.values[static_cast<std::size_t>(numbers_.weights)].shape;
    groups_ = Model::IntOf(node, "group", 1);
    window_ = WindowOf(node, Shape(source_shape_.begin() + 2, source_shape_.end()),
                       Shape(weights_shape_.begin() + 2, weights_shape_.end()));
    whole_weights_ = CentredWeights(model, numbers_);
    on_bytes_ = numbers_.stores && AreBytesWithSign(whole_weights_) && OneDnnTakesBytes();
    if (on_bytes_) input_specs_.front().layout = output_specs_.front().layout = Layout::kChannelsLast;
    for (int worker = 0; worker < workers(); ++worker) {
      ForOwnRows(result_shape_[0], result_shape_[2], workers(), worker, [&](std::int64_t image, Share rows) {
        on_bytes_ ? AddBytes(request, worker, image, rows) : AddFloats(request, worker, image, rows);
      });
    }
    whole_weights_.clear();
    whole_weights_.shrink_to_fit();
  }

 private:
  RowBand BandOf(Share rows) const { return RowBandOf(window_, rows, source_shape_[2]); }

  Shape OneImage(const Shape& shape, std::int64_t rows) const {
    Shape part = shape;
    part[0] = 1;
    part[2] = rows;
    return part;
  }

  Shape WeightsShape() const {
    Shape shape = weights_shape_;
    if (groups_ > 1) {
      shape[0] /= groups_;
      shape.insert(shape.begin(), groups_);
    }
    return shape;
  }

  dnnl::convolution_forward::primitive_desc Describe(Share rows, bool bytes, bool or_empty) const {
    const RowBand band = BandOf(rows);
    const Shape source = OneImage(source_shape_, band.source.size()), result = OneImage(result_shape_, rows.size());
    Shape dilations = window_.dilations, before = window_.pads_begin, behind = window_.pads_end;
    for (std::int64_t& dilation : dilations) --dilation;
    before[0] = band.before;
    behind[0] = band.behind;
    const dnnl::memory::desc weights(WeightsShape(), bytes ? dnnl::memory::data_type::s8 : dnnl::memory::data_type::f32,
                                     dnnl::memory::format_tag::any);
    dnnl::primitive_attr attributes = PrimitiveAttributes();
    if (!bytes) {
      return {{dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, PlainDescription(source),
               weights, PlainDescription(result), window_.strides, dilations, before, behind},
              attributes,
              CpuEngine(),
              or_empty};
    }
    const bool one_factor = std::adjacent_find(numbers_.factor.begin(), numbers_.factor.end(), std::not_equal_to<>()) ==
                            numbers_.factor.end();
    if (one_factor) {
      attributes.set_output_scales(0, {numbers_.factor.front()});
    } else {
      attributes.set_output_scales(1 << 1, numbers_.factor);
    }
    if (numbers_.source_zero != 0) attributes.set_zero_points(DNNL_ARG_SRC, 0, {numbers_.source_zero});
    if (numbers_.result_zero != 0) attributes.set_zero_points(DNNL_ARG_DST, 0, {numbers_.result_zero});
    return {{dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
             ChannelsLastOf(source, ByteTypeOf(source_type_)), weights,
             dnnl::memory::desc({result_shape_[1]}, dnnl::memory::data_type::s32, dnnl::memory::format_tag::a),
             ChannelsLastOf(result, ByteTypeOf(result_type_)), window_.strides, dilations, before, behind},
            attributes,
            CpuEngine(),
            or_empty};
  }

  bool OneDnnTakesBytes() const {
    const std::size_t per_channel = whole_weights_.size() / static_cast<std::size_t>(weights_shape_[0]);
    if (!SumsAreExact(whole_weights_, per_channel, source_type_)) return false;
    const auto description = Describe({0, result_shape_[2]}, true, true);
    return description && !IsReference(description.impl_info_str());
  }

  struct Prepared {
    dnnl::convolution_forward::primitive_desc description;
    dnnl::convolution_forward primitive;
  };
  const Prepared& PreparedFor(Share rows) {
    const auto key = std::pair(rows.begin, rows.end);
    auto found = prepared_.find(key);
    if (found == prepared_.end()) {
      const auto description = Describe(rows, on_bytes_, false);
      found = prepared_.emplace(key, Prepared{description, dnnl::convolution_forward(description)}).first;
    }
    return found->second;
  }

  Operand WeightsOf(const KernelRequest& request, const dnnl::memory::desc& wanted) {
    for (const auto& [description, operand] : kept_) {
      if (description == wanted) return operand;
    }
    kept_.emplace_back(
        wanted, KeepWeights(request, "integers", PlainDescription(WeightsShape()), whole_weights_.data(), wanted));
    return kept_.back().second;
  }

  void AddBytes(const KernelRequest& request, int worker, std::int64_t image, Share rows) {
    const Prepared& prepared = PreparedFor(rows);
    const Operand bias = KeepBias();
    AddPrimitive(0, worker, prepared.primitive, prepared.description.scratchpad_desc(),
                 {{DNNL_ARG_SRC, prepared.description.src_desc(),
                   Operand::Input(0, RowOffset(source_shape_, image, BandOf(rows).source.begin))},
                  {DNNL_ARG_WEIGHTS, prepared.description.weights_desc(),
                   WeightsOf(request, prepared.description.weights_desc())},
                  {DNNL_ARG_BIAS, prepared.description.bias_desc(), bias},
                  {DNNL_ARG_DST, prepared.description.dst_desc(),
                   Operand::Output(0, RowOffset(result_shape_, image, rows.begin))}});
  }

  Operand KeepBias() {
    if (!bias_) bias_ = KeepBytes(numbers_.bias.data(), numbers_.bias.size() * sizeof(std::int32_t));
    return *bias_;
  }

  // Room for so many floats of a worker; shared by its parts, which run one after another.
  Operand ScratchOf(std::vector<std::optional<Operand>>& of, int worker, std::int64_t floats) {
    of.resize(static_cast<std::size_t>(workers()));
    std::optional<Operand>& place = of[static_cast<std::size_t>(worker)];
    if (!place) place = TakeScratch(static_cast<std::size_t>(floats) * sizeof(float));
    return *place;
  }

  void AddFloats(const KernelRequest& request, int worker, std::int64_t image, Share rows) {
    const Prepared& prepared = PreparedFor(rows);
    const RowBand band = BandOf(rows);
    const Operand widened = ScratchOf(widened_, worker, ElementsFrom(source_shape_, 1));
    const Operand sums = ScratchOf(sums_, worker, ElementsFrom(result_shape_, 1));
    AddTask(0, worker, [this, image, band, widened](const KernelBuffers& buffers) {
      Widen(buffers, image, band.source, reinterpret_cast<float*>(widened.Write(buffers)));
    });
    AddPrimitive(0, worker, prepared.primitive, prepared.description.scratchpad_desc(),
                 {{DNNL_ARG_SRC, prepared.description.src_desc(), widened},
                  {DNNL_ARG_WEIGHTS, prepared.description.weights_desc(),
                   WeightsOf(request, prepared.description.weights_desc())},
                  {DNNL_ARG_DST, prepared.description.dst_desc(), sums}});
    AddTask(0, worker, [this, image, rows, sums](const KernelBuffers& buffers) {
      Finish(buffers, image, rows, reinterpret_cast<const float*>(sums.Read(buffers)));
    });
  }

  void Widen(const KernelBuffers& buffers, std::int64_t image, Share rows, float* to) const {
    const std::int64_t row = ElementsFrom(source_shape_, 3), plane = source_shape_[2] * row;
    float zero = static_cast<float>(numbers_.source_zero);
    const bool with_sign = source_type_ == DataType::kInt8;
    if (numbers_.computed_zero >= 0) {
      const std::byte* const at = buffers.inputs[InputIndex(numbers_.computed_zero)];
      zero = with_sign ? static_cast<float>(*reinterpret_cast<const std::int8_t*>(at))
                       : static_cast<float>(*reinterpret_cast<const std::uint8_t*>(at));
    }
    const auto centre = with_sign ? Versions<&Centre<std::int8_t>>::Best() : Versions<&Centre<std::uint8_t>>::Best();
    for (std::int64_t channel = 0; channel < source_shape_[1]; ++channel) {
      const std::byte* const from = buffers.inputs[0] + (image * source_shape_[1] + channel) * plane + rows.begin * row;
      centre(from, to + channel * rows.size() * row, rows.size() * row, zero);
    }
  }

  void Finish(const KernelBuffers& buffers, std::int64_t image, Share rows, const float* sums) const {
    const std::int64_t row = ElementsFrom(result_shape_, 3), plane = result_shape_[2] * row;
    const std::int64_t count = rows.size() * row;
    const auto narrow = result_type_ == DataType::kInt8 ? Versions<&NarrowSums<std::int8_t>>::Best()
                                                        : Versions<&NarrowSums<std::uint8_t>>::Best();
    const StoredRange range = StoredRangeOf(result_type_).value_or(StoredRange{});
    for (std::int64_t channel = 0; channel < result_shape_[1]; ++channel) {
      const auto c = static_cast<std::size_t>(channel);
      const std::int64_t at = (image * result_shape_[1] + channel) * plane + rows.begin * row;
      if (numbers_.stores) {
        narrow(sums + channel * count, buffers.outputs[0] + at, count, numbers_.factor[c],
               static_cast<float>(numbers_.bias[c]), static_cast<float>(numbers_.result_zero),
               static_cast<float>(range.low), static_cast<float>(range.high));
      } else {
        auto* to = reinterpret_cast<std::int32_t*>(buffers.outputs[0]) + at;
        for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<std::int32_t>(sums[channel * count + i]);
      }
    }
  }

  ConvolutionNumbers numbers_;
  std::vector<float> whole_weights_;  // while the kernel is made
  DataType source_type_ = DataType::kUint8, result_type_ = DataType::kUint8;
  Shape source_shape_, result_shape_, weights_shape_;
  std::int64_t groups_ = 1;
  SlidingWindow window_;
  bool on_bytes_ = false;
  std::map<std::pair<std::int64_t, std::int64_t>, Prepared> prepared_;  // by rows of the result
  std::vector<std::pair<dnnl::memory::desc, Operand>> kept_;            // weights
  std::optional<Operand> bias_;
  std::vector<std::optional<Operand>> widened_, sums_;  // by worker
};

std::string UnsupportedQuantized(const Model& model, int node) {
  std::string why;
  const auto numbers = ConvolutionNumbersOf(model, node, &why);
  if (!numbers) return why;
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  const Shape& source = model.values[static_cast<std::size_t>(numbers->source)].shape;
  const Shape& weights = model.values[static_cast<std::size_t>(numbers->weights)].shape;
  if (!numbers->stores && !SumsFitInFloats(CentredWeights(model, *numbers), static_cast<std::size_t>(weights[0])))
    return of.op_type + " whose sums may be above 2^24";
  const SlidingWindow window =
      WindowOf(of, Shape(source.begin() + 2, source.end()), Shape(weights.begin() + 2, weights.end()));
  const std::int64_t extent = (window.kernel[0] - 1) * window.dilations[0] + 1;
  if (window.pads_begin[0] >= extent || window.pads_end[0] >= extent) return of.op_type + " of rows that are padding";
  return "";
}

std::unique_ptr<Kernel> MakeQuantizedConvolution(const KernelRequest& request) {
  std::string why;
  return std::make_unique<QuantizedConvolution>(request,
                                                *ConvolutionNumbersOf(*request.model, request.nodes.front(), &why));
}

}  // namespace

std::vector<KernelEntry> QuantizedConvolutionKernels() {
  return {{"QLinearConv", MakeQuantizedConvolution, UnsupportedQuantized},
          {"ConvInteger", MakeQuantizedConvolution, UnsupportedQuantized}};
}

}  // namespace millrace

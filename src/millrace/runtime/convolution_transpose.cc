// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/convolution_transpose.h"

#include <algorithm>

#include "millrace/runtime/blocked_tensor.h"
#include "millrace/runtime/one_node_kernel.h"
#include "millrace/runtime/primitive_kernel.h"
#include "millrace/runtime/refusal.h"
#include "millrace/runtime/reorder.h"
#include "millrace/runtime/value_readers.h"
#include "millrace/runtime/work_share.h"

namespace millrace {
namespace {

// How the windows lie over the output.
struct Spread {
  Shape strides, dilations, pads_begin, pads_end;
  bool fits = true;  // every list has one entry per spatial dimension (pads two), and oneDNN takes the pads
};

// The pads at the end are what is left of the output, so that they stand for output_padding and output_shape too.
Spread SpreadOf(const Node& node, const Shape& in, const Shape& weights, const Shape& out) {
  const std::size_t axes = in.size() - 2;
  Spread spread;
  spread.strides = Model::IntsOf(node, "strides", Shape(axes, 1));
  spread.dilations = Model::IntsOf(node, "dilations", Shape(axes, 1));
  const Shape pads = Model::IntsOf(node, "pads", Shape(2 * axes, 0));
  const std::string auto_pad = Model::StringOf(node, "auto_pad", "NOTSET");
  const bool computed = auto_pad.starts_with("SAME") || node.attributes.contains("output_shape");
  const Shape more = Model::IntsOf(node, "output_padding", Shape(axes, 0));
  spread.fits = spread.strides.size() == axes && spread.dilations.size() == axes && pads.size() == 2 * axes &&
                more.size() == axes && weights.size() == in.size() && out.size() == in.size();
  for (std::size_t axis = 0; spread.fits && axis < axes; ++axis) {
    const std::int64_t extent = (weights[axis + 2] - 1) * spread.dilations[axis] + 1;
    const std::int64_t left = spread.strides[axis] * (in[axis + 2] - 1) + extent - out[axis + 2];
    const std::int64_t total = left + more[axis];
    std::int64_t begin = auto_pad == "VALID" ? 0 : pads[axis];
    if (computed) begin = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    spread.pads_begin.push_back(begin);
    spread.pads_end.push_back(left - begin);
    spread.fits = begin >= 0 && left - begin + spread.strides[axis] >= 0;
  }
  for (std::int64_t& dilation : spread.dilations) --dilation;
  return spread;
}

class ConvolutionTranspose : public PrimitiveKernel {
 public:
  explicit ConvolutionTranspose(const KernelRequest& request) : PrimitiveKernel(request), model_(*request.model) {
    const Node& node = model_.nodes[static_cast<std::size_t>(request.nodes.front())];
    source_ = node.inputs[0];
    in_ = model_.values[static_cast<std::size_t>(source_)].shape;
    weights_ = model_.values[static_cast<std::size_t>(node.inputs[1])].shape;
    out_ = output_specs_.front().shape;
    groups_ = Model::IntOf(node, "group", 1);
    spread_ = SpreadOf(node, in_, weights_, out_);
    const ConstantData* constant = ConstantOf(model_, node.inputs[1]);
    if (constant != nullptr) {
      plain_weights_ = constant->AsFloats();
    } else {
      computed_weights_ = Operand::Input(InputIndex(node.inputs[1]));
    }
    const bool has_bias = node.inputs.size() > 2 && node.inputs[2] >= 0;
    bias_ = has_bias ? OperandOf(model_, node.inputs[2])
                     : KeepFloats(std::vector<float>(static_cast<std::size_t>(out_[1]), 0.0f));
    ChooseLayout();
    input_specs_[InputIndex(source_)].layout = layout_;
    output_specs_.front().layout = layout_;
    for (int worker = 0; worker < workers(); ++worker) {
      for (const Part& part : PartsOf(worker)) AddPart(request, worker, part);
    }
    plain_weights_.clear();
    plain_weights_.shrink_to_fit();
  }

 private:
  // The part of the result that one primitive makes: one image, some output channels (whole groups where there are
  // several).
  struct Part {
    std::int64_t image = 0;
    Share channels;
  };

  bool computed() const { return plain_weights_.empty(); }
  std::int64_t per_group() const { return weights_[1]; }

  // Blocks where whole blocks of channels go in and come out and oneDNN is fast on them.
  void ChooseLayout() {
    if (in_.size() != 4 || groups_ != 1 || computed() || in_[1] % ChannelBlock() != 0 || out_[1] % ChannelBlock() != 0)
      return;
    layout_ = Layout::kBlocked;
    const std::vector<Part> parts = PartsOf(0);
    if (parts.empty() || IsReference(Describe(parts.front()).impl_info_str())) layout_ = Layout::kPlain;
  }

  std::vector<Part> PartsOf(int worker) const {
    const std::int64_t grain = groups_ > 1 ? per_group() : (layout_ == Layout::kBlocked ? ChannelBlock() : 1);
    const bool by_images = workers() == 1 || in_[0] % workers() == 0;
    const Share images = by_images ? ShareOf(in_[0], workers(), worker) : Share{0, in_[0]};
    const Share channels = by_images ? Share{0, out_[1]} : ShareOf(out_[1], workers(), worker, grain);
    std::vector<Part> parts;
    if (channels.size() == 0) return parts;
    for (std::int64_t image = images.begin; image < images.end; ++image) parts.push_back({image, channels});
    return parts;
  }

  std::int64_t GroupsOf(const Part& part) const { return groups_ == 1 ? 1 : part.channels.size() / per_group(); }

  // The part's weights as ONNX stores them, [input channels, output channels of a group, ...], in oneDNN's order.
  dnnl::memory::desc StoredWeights(const Part& part) const {
    const std::int64_t pixels = ElementsFrom(weights_, 2);
    const std::int64_t inputs = in_[1] / groups_;
    const std::int64_t outputs = groups_ == 1 ? part.channels.size() : per_group();
    Shape shape = {outputs, inputs};
    Shape strides = {pixels, per_group() * pixels};
    std::int64_t step = pixels;
    for (std::size_t d = 2; d < weights_.size(); ++d) {
      step /= weights_[d];
      shape.push_back(weights_[d]);
      strides.push_back(step);
    }
    if (groups_ > 1) {
      shape.insert(shape.begin(), GroupsOf(part));
      strides.insert(strides.begin(), inputs * per_group() * pixels);
    }
    return {shape, dnnl::memory::data_type::f32, strides};
  }

  std::int64_t FirstInputChannel(const Part& part) const {
    return groups_ == 1 ? 0 : part.channels.begin / per_group() * (in_[1] / groups_);
  }

  dnnl::deconvolution_forward::primitive_desc Describe(const Part& part) const {
    Shape source = in_;
    source[0] = 1;
    source[1] = in_[1] / groups_ * GroupsOf(part);
    Shape output = out_;
    output[0] = 1;
    output[1] = part.channels.size();
    const dnnl::memory::desc stored = StoredWeights(part);
    const dnnl::memory::desc weights =
        computed() ? stored
                   : dnnl::memory::desc(stored.dims(), dnnl::memory::data_type::f32, dnnl::memory::format_tag::any);
    return {{dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct, DescriptionOf(source, layout_),
             weights, PlainDescription({part.channels.size()}), DescriptionOf(output, layout_), spread_.strides,
             spread_.dilations, spread_.pads_begin, spread_.pads_end},
            PrimitiveAttributes(),
            CpuEngine()};
  }

  void AddPart(const KernelRequest& request, int worker, const Part& part) {
    const auto description = Describe(part);
    const std::size_t first_weight =
        static_cast<std::size_t>(groups_ == 1 ? part.channels.begin * ElementsFrom(weights_, 2)
                                              : FirstInputChannel(part) * per_group() * ElementsFrom(weights_, 2));
    const Operand weights = computed() ? computed_weights_.Plus(first_weight * sizeof(float))
                                       : Kept(request, part, first_weight, description.weights_desc());
    AddPrimitive(0, worker, dnnl::deconvolution_forward(description), description.scratchpad_desc(),
                 {{DNNL_ARG_SRC, description.src_desc(),
                   Operand::Input(InputIndex(source_), OffsetOf(in_, layout_, part.image, FirstInputChannel(part)))},
                  {DNNL_ARG_WEIGHTS, description.weights_desc(), weights},
                  {DNNL_ARG_BIAS, description.bias_desc(),
                   bias_.Plus(static_cast<std::size_t>(part.channels.begin) * sizeof(float))},
                  {DNNL_ARG_DST, description.dst_desc(),
                   Operand::Output(0, OffsetOf(out_, layout_, part.image, part.channels.begin))}});
  }

  // Images share the weights of their channels.
  Operand Kept(const KernelRequest& request, const Part& part, std::size_t first, const dnnl::memory::desc& wanted) {
    for (const KeptWeights& kept : kept_) {
      if (kept.begin == part.channels.begin && kept.description == wanted) return kept.operand;
    }
    const std::string key = "transposed channels " + std::to_string(part.channels.begin);
    kept_.push_back({part.channels.begin, wanted,
                     KeepWeights(request, key, StoredWeights(part), plain_weights_.data() + first, wanted)});
    return kept_.back().operand;
  }

  struct KeptWeights {
    std::int64_t begin;
    dnnl::memory::desc description;
    Operand operand;
  };

  const Model& model_;
  int source_ = -1;
  Shape in_, weights_, out_;
  std::int64_t groups_ = 1;
  Spread spread_;
  Layout layout_ = Layout::kPlain;
  std::vector<float> plain_weights_;
  Operand computed_weights_, bias_;
  std::vector<KeptWeights> kept_;
};

std::unique_ptr<Kernel> MakeConvolutionTranspose(const KernelRequest& request) {
  return std::make_unique<ConvolutionTranspose>(request);
}

std::string UnsupportedTranspose(const Model& model, int node_id) {
  if (std::string reason = RefuseTypes(model, node_id); !reason.empty()) return reason;
  if (std::string reason = RefuseConstant(model, node_id); !reason.empty()) return reason;
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* in = InputOf(model, node, 0);
  const Value* weights = InputOf(model, node, 1);
  const Value* out = OutputOf(model, node, 0);
  if (weights == nullptr || out == nullptr) return "ConvTranspose without its inputs";
  if (in->shape.size() < 3 || in->shape.size() > 5)
    return "ConvTranspose with " + std::to_string(static_cast<int>(in->shape.size()) - 2) + " spatial dimensions";
  const std::int64_t groups = Model::IntOf(node, "group", 1);
  if (weights->shape.size() != in->shape.size() || weights->shape[0] != in->shape[1] || in->shape[1] % groups != 0 ||
      out->shape.size() != in->shape.size() || weights->shape[1] * groups != out->shape[1])
    return "ConvTranspose with weights of another shape";
  const Value* bias = InputOf(model, node, 2);
  if (bias != nullptr && bias->shape != Shape{out->shape[1]}) return "ConvTranspose with a bias of another shape";
  if (!SpreadOf(node, in->shape, weights->shape, out->shape).fits)
    return "ConvTranspose with pads, strides or dilations that do not fit";
  return "";
}

}  // namespace

std::vector<KernelEntry> ConvolutionTransposeKernels() {
  return {{"ConvTranspose", MakeConvolutionTranspose, UnsupportedTranspose}};
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/channel_affine_kernel.h"

#include <algorithm>
#include <cmath>

#include "millrace/runtime/activation.h"
#include "millrace/runtime/blocked_tensor.h"
#include "millrace/runtime/channel_affine.h"
#include "millrace/runtime/primitive_kernel.h"
#include "millrace/runtime/refusal.h"
#include "millrace/runtime/reorder.h"
#include "millrace/runtime/value_readers.h"

namespace millrace {
namespace {

constexpr std::size_t kChannelAxis = 1;

// The operand of the node that is no constant; -1 if there is none or several.
int ComputedOperandOf(const Model& model, const Node& node) {
  int operand = -1;
  for (const int input : node.inputs) {
    if (input < 0 || ConstantOf(model, input) != nullptr) continue;
    if (operand >= 0) return -1;
    operand = input;
  }
  return operand;
}

void Plain(const float* source, const float* scale, const float* shift, std::int64_t channels, std::int64_t pixels,
           float* output) {
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    const float by = scale[channel];
    const float plus = shift[channel];
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
      output[channel * pixels + pixel] = source[channel * pixels + pixel] * by + plus;
  }
}

template <std::int64_t block>
void Blocked(const float* source, const float* scale, const float* shift, std::int64_t channels, std::int64_t pixels,
             float* output) {
  for (std::int64_t number = 0; number * block < channels; ++number) {
    // Past the last channel scale and shift are zero, and so is the padding.
    float by[block] = {}, plus[block] = {};
    const std::int64_t some = std::min(block, channels - number * block);
    std::copy(scale + number * block, scale + number * block + some, by);
    std::copy(shift + number * block, shift + number * block + some, plus);
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      const std::int64_t at = (number * pixels + pixel) * block;
      for (std::int64_t lane = 0; lane < block; ++lane) output[at + lane] = source[at + lane] * by[lane] + plus[lane];
    }
  }
}

// All channels of a pixel, side by side.
void Pixel(const float* source, const float* scale, const float* shift, std::int64_t channels, float* output) {
  for (std::int64_t channel = 0; channel < channels; ++channel)
    output[channel] = source[channel] * scale[channel] + shift[channel];
}

class ChannelAffineKernel : public PrimitiveKernel {
 public:
  explicit ChannelAffineKernel(const KernelRequest& request) : PrimitiveKernel(request) {
    const Model& model = *request.model;
    const Node& first = model.nodes[static_cast<std::size_t>(request.nodes.front())];
    const bool normalizes = first.op_type == "BatchNormalization";
    const int value = normalizes ? first.inputs[0] : ComputedOperandOf(model, first);
    shape_ = model.values[static_cast<std::size_t>(value)].shape;
    if (CanBeBlocked(DataType::kFloat32, shape_)) layout_ = request.available[static_cast<std::size_t>(value)];
    const std::size_t input = InputIndex(value);
    input_specs_[input].layout = layout_;
    output_specs_.front().layout = layout_;
    const auto channels = static_cast<std::size_t>(shape_[1]);
    scale_.assign(channels, 1.0f);
    shift_.assign(channels, 0.0f);
    if (normalizes && !ChannelAffineOf(model, request.nodes.front(), value, kChannelAxis)) {
      PrepareComputed(model, first);
    } else {
      Compose(model, request.nodes, value);
    }
    const int phase = computed_ ? 1 : 0;
    for (int worker = 0; worker < workers(); ++worker) {
      if (layout_ == Layout::kChannelsLast) {
        AddPixels(phase, worker, input);
        continue;
      }
      for (const ChannelPart& part : ChannelPartsOf(shape_, layout_, workers(), worker)) {
        AddTask(phase, worker, [this, input, part](const KernelBuffers& buffers) { Apply(buffers, input, part); });
        AddActivation(phase, worker, part);
      }
    }
  }

 private:
  void Compose(const Model& model, std::span<const int> nodes, int value) {
    for (const int node : nodes) {
      const auto affine = ChannelAffineOf(model, node, value, kChannelAxis);
      if (!affine) {
        activation_ = *ActivationOf(model, node);
        return;
      }
      for (std::size_t i = 0; i < scale_.size(); ++i) {
        scale_[i] *= affine->scale[i];
        shift_[i] = shift_[i] * affine->scale[i] + affine->shift[i];
      }
      value = model.nodes[static_cast<std::size_t>(node)].outputs.front();
    }
  }

  // Parameters computed by the model become scale and shift at the start of every run.
  void PrepareComputed(const Model& model, const Node& node) {
    computed_ = true;
    const Operand gamma = OperandOf(model, node.inputs[1]);
    const Operand beta = OperandOf(model, node.inputs[2]);
    const Operand mean = OperandOf(model, node.inputs[3]);
    const Operand variance = OperandOf(model, node.inputs[4]);
    const float epsilon = Model::FloatOf(node, "epsilon", 1e-5f);
    AddTask(0, 0, [this, gamma, beta, mean, variance, epsilon](const KernelBuffers& buffers) {
      const auto* by = reinterpret_cast<const float*>(gamma.Read(buffers));
      const auto* plus = reinterpret_cast<const float*>(beta.Read(buffers));
      const auto* means = reinterpret_cast<const float*>(mean.Read(buffers));
      const auto* variances = reinterpret_cast<const float*>(variance.Read(buffers));
      for (std::size_t i = 0; i < scale_.size(); ++i) {
        scale_[i] = by[i] / std::sqrt(variances[i] + epsilon);
        shift_[i] = plus[i] - means[i] * scale_[i];
      }
    });
  }

  void Apply(const KernelBuffers& buffers, std::size_t input, const ChannelPart& part) const {
    const std::int64_t pixels = ElementsFrom(shape_, 2);
    const auto loop = layout_ == Layout::kPlain      ? Plain
                      : ChannelBlock() == kWideBlock ? Blocked<kWideBlock>
                                                     : Blocked<kNarrowBlock>;
    for (std::int64_t image = part.images.begin; image < part.images.end; ++image) {
      const std::size_t offset = OffsetOf(shape_, layout_, image, part.channels.begin);
      loop(reinterpret_cast<const float*>(buffers.inputs[input] + offset), scale_.data() + part.channels.begin,
           shift_.data() + part.channels.begin, part.channels.size(), pixels,
           reinterpret_cast<float*>(buffers.outputs[0] + offset));
    }
  }

  // A worker's share of all pixels, each with its channels side by side.
  void AddPixels(int phase, int worker, std::size_t input) {
    const std::int64_t channels = shape_[1];
    const Share own = ShareOf(shape_[0] * ElementsFrom(shape_, 2), workers(), worker);
    if (own.size() == 0) return;
    AddTask(phase, worker, [this, input, own, channels](const KernelBuffers& buffers) {
      const auto* from = reinterpret_cast<const float*>(buffers.inputs[input]);
      auto* to = reinterpret_cast<float*>(buffers.outputs[0]);
      for (std::int64_t pixel = own.begin; pixel < own.end; ++pixel)
        Pixel(from + pixel * channels, scale_.data(), shift_.data(), channels, to + pixel * channels);
    });
    AddActivation(phase, worker, static_cast<std::size_t>(own.begin * channels) * sizeof(float), own.size() * channels);
  }

  void AddActivation(int phase, int worker, const ChannelPart& part) {
    TensorSpec spec{DataType::kFloat32, shape_, layout_};
    spec.shape[0] = part.images.size();
    spec.shape[1] = part.channels.size();
    AddActivation(phase, worker, OffsetOf(shape_, layout_, part.images.begin, part.channels.begin),
                  static_cast<std::int64_t>(spec.bytes() / sizeof(float)));
  }

  // To so many floats of the result, `offset` bytes from its beginning.
  void AddActivation(int phase, int worker, std::size_t offset, std::int64_t floats) {
    for (const ActivationStep& step : activation_) {
      const dnnl::memory::desc flat = PlainDescription({floats});
      const dnnl::eltwise_forward::primitive_desc description(
          {dnnl::prop_kind::forward_inference, step.algorithm, flat, step.alpha, step.beta}, PrimitiveAttributes(),
          CpuEngine());
      const Operand at = Operand::Output(0, offset);
      AddPrimitive(phase, worker, dnnl::eltwise_forward(description), description.scratchpad_desc(),
                   {{DNNL_ARG_SRC, flat, at}, {DNNL_ARG_DST, flat, at}});
    }
  }

  Shape shape_;
  Layout layout_ = Layout::kPlain;
  bool computed_ = false;
  // Written by worker 0 in the first phase where the parameters are computed; one kernel is never run twice at once.
  mutable std::vector<float> scale_, shift_;
  Activation activation_;
};

std::unique_ptr<Kernel> MakeChannelAffine(const KernelRequest& request) {
  return std::make_unique<ChannelAffineKernel>(request);
}

std::string UnsupportedBatchNormalization(const Model& model, int node) {
  if (std::string reason = RefuseTypes(model, node); !reason.empty()) return reason;
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  if (Model::IntOf(of, "training_mode", 0) != 0) return "BatchNormalization in training mode";
  if (Model::IntOf(of, "spatial", 1) == 0) return "BatchNormalization by element (spatial = 0)";
  if (std::string reason = RefuseOutput(model, node, 1, "of running statistics"); !reason.empty()) return reason;
  if (std::string reason = RefuseConstant(model, node); !reason.empty()) return reason;
  return model.values[static_cast<std::size_t>(of.inputs[0])].shape.size() < 2
             ? "BatchNormalization of a tensor without channels"
             : "";
}

std::string UnsupportedChannelArithmetic(const Model& model, int node) {
  if (std::string reason = RefuseTypes(model, node); !reason.empty()) return reason;
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  const int value = ComputedOperandOf(model, of);
  if (value < 0 || model.values[static_cast<std::size_t>(value)].shape.size() != 4 ||
      model.values[static_cast<std::size_t>(of.outputs[0])].shape !=
          model.values[static_cast<std::size_t>(value)].shape ||
      !ChannelAffineOf(model, node, value, kChannelAxis)) {
    return of.op_type + " of shapes that differ";
  }
  return "";
}

}  // namespace

std::vector<int> ChannelAffineChain(const Model& model, std::span<const int> nodes, int first) {
  const Node& of = model.nodes[static_cast<std::size_t>(first)];
  int value = of.op_type == "BatchNormalization" ? of.inputs[0] : ComputedOperandOf(model, of);
  if (value < 0 || model.values[static_cast<std::size_t>(value)].shape.size() != 4) return {};
  const Shape& shape = model.values[static_cast<std::size_t>(value)].shape;
  std::vector<int> chain;
  int next = first;
  while (true) {
    const Node& node = model.nodes[static_cast<std::size_t>(next)];
    const bool one_output = std::none_of(node.outputs.begin() + 1, node.outputs.end(), [](int o) { return o >= 0; });
    if (!one_output || !RefuseTypes(model, next).empty()) break;
    if (model.values[static_cast<std::size_t>(node.outputs[0])].shape != shape) break;
    bool ends = false;
    if (!ChannelAffineOf(model, next, value, kChannelAxis)) {
      const auto activation = chain.empty() ? std::nullopt : ActivationOf(model, next);
      if (!activation || !KeepsZero(*activation)) break;
      ends = true;
    }
    chain.push_back(next);
    value = node.outputs[0];
    const std::vector<int> readers = ReadersOf(model, value);
    if (ends || readers.size() != 1 || std::find(nodes.begin(), nodes.end(), readers[0]) == nodes.end()) break;
    next = readers[0];
  }
  return chain;
}

std::vector<KernelEntry> ChannelAffineKernels() {
  std::vector<KernelEntry> entries = {{"BatchNormalization", MakeChannelAffine, UnsupportedBatchNormalization}};
  for (const char* type : {"Add", "Div", "Mul", "Sub"})
    entries.push_back({type, MakeChannelAffine, UnsupportedChannelArithmetic});
  return entries;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/normalization.h"

#include <cmath>

#include "millrace/runtime/blocked_tensor.h"
#include "millrace/runtime/convolution_layout.h"
#include "millrace/runtime/primitive_kernel.h"
#include "millrace/runtime/refusal.h"
#include "millrace/runtime/reorder.h"
#include "millrace/runtime/work_share.h"

namespace millrace {
namespace {

std::size_t AxisOf(const Node& node, const Shape& shape) {
  const std::int64_t axis = Model::IntOf(node, "axis", -1);
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.size()) : axis);
}

class LayerNormalization : public PrimitiveKernel {
 public:
  explicit LayerNormalization(const KernelRequest& request) : PrimitiveKernel(request) {
    const Model& model = *request.model;
    const Node& node = model.nodes[static_cast<std::size_t>(request.nodes.front())];
    const Shape& shape = output_specs_.front().shape;
    const std::int64_t length = ElementsFrom(shape, AxisOf(node, shape));
    const bool shifts = node.inputs.size() > 2 && node.inputs[2] >= 0;
    const Operand source = OperandOf(model, node.inputs[0]);
    const Operand scale = OperandOf(model, node.inputs[1]);
    const Operand shift = shifts ? OperandOf(model, node.inputs[2]) : Operand();
    for (int worker = 0; worker < workers(); ++worker) {
      const Share rows = ShareOf(ElementsOf(shape) / length, workers(), worker);
      if (rows.size() == 0) continue;
      const dnnl::memory::desc matrix = PlainDescription({rows.size(), length});
      const dnnl::memory::desc parameters = PlainDescription({length});
      dnnl::normalization_flags flags = dnnl::normalization_flags::use_scale;
      if (shifts) flags |= dnnl::normalization_flags::use_shift;
      const dnnl::layer_normalization_forward::primitive_desc description(
          {dnnl::prop_kind::forward_inference, matrix, Model::FloatOf(node, "epsilon", 1e-5f), flags},
          PrimitiveAttributes(), CpuEngine());
      const std::size_t offset = static_cast<std::size_t>(rows.begin * length) * sizeof(float);
      std::vector<Argument> arguments = {{DNNL_ARG_SRC, matrix, source.Plus(offset)},
                                         {DNNL_ARG_SCALE, parameters, scale},
                                         {DNNL_ARG_DST, matrix, Operand::Output(0, offset)}};
      if (shifts) arguments.push_back({DNNL_ARG_SHIFT, parameters, shift});
      AddPrimitive(0, worker, dnnl::layer_normalization_forward(description), description.scratchpad_desc(), arguments);
    }
  }
};

class InstanceNormalization : public PrimitiveKernel {
 public:
  explicit InstanceNormalization(const KernelRequest& request) : PrimitiveKernel(request) {
    const Model& model = *request.model;
    const Node& node = model.nodes[static_cast<std::size_t>(request.nodes.front())];
    const Shape& shape = output_specs_.front().shape;
    const std::int64_t channels = shape[1];
    const std::int64_t pixels = ElementsFrom(shape, 2);
    const float epsilon = Model::FloatOf(node, "epsilon", 1e-5f);
    const Operand source = OperandOf(model, node.inputs[0]);
    const Operand scale = OperandOf(model, node.inputs[1]);
    const Operand shift = OperandOf(model, node.inputs[2]);
    for (int worker = 0; worker < workers(); ++worker) {
      const Share rows = ShareOf(shape[0] * channels, workers(), worker);
      AddTask(0, worker, [=](const KernelBuffers& buffers) {
        const auto* from = reinterpret_cast<const float*>(source.Read(buffers));
        const auto* by = reinterpret_cast<const float*>(scale.Read(buffers));
        const auto* plus = reinterpret_cast<const float*>(shift.Read(buffers));
        auto* to = reinterpret_cast<float*>(buffers.outputs[0]);
        for (std::int64_t row = rows.begin; row < rows.end; ++row)
          Normalize(from + row * pixels, pixels, by[row % channels], plus[row % channels], epsilon, to + row * pixels);
      });
    }
  }

 private:
  static void Normalize(const float* from, std::int64_t pixels, float by, float plus, float epsilon, float* to) {
    double sum = 0;
    for (std::int64_t i = 0; i < pixels; ++i) sum += from[i];
    const double mean = sum / static_cast<double>(pixels);
    double squares = 0;
    for (std::int64_t i = 0; i < pixels; ++i) squares += (from[i] - mean) * (from[i] - mean);
    const double deviation = std::sqrt(squares / static_cast<double>(pixels) + epsilon);
    const auto factor = static_cast<float>(by / deviation);
    const auto rest = static_cast<float>(plus - mean * by / deviation);
    for (std::int64_t i = 0; i < pixels; ++i) to[i] = from[i] * factor + rest;
  }
};

// A pixel's channels depend on each other. A gang shares out rows, with the channels innermost, and otherwise images.
class LocalResponseNormalization : public PrimitiveKernel {
 public:
  explicit LocalResponseNormalization(const KernelRequest& request) : PrimitiveKernel(request) {
    const Node& node = request.model->nodes[static_cast<std::size_t>(request.nodes.front())];
    Shape shape = output_specs_.front().shape;
    Layout layout = Layout::kPlain;
    if (CanBeBlocked(DataType::kFloat32, shape)) {
      layout = request.available[static_cast<std::size_t>(inputs_.front())];
    } else {
      shape = {shape[0], shape[1], 1, ElementsFrom(shape, 2)};
    }
    if (AreRowsShared(shape, workers())) layout = Layout::kChannelsLast;
    if (layout != Layout::kPlain && IsReference(Describe(node, shape, layout).impl_info_str())) layout = Layout::kPlain;
    input_specs_.front().layout = layout;
    output_specs_.front().layout = layout;
    for (int worker = 0; worker < workers(); ++worker) {
      if (layout == Layout::kChannelsLast) {
        ForOwnRows(shape[0], shape[2], workers(), worker, [&](std::int64_t image, Share rows) {
          AddPart(worker, node, {1, shape[1], rows.size(), shape[3]},
                  RowOffset(shape, image, rows.begin) * sizeof(float));
        });
        continue;
      }
      const Share images = ShareOf(shape[0], workers(), worker);
      if (images.size() == 0) continue;
      Shape part = shape;
      part[0] = images.size();
      AddPart(worker, node, part, OffsetOf(shape, layout, images.begin, 0));
    }
  }

 private:
  // `offset` in bytes.
  void AddPart(int worker, const Node& node, const Shape& part, std::size_t offset) {
    const auto description = Describe(node, part, output_specs_.front().layout);
    AddPrimitive(0, worker, dnnl::lrn_forward(description), description.scratchpad_desc(),
                 {{DNNL_ARG_SRC, description.src_desc(), Operand::Input(0, offset)},
                  {DNNL_ARG_DST, description.dst_desc(), Operand::Output(0, offset)}});
  }

  static dnnl::lrn_forward::primitive_desc Describe(const Node& node, const Shape& shape, Layout layout) {
    return {{dnnl::prop_kind::forward_inference, dnnl::algorithm::lrn_across_channels, DescriptionOf(shape, layout),
             Model::IntOf(node, "size", 1), Model::FloatOf(node, "alpha", 1e-4f), Model::FloatOf(node, "beta", 0.75f),
             Model::FloatOf(node, "bias", 1)},
            PrimitiveAttributes(),
            CpuEngine()};
  }
};

template <typename Made>
std::unique_ptr<Kernel> Make(const KernelRequest& request) {
  return std::make_unique<Made>(request);
}

std::string UnsupportedLayer(const Model& model, int node) {
  if (std::string reason = RefuseTypes(model, node); !reason.empty()) return reason;
  for (std::size_t output = 1; output < 3; ++output) {
    if (std::string reason = RefuseOutput(model, node, output, output == 1 ? "Mean" : "InvStdDev"); !reason.empty())
      return reason;
  }
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  const Shape& shape = model.values[static_cast<std::size_t>(of.inputs[0])].shape;
  const std::int64_t length = ElementsFrom(shape, AxisOf(of, shape));
  for (std::size_t i = 1; i < of.inputs.size(); ++i) {
    if (of.inputs[i] >= 0 && ElementsOf(model.values[static_cast<std::size_t>(of.inputs[i])].shape) != length)
      return "LayerNormalization with a scale or bias that is broadcast";
  }
  return "";
}

std::string UnsupportedInstance(const Model& model, int node) {
  if (std::string reason = RefuseTypes(model, node); !reason.empty()) return reason;
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  return model.values[static_cast<std::size_t>(of.inputs[0])].shape.size() < 3
             ? "InstanceNormalization without spatial dimensions"
             : "";
}

std::string UnsupportedLocalResponse(const Model& model, int node) {
  if (std::string reason = RefuseTypes(model, node); !reason.empty()) return reason;
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  if (Model::IntOf(of, "size", 1) % 2 == 0) return "LRN over an even number of channels";
  if (model.values[static_cast<std::size_t>(of.inputs[0])].shape.size() < 3) return "LRN without spatial dimensions";
  return RefuseConstant(model, node);
}

}  // namespace

std::vector<KernelEntry> NormalizationKernels() {
  return {{"InstanceNormalization", Make<InstanceNormalization>, UnsupportedInstance},
          {"LayerNormalization", Make<LayerNormalization>, UnsupportedLayer},
          {"LRN", Make<LocalResponseNormalization>, UnsupportedLocalResponse}};
}

}  // namespace millrace

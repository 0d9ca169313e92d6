// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/activation.h"

#include <algorithm>
#include <array>
#include <limits>

#include "millrace/runtime/primitive_kernel.h"
#include "millrace/runtime/refusal.h"
#include "millrace/runtime/reorder.h"
#include "millrace/runtime/work_share.h"

namespace millrace {
namespace {

constexpr std::array kActivations = {"Clip", "Elu",     "HardSigmoid", "HardSwish", "LeakyRelu",
                                     "Relu", "Sigmoid", "Selu",        "Softplus",  "Tanh"};

// A bound of Clip: an attribute before opset 11, a scalar input since. Nothing where it is no float constant.
std::optional<float> BoundOf(const Model& model, const Node& node, std::size_t input, const char* attribute,
                             float otherwise) {
  if (model.opset < 11) return Model::FloatOf(node, attribute, otherwise);
  if (node.inputs.size() <= input || node.inputs[input] < 0) return otherwise;
  const auto& constant = model.values[static_cast<std::size_t>(node.inputs[input])].constant;
  if (constant == nullptr || constant->type() != DataType::kFloat32 || ElementsOf(constant->shape()) != 1)
    return std::nullopt;
  return constant->AsFloats().front();
}

// Clears the lanes past the last channel in blocks [begin, end) of channels.
void ClearPadding(float* data, const Shape& shape, std::int64_t begin, std::int64_t end) {
  const std::int64_t pixels = shape[2] * shape[3];
  const std::int64_t blocks = (shape[1] + ChannelBlock() - 1) / ChannelBlock();
  for (std::int64_t at = begin; at < end; ++at) {
    if (at / pixels % blocks == blocks - 1)
      std::fill(data + at * ChannelBlock() + shape[1] % ChannelBlock(), data + (at + 1) * ChannelBlock(), 0.0f);
  }
}

class ActivationKernel : public PrimitiveKernel {
 public:
  ActivationKernel(const KernelRequest& request, const Activation& activation) : PrimitiveKernel(request) {
    TensorSpec& spec = input_specs_.front();
    if (CanBeBlocked(spec.type, spec.shape)) spec.layout = request.available[static_cast<std::size_t>(inputs_.front())];
    output_specs_.front().layout = spec.layout;
    const auto floats = static_cast<std::int64_t>(spec.bytes() / sizeof(float));
    const bool clears =
        spec.layout == Layout::kBlocked && spec.shape[1] % ChannelBlock() != 0 && !KeepsZero(activation);
    for (int worker = 0; worker < workers(); ++worker) {
      const Share share = ShareOf(floats, workers(), worker, ChannelBlock());
      if (share.size() == 0) continue;
      const dnnl::memory::desc flat = PlainDescription({share.size()});
      const std::size_t offset = static_cast<std::size_t>(share.begin) * sizeof(float);
      const Operand output = Operand::Output(0, offset);
      Operand source = Operand::Input(0, offset);
      for (const ActivationStep& step : activation) {
        const dnnl::eltwise_forward::primitive_desc description(
            {dnnl::prop_kind::forward_inference, step.algorithm, flat, step.alpha, step.beta}, PrimitiveAttributes(),
            CpuEngine());
        AddPrimitive(0, worker, dnnl::eltwise_forward(description), description.scratchpad_desc(),
                     {{DNNL_ARG_SRC, flat, source}, {DNNL_ARG_DST, flat, output}});
        source = output;
      }
      if (!clears) continue;
      const Shape shape = spec.shape;
      AddTask(0, worker, [shape, share](const KernelBuffers& buffers) {
        ClearPadding(reinterpret_cast<float*>(buffers.outputs[0]), shape, share.begin / ChannelBlock(),
                     share.end / ChannelBlock());
      });
    }
  }
};

std::unique_ptr<Kernel> MakeActivation(const KernelRequest& request) {
  return MakeActivationKernel(request, *ActivationOf(*request.model, request.nodes.front()));
}

std::string UnsupportedActivation(const Model& model, int node) {
  if (std::string reason = RefuseTypes(model, node); !reason.empty()) return reason;
  if (std::string reason = RefuseConstant(model, node); !reason.empty()) return reason;
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  const std::optional<Activation> activation = ActivationOf(model, node);
  if (!activation) return of.op_type + " with computed bounds";
  // An eltwise primitive does not apply further ones to its result; as an epilogue of others both steps work.
  return activation->size() == 1 ? "" : of.op_type + " in one oneDNN primitive";
}

}  // namespace

std::optional<Activation> ActivationOf(const Model& model, int node) {
  using dnnl::algorithm;
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  const std::string& type = of.op_type;
  if (type == "Relu") return Activation{{algorithm::eltwise_relu, 0, 0}};
  if (type == "LeakyRelu") return Activation{{algorithm::eltwise_relu, Model::FloatOf(of, "alpha", 0.01f), 0}};
  if (type == "Elu") return Activation{{algorithm::eltwise_elu, Model::FloatOf(of, "alpha", 1), 0}};
  if (type == "Sigmoid") return Activation{{algorithm::eltwise_logistic, 0, 0}};
  if (type == "Tanh") return Activation{{algorithm::eltwise_tanh, 0, 0}};
  if (type == "Softplus") return Activation{{algorithm::eltwise_soft_relu, 0, 0}};
  if (type == "HardSwish") return Activation{{algorithm::eltwise_hardswish, 0, 0}};
  if (type == "HardSigmoid") {
    return Activation{{algorithm::eltwise_linear, Model::FloatOf(of, "alpha", 0.2f), Model::FloatOf(of, "beta", 0.5f)},
                      {algorithm::eltwise_clip, 0, 1}};
  }
  if (type == "Selu") {
    return Activation{{algorithm::eltwise_elu, Model::FloatOf(of, "alpha", 1.67326319217681884765625f), 0},
                      {algorithm::eltwise_linear, Model::FloatOf(of, "gamma", 1.05070102214813232421875f), 0}};
  }
  if (type == "Clip") {
    const std::optional<float> low = BoundOf(model, of, 1, "min", std::numeric_limits<float>::lowest());
    const std::optional<float> high = BoundOf(model, of, 2, "max", std::numeric_limits<float>::max());
    if (!low || !high) return std::nullopt;
    return Activation{{algorithm::eltwise_clip, *low, *high}};
  }
  return std::nullopt;
}

void Append(const Activation& activation, dnnl::post_ops& post_ops) {
  for (const ActivationStep& step : activation) post_ops.append_eltwise(1.0f, step.algorithm, step.alpha, step.beta);
}

bool KeepsZero(const Activation& activation) {
  return std::all_of(activation.begin(), activation.end(), [](const ActivationStep& step) {
    switch (step.algorithm) {
      case dnnl::algorithm::eltwise_logistic:
      case dnnl::algorithm::eltwise_soft_relu:
        return false;
      case dnnl::algorithm::eltwise_linear:
        return step.beta == 0;
      case dnnl::algorithm::eltwise_clip:
        return step.alpha <= 0 && step.beta >= 0;
      default:
        return true;
    }
  });
}

std::unique_ptr<Kernel> MakeActivationKernel(const KernelRequest& request, const Activation& activation) {
  return std::make_unique<ActivationKernel>(request, activation);
}

std::vector<KernelEntry> ActivationKernels() {
  std::vector<KernelEntry> entries;
  entries.reserve(kActivations.size());
  for (const char* type : kActivations) entries.push_back({type, MakeActivation, UnsupportedActivation});
  return entries;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/same_shape_arithmetic.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "millrace/runtime/primitive_kernel.h"
#include "millrace/runtime/refusal.h"
#include "millrace/runtime/reorder.h"
#include "millrace/runtime/value_readers.h"
#include "millrace/runtime/work_share.h"

namespace millrace {
namespace {

const std::map<std::string_view, dnnl::algorithm>& Algorithms() {
  static const std::map<std::string_view, dnnl::algorithm> algorithms = {
      {"Add", dnnl::algorithm::binary_add}, {"Div", dnnl::algorithm::binary_div}, {"Max", dnnl::algorithm::binary_max},
      {"Min", dnnl::algorithm::binary_min}, {"Mul", dnnl::algorithm::binary_mul}, {"Sub", dnnl::algorithm::binary_sub},
      {"Sum", dnnl::algorithm::binary_add}};
  return algorithms;
}

class SameShapeArithmetic : public PrimitiveKernel {
 public:
  explicit SameShapeArithmetic(const KernelRequest& request) : PrimitiveKernel(request) {
    const Node& node = request.model->nodes[static_cast<std::size_t>(request.nodes.front())];
    const Layout layout = ChooseLayout(request);
    for (TensorSpec& spec : input_specs_) spec.layout = layout;
    TensorSpec& output = output_specs_.front();
    output.layout = layout;
    // Dividing the zeros of the padding would leave other things there.
    const bool clears = layout == Layout::kBlocked && node.op_type == "Div" && output.shape[1] % ChannelBlock() != 0;
    if (clears) SetPlain();
    const auto floats = static_cast<std::int64_t>(output.bytes() / sizeof(float));
    for (int worker = 0; worker < workers(); ++worker) {
      const Share share = ShareOf(floats, workers(), worker, ChannelBlock());
      if (share.size() == 0) continue;
      const std::size_t offset = static_cast<std::size_t>(share.begin) * sizeof(float);
      if (node.inputs.size() == 1) {
        AddCopy(0, worker, Operand::Input(0, offset), Operand::Output(0, offset),
                static_cast<std::size_t>(share.size()) * sizeof(float));
        continue;
      }
      const dnnl::memory::desc flat = PlainDescription({share.size()});
      const dnnl::binary::primitive_desc description({Algorithms().at(node.op_type), flat, flat, flat},
                                                     PrimitiveAttributes(), CpuEngine());
      const dnnl::binary primitive(description);
      Operand left = Operand::Input(InputIndex(node.inputs[0]), offset);
      for (std::size_t i = 1; i < node.inputs.size(); ++i) {
        AddPrimitive(0, worker, primitive, description.scratchpad_desc(),
                     {{DNNL_ARG_SRC_0, flat, left},
                      {DNNL_ARG_SRC_1, flat, Operand::Input(InputIndex(node.inputs[i]), offset)},
                      {DNNL_ARG_DST, flat, Operand::Output(0, offset)}});
        left = Operand::Output(0, offset);
      }
    }
  }

 private:
  Layout ChooseLayout(const KernelRequest& request) const {
    if (!CanBeBlocked(DataType::kFloat32, output_specs_.front().shape)) return Layout::kPlain;
    for (const Layout layout : {Layout::kChannelsLast, Layout::kBlocked}) {
      const auto such = std::count_if(inputs_.begin(), inputs_.end(), [&request, layout](int value) {
        return request.available[static_cast<std::size_t>(value)] == layout;
      });
      if (2 * such >= static_cast<std::ptrdiff_t>(inputs_.size())) return layout;
    }
    return Layout::kPlain;
  }

  void SetPlain() {
    for (TensorSpec& spec : input_specs_) spec.layout = Layout::kPlain;
    output_specs_.front().layout = Layout::kPlain;
  }
};

std::unique_ptr<Kernel> MakeArithmetic(const KernelRequest& request) {
  return std::make_unique<SameShapeArithmetic>(request);
}

std::string UnsupportedArithmetic(const Model& model, int node) {
  if (std::string reason = RefuseTypes(model, node); !reason.empty()) return reason;
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  const Shape& shape = model.values[static_cast<std::size_t>(of.outputs[0])].shape;
  const bool same = std::all_of(of.inputs.begin(), of.inputs.end(), [&](int value) {
    return ConstantOf(model, value) == nullptr && model.values[static_cast<std::size_t>(value)].shape == shape;
  });
  return same ? "" : of.op_type + " of shapes that differ";
}

}  // namespace

std::vector<KernelEntry> SameShapeArithmeticKernels() {
  std::vector<KernelEntry> entries;
  for (const auto& [type, algorithm] : Algorithms())
    entries.push_back({type.data(), MakeArithmetic, UnsupportedArithmetic});
  return entries;
}

}  // namespace millrace

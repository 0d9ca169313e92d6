// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/softmax.h"

#include "millrace/runtime/blocked_tensor.h"
#include "millrace/runtime/primitive_kernel.h"
#include "millrace/runtime/refusal.h"
#include "millrace/runtime/work_share.h"

namespace millrace {
namespace {

class Softmax : public PrimitiveKernel {
 public:
  explicit Softmax(const KernelRequest& request) : PrimitiveKernel(request) {
    const Model& model = *request.model;
    const Node& node = model.nodes[static_cast<std::size_t>(request.nodes.front())];
    logarithm_ = node.op_type == "LogSoftmax";
    const Shape& shape = input_specs_.front().shape;
    const bool flattens = model.opset < 13;
    const std::int64_t given = Model::IntOf(node, "axis", flattens ? 1 : -1);
    const auto axis = static_cast<std::size_t>(given < 0 ? given + static_cast<std::int64_t>(shape.size()) : given);
    const std::int64_t inside = ElementsFrom(shape, axis);
    length_ = flattens ? inside : shape.empty() ? 1 : shape[axis];
    inner_ = inside / length_;
    const std::int64_t rows = ElementsOf(shape) / length_;
    if (inner_ > 1) {
      // oneDNN is only fast along the last axis: rows are gathered first and put back after.
      gathered_.kind = Operand::Kind::kScratch;
      scratch_bytes_ = static_cast<std::size_t>(ElementsOf(shape)) * sizeof(float);
      scratch_bytes_ = (scratch_bytes_ + 63) / 64 * 64;
    }
    for (int worker = 0; worker < workers(); ++worker) {
      const Share share = ShareOf(rows, workers(), worker);
      if (share.size() > 0) AddRows(worker, share);
    }
  }

 private:
  void AddRows(int worker, Share rows) {
    const dnnl::memory::desc matrix = PlainDescription({rows.size(), length_});
    const auto algorithm = logarithm_ ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
    const dnnl::softmax_v2_forward::primitive_desc description(
        {dnnl::prop_kind::forward_inference, algorithm, matrix, matrix, 1}, PrimitiveAttributes(), CpuEngine());
    const std::size_t offset = static_cast<std::size_t>(rows.begin * length_) * sizeof(float);
    Operand source = Operand::Input(0, offset);
    Operand output = Operand::Output(0, offset);
    if (inner_ > 1) {
      source = output = gathered_.Plus(offset);
      AddTask(0, worker, [this, rows](const KernelBuffers& buffers) {
        const auto* from = reinterpret_cast<const float*>(buffers.inputs[0]);
        auto* to = reinterpret_cast<float*>(gathered_.Write(buffers));
        for (std::int64_t row = rows.begin; row < rows.end; ++row) {
          for (std::int64_t i = 0; i < length_; ++i) to[row * length_ + i] = from[PlaceOf(row, i)];
        }
      });
    }
    AddPrimitive(0, worker, dnnl::softmax_v2_forward(description), description.scratchpad_desc(),
                 {{DNNL_ARG_SRC, matrix, source}, {DNNL_ARG_DST, matrix, output}});
    if (inner_ == 1) return;
    AddTask(0, worker, [this, rows](const KernelBuffers& buffers) {
      const auto* from = reinterpret_cast<const float*>(gathered_.Read(buffers));
      auto* to = reinterpret_cast<float*>(buffers.outputs[0]);
      for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        for (std::int64_t i = 0; i < length_; ++i) to[PlaceOf(row, i)] = from[row * length_ + i];
      }
    });
  }

  std::int64_t PlaceOf(std::int64_t row, std::int64_t i) const {
    return (row / inner_ * length_ + i) * inner_ + row % inner_;
  }

  bool logarithm_ = false;
  std::int64_t length_ = 1;  // of the axis
  std::int64_t inner_ = 1;   // elements between two neighbours along it
  Operand gathered_;
};

std::unique_ptr<Kernel> MakeSoftmax(const KernelRequest& request) { return std::make_unique<Softmax>(request); }

std::string UnsupportedSoftmax(const Model& model, int node) {
  const std::string reason = RefuseTypes(model, node);
  return reason.empty() ? RefuseConstant(model, node) : reason;
}

}  // namespace

std::vector<KernelEntry> SoftmaxKernels() {
  return {{"LogSoftmax", MakeSoftmax, UnsupportedSoftmax}, {"Softmax", MakeSoftmax, UnsupportedSoftmax}};
}

}  // namespace millrace

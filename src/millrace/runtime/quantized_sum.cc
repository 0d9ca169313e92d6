// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "millrace/runtime/elementwise_step.h"
#include "millrace/runtime/one_node_kernel.h"
#include "millrace/runtime/quantization.h"
#include "millrace/vector/vector_loops.h"

// The sum of two tensors of 8-bit integers, stored as 8-bit integers again, as an elementwise step: com.microsoft's
// QLinearAdd (ONNX Runtime).
namespace millrace {
namespace {

// In units of the result: stored = round(a x a_scale + b x b_scale + offset) + zero. The offset is made of the zero
// points of the two addends.
struct SumScaling {
  float a = 1, b = 1;
  float offset = 0;
  float zero = 0;
};

template <typename Stored>
MILLRACE_INLINE void AddStored(const Stored* a, const Stored* b, Stored* out, std::int64_t count,
                               const SumScaling& scaling) {
  const SumScaling by = scaling;  // what is stored, being bytes, could be part of the original
  const float low = static_cast<float>(std::numeric_limits<Stored>::min()) - by.zero;
  const float high = static_cast<float>(std::numeric_limits<Stored>::max()) - by.zero;
  for (std::int64_t i = 0; i < count; ++i) {
    const float sum = static_cast<float>(a[i]) * by.a + (static_cast<float>(b[i]) * by.b + by.offset);
    out[i] = static_cast<Stored>(static_cast<std::int32_t>(RoundedWithin(sum, low, high) + by.zero));
  }
}

template <typename Stored>
class QuantizedSumStep : public ElementwiseStep {
 public:
  explicit QuantizedSumStep(const SumScaling& by) : by_(by) {}

  void Apply(const std::byte* const* operands, std::byte* out, std::int64_t /*begin*/,
             std::int64_t count) const override {
    loop_(reinterpret_cast<const Stored*>(operands[0]), reinterpret_cast<const Stored*>(operands[3]),
          reinterpret_cast<Stored*>(out), count, by_);
  }

 private:
  SumScaling by_;
  decltype(Versions<&AddStored<Stored>>::Best()) loop_ = Versions<&AddStored<Stored>>::Best();
};

}  // namespace

std::unique_ptr<ElementwiseStep> MakeQuantizedSumStep(const Model& model, const Node& node, const StepShape& shape) {
  if (node.op_type != "QLinearAdd" || node.inputs.size() < 7 || node.inputs[3] < 0) return nullptr;
  const DataType type = InputOf(model, node, 0)->type;
  if (InputOf(model, node, 3)->type != type || OutputOf(model, node, 0)->type != type) return nullptr;
  if (!shape.full(0) || !shape.full(3)) return nullptr;
  const auto a = QuantizationAt(model, node, 1), b = QuantizationAt(model, node, 4), c = QuantizationAt(model, node, 6);
  if (!a || !b || !c || !a->whole() || !b->whole() || !c->whole()) return nullptr;
  SumScaling by;
  by.a = a->scale[0] / c->scale[0];
  by.b = b->scale[0] / c->scale[0];
  by.offset = -(static_cast<float>(a->zero_point[0]) * by.a + static_cast<float>(b->zero_point[0]) * by.b);
  by.zero = static_cast<float>(c->zero_point[0]);
  if (type == DataType::kInt8) return std::make_unique<QuantizedSumStep<std::int8_t>>(by);
  if (type == DataType::kUint8) return std::make_unique<QuantizedSumStep<std::uint8_t>>(by);
  return nullptr;
}

}  // namespace millrace

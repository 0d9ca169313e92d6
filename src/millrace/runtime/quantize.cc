// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <utility>

#include "millrace/runtime/element_types.h"
#include "millrace/runtime/elementwise_step.h"
#include "millrace/runtime/one_node_kernel.h"
#include "millrace/runtime/quantization.h"
#include "millrace/vector/vector_loops.h"

// QuantizeLinear and DequantizeLinear as elementwise steps.
namespace millrace {
namespace {

template <typename Stored>
MILLRACE_INLINE void Dequantize(const Stored* in, float* out, std::int64_t count, float scale,
                                std::int32_t zero_point) {
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = static_cast<float>(static_cast<std::int32_t>(in[i]) - zero_point) * scale;
}

// Calls use(begin, count, channel) for the stretches of begin..begin+count-1 that lie in one channel each.
class Channels {
 public:
  Channels(const StepShape& shape, std::int64_t axis, bool whole) {
    if (whole) return;
    channels_ = shape.dims[static_cast<std::size_t>(axis)];
    inner_ = 1;
    for (std::size_t d = static_cast<std::size_t>(axis) + 1; d < shape.dims.size(); ++d) inner_ *= shape.dims[d];
  }

  template <typename Use>
  void ForEach(std::int64_t begin, std::int64_t count, const Use& use) const {
    if (channels_ == 1) return use(0, count, std::size_t{0});
    for (std::int64_t at = begin; at < begin + count;) {
      const std::int64_t end = std::min(begin + count, (at / inner_ + 1) * inner_);
      use(at - begin, end - at, static_cast<std::size_t>(at / inner_ % channels_));
      at = end;
    }
  }

 private:
  std::int64_t channels_ = 1, inner_ = 1;
};

template <typename Stored>
class QuantizeStep : public ElementwiseStep {
 public:
  QuantizeStep(Quantization by, const Channels& channels) : by_(std::move(by)), channels_(channels) {}

  void Apply(const std::byte* const* operands, std::byte* out, std::int64_t begin, std::int64_t count) const override {
    const auto* from = reinterpret_cast<const float*>(operands[0]);
    auto* to = reinterpret_cast<Stored*>(out);
    channels_.ForEach(begin, count, [&](std::int64_t at, std::int64_t some, std::size_t channel) {
      loop_(from + at, to + at, some, by_.scale[channel], static_cast<float>(by_.zero_point[channel]));
    });
  }

 private:
  Quantization by_;
  Channels channels_;
  decltype(Versions<&Quantize<Stored>>::Best()) loop_ = Versions<&Quantize<Stored>>::Best();
};

template <typename Stored>
class DequantizeStep : public ElementwiseStep {
 public:
  DequantizeStep(Quantization by, const Channels& channels) : by_(std::move(by)), channels_(channels) {}

  void Apply(const std::byte* const* operands, std::byte* out, std::int64_t begin, std::int64_t count) const override {
    const auto* from = reinterpret_cast<const Stored*>(operands[0]);
    auto* to = reinterpret_cast<float*>(out);
    channels_.ForEach(begin, count, [&](std::int64_t at, std::int64_t some, std::size_t channel) {
      loop_(from + at, to + at, some, by_.scale[channel], by_.zero_point[channel]);
    });
  }

 private:
  Quantization by_;
  Channels channels_;
  decltype(Versions<&Dequantize<Stored>>::Best()) loop_ = Versions<&Dequantize<Stored>>::Best();
};

template <typename Use>
void ForStored(DataType type, const Use& use) {
  switch (type) {
    case DataType::kInt8:
      return use(std::type_identity<std::int8_t>{});
    case DataType::kUint8:
      return use(std::type_identity<std::uint8_t>{});
    case DataType::kInt16:
      return use(std::type_identity<std::int16_t>{});
    case DataType::kUint16:
      return use(std::type_identity<std::uint16_t>{});
    default:
      return;
  }
}

}  // namespace

std::unique_ptr<ElementwiseStep> MakeQuantizeStep(const Model& model, const Node& node, const StepShape& shape) {
  const bool stores = node.op_type == "QuantizeLinear";
  if (!stores && node.op_type != "DequantizeLinear") return nullptr;
  const DataType from = InputOf(model, node, 0)->type, to = OutputOf(model, node, 0)->type;
  if (Model::IntOf(node, "block_size", 0) != 0 || (stores ? from : to) != DataType::kFloat32 || !shape.full(0))
    return nullptr;
  std::optional<Quantization> by = QuantizationAt(model, node, 1);
  if (!by) return nullptr;
  std::int64_t axis = 0;
  if (!by->whole()) {
    axis = PositiveAxis(node, Model::IntOf(node, "axis", 1), shape.dims.size());
    if (static_cast<std::int64_t>(by->scale.size()) != shape.dims[static_cast<std::size_t>(axis)]) return nullptr;
  }
  const Channels channels(shape, axis, by->whole());
  std::unique_ptr<ElementwiseStep> step;
  if (stores) {
    ForStored(to, [&](auto stored) {
      using Stored = typename decltype(stored)::type;
      step = std::make_unique<QuantizeStep<Stored>>(*std::move(by), channels);
    });
  } else if (from == DataType::kInt32) {
    step = std::make_unique<DequantizeStep<std::int32_t>>(*std::move(by), channels);
  } else {
    ForStored(from, [&](auto stored) {
      using Stored = typename decltype(stored)::type;
      step = std::make_unique<DequantizeStep<Stored>>(*std::move(by), channels);
    });
  }
  return step;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "millrace/runtime/element_types.h"
#include "millrace/runtime/elementwise_step.h"
#include "millrace/runtime/one_node_kernel.h"

namespace millrace {
namespace {

// Casting between numbers: towards zero from floats, out-of-range values to the nearest the type has, not-a-number to
// 0.
template <typename In, typename Out>
Out Convert(In value) {
  if constexpr (std::is_floating_point_v<In> && std::is_integral_v<Out>) {
    if (std::isnan(value)) return Out{};
    constexpr auto kLow = static_cast<double>(std::numeric_limits<Out>::min());
    constexpr auto kHigh = static_cast<double>(std::numeric_limits<Out>::max());
    const double wide = value;
    if (wide <= kLow) return std::numeric_limits<Out>::min();
    if (wide >= kHigh) return std::numeric_limits<Out>::max();
  }
  return static_cast<Out>(value);
}

using Loop = void (*)(const std::byte* in, std::byte* out, std::int64_t count);

template <typename In, typename Out>
void ConvertAll(const std::byte* in, std::byte* out, std::int64_t count) {
  const In* from = reinterpret_cast<const In*>(in);
  Out* to = reinterpret_cast<Out*>(out);
  for (std::int64_t i = 0; i < count; ++i) to[i] = Convert<In, Out>(from[i]);
}

template <typename In>
void TruthOfAll(const std::byte* in, std::byte* out, std::int64_t count) {
  const In* from = reinterpret_cast<const In*>(in);
  for (std::int64_t i = 0; i < count; ++i) out[i] = std::byte{from[i] != In{}};
}

Loop LoopFor(DataType from, DataType to) {
  Loop loop = nullptr;
  const DataType stored = from == DataType::kBool ? DataType::kUint8 : from;
  ForNumber(stored, [&](auto in) {
    using In = typename decltype(in)::type;
    if (to == DataType::kBool) {
      loop = &TruthOfAll<In>;
      return;
    }
    ForNumber(to, [&](auto out) {
      using Out = typename decltype(out)::type;
      loop = &ConvertAll<In, Out>;
    });
  });
  return loop;
}

class CastStep : public ElementwiseStep {
 public:
  explicit CastStep(Loop loop) : loop_(loop) {}
  void Apply(const std::byte* const* operands, std::byte* out, std::int64_t, std::int64_t count) const override {
    loop_(operands[0], out, count);
  }
  bool keeps_zero() const override { return true; }

 private:
  Loop loop_;
};

}  // namespace

std::unique_ptr<ElementwiseStep> MakeCastStep(const Model& model, const Node& node, const StepShape& shape) {
  if (node.op_type != "Cast" && node.op_type != "CastLike") return nullptr;
  const Value* input = InputOf(model, node, 0);
  const Value* output = OutputOf(model, node, 0);
  if (input == nullptr || output == nullptr || !shape.full(0)) return nullptr;
  const Loop loop = LoopFor(input->type, output->type);
  return loop == nullptr ? nullptr : std::make_unique<CastStep>(loop);
}

}  // namespace millrace

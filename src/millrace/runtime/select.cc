// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <limits>

#include "millrace/runtime/broadcast.h"
#include "millrace/runtime/element_types.h"
#include "millrace/runtime/elementwise_step.h"
#include "millrace/runtime/one_node_kernel.h"
#include "millrace/vector/vector_loops.h"

namespace millrace {
namespace {

// Where: the choice between two elements by a boolean, each of the three repeated where its shape asks for it.
using ChooseLoop = void (*)(const std::byte* const* at, const std::array<std::int64_t, 3>& paces, std::byte* out,
                            std::int64_t count);

template <typename T>
void Choose(const std::byte* const* at, const std::array<std::int64_t, 3>& paces, std::byte* out, std::int64_t count) {
  const T* yes = reinterpret_cast<const T*>(at[1]);
  const T* no = reinterpret_cast<const T*>(at[2]);
  T* to = reinterpret_cast<T*>(out);
  const auto [condition_pace, yes_pace, no_pace] = paces;
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = at[0][i * condition_pace] != std::byte{} ? yes[i * yes_pace] : no[i * no_pace];
}

constexpr std::size_t kThree[] = {0, 1, 2};

class WhereStep : public ElementwiseStep {
 public:
  WhereStep(ChooseLoop loop, const StepShape& shape, std::size_t bytes)
      : broadcast_(shape, kThree, false), loop_(loop), bytes_{1, bytes, bytes} {
    for (std::size_t i = 0; i < 3; ++i) paces_[i] = broadcast_.pace(i) == Broadcast::Pace::kEach;
  }
  void Apply(const std::byte* const* operands, std::byte* out, std::int64_t begin, std::int64_t count) const override {
    broadcast_.ForRows(
        operands, bytes_, out, bytes_[1], begin, count,
        [this](const std::byte* const* at, std::byte* to, std::int64_t length) { loop_(at, paces_, to, length); });
  }

 private:
  Broadcast broadcast_;
  ChooseLoop loop_;
  std::size_t bytes_[3];
  std::array<std::int64_t, 3> paces_{};
};

// Clip: the bounds are attributes, or inputs of one element that may be left out.
template <typename T>
MILLRACE_INLINE void ClipBody(const T* __restrict in, T* __restrict out, std::int64_t count, T low, T high) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T raised = in[i] < low ? low : in[i];
    out[i] = high < raised ? high : raised;
  }
}

template <typename T>
class ClipStep : public ElementwiseStep {
 public:
  ClipStep(T low, T high, bool low_given, bool high_given)
      : low_(low), high_(high), low_given_(low_given), high_given_(high_given) {}
  void Apply(const std::byte* const* operands, std::byte* out, std::int64_t, std::int64_t count) const override {
    const T low = low_given_ ? *reinterpret_cast<const T*>(operands[1]) : low_;
    const T high = high_given_ ? *reinterpret_cast<const T*>(operands[2]) : high_;
    loop_(reinterpret_cast<const T*>(operands[0]), reinterpret_cast<T*>(out), count, low, high);
  }
  bool keeps_zero() const override { return !low_given_ && !high_given_ && low_ <= T{} && high_ >= T{}; }

 private:
  T low_, high_;
  bool low_given_, high_given_;
  void (*loop_)(const T*, T*, std::int64_t, T, T) = Versions<&ClipBody<T>>::Best();
};

template <typename T>
std::unique_ptr<ElementwiseStep> MakeClip(const Model& model, const Node& node) {
  T low = std::numeric_limits<T>::lowest(), high = std::numeric_limits<T>::max();
  if constexpr (std::is_same_v<T, float>) {
    low = Model::FloatOf(node, "min", -std::numeric_limits<float>::infinity());
    high = Model::FloatOf(node, "max", std::numeric_limits<float>::infinity());
  }
  return std::make_unique<ClipStep<T>>(low, high, InputOf(model, node, 1) != nullptr,
                                       InputOf(model, node, 2) != nullptr);
}

}  // namespace

std::unique_ptr<ElementwiseStep> MakeSelectStep(const Model& model, const Node& node, const StepShape& shape) {
  std::unique_ptr<ElementwiseStep> step;
  if (node.op_type == "Where" && node.inputs.size() == 3) {
    const Value* chosen = InputOf(model, node, 1);
    if (chosen == nullptr || InputOf(model, node, 0) == nullptr || InputOf(model, node, 2) == nullptr) return nullptr;
    ForSize(chosen->type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      step = std::make_unique<WhereStep>(&Choose<T>, shape, sizeof(T));
    });
  } else if (node.op_type == "Clip") {
    const Value* input = InputOf(model, node, 0);
    if (input == nullptr || !shape.full(0)) return nullptr;
    for (const int bound : {1, 2}) {
      const Value* value = InputOf(model, node, bound);
      if (value != nullptr && (value->type != input->type || ElementsOf(value->shape) != 1)) return nullptr;
    }
    ForNumber(input->type, [&](auto tag) { step = MakeClip<typename decltype(tag)::type>(model, node); });
  }
  return step;
}

}  // namespace millrace

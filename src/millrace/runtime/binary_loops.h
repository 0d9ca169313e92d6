// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "millrace/runtime/broadcast.h"
#include "millrace/runtime/elementwise_step.h"
#include "millrace/vector/vector_loops.h"

// Loops of a function of two elements, one per way the operands move along a row, and the step that runs them.
namespace millrace {

struct BinaryLoops {
  using Loop = void (*)(const std::byte* a, const std::byte* b, std::byte* out, std::int64_t count);

  Loop each = nullptr;       // both operands advance
  Loop one_right = nullptr;  // the second is one element
  Loop one_left = nullptr;
  Loop lanes_right = nullptr;  // the second is 16 elements again and again, the count a multiple of 16; float32 only
  Loop lanes_left = nullptr;

  explicit operator bool() const { return each != nullptr; }
};

template <typename Function, typename A, typename B, typename Out>
struct BinaryBodies {
  static MILLRACE_INLINE void Each(const std::byte* a, const std::byte* b, std::byte* out, std::int64_t count) {
    const A* __restrict left = reinterpret_cast<const A*>(a);
    const B* __restrict right = reinterpret_cast<const B*>(b);
    Out* __restrict to = reinterpret_cast<Out*>(out);
    for (std::int64_t i = 0; i < count; ++i) to[i] = Function::Of(left[i], right[i]);
  }
  static MILLRACE_INLINE void OneRight(const std::byte* a, const std::byte* b, std::byte* out, std::int64_t count) {
    const A* __restrict left = reinterpret_cast<const A*>(a);
    const B right = *reinterpret_cast<const B*>(b);
    Out* __restrict to = reinterpret_cast<Out*>(out);
    for (std::int64_t i = 0; i < count; ++i) to[i] = Function::Of(left[i], right);
  }
  static MILLRACE_INLINE void OneLeft(const std::byte* a, const std::byte* b, std::byte* out, std::int64_t count) {
    const A left = *reinterpret_cast<const A*>(a);
    const B* __restrict right = reinterpret_cast<const B*>(b);
    Out* __restrict to = reinterpret_cast<Out*>(out);
    for (std::int64_t i = 0; i < count; ++i) to[i] = Function::Of(left, right[i]);
  }
  static MILLRACE_INLINE void LanesRight(const std::byte* a, const std::byte* b, std::byte* out, std::int64_t count) {
    const A* __restrict left = reinterpret_cast<const A*>(a);
    const B* __restrict right = reinterpret_cast<const B*>(b);
    Out* __restrict to = reinterpret_cast<Out*>(out);
    for (std::int64_t i = 0; i < count; i += 16)
      for (std::int64_t lane = 0; lane < 16; ++lane) to[i + lane] = Function::Of(left[i + lane], right[lane]);
  }
  static MILLRACE_INLINE void LanesLeft(const std::byte* a, const std::byte* b, std::byte* out, std::int64_t count) {
    const A* __restrict left = reinterpret_cast<const A*>(a);
    const B* __restrict right = reinterpret_cast<const B*>(b);
    Out* __restrict to = reinterpret_cast<Out*>(out);
    for (std::int64_t i = 0; i < count; i += 16)
      for (std::int64_t lane = 0; lane < 16; ++lane) to[i + lane] = Function::Of(left[lane], right[i + lane]);
  }
};

template <typename Function, typename A, typename B, typename Out>
BinaryLoops LoopsOf() {
  using Bodies = BinaryBodies<Function, A, B, Out>;
  if constexpr (std::is_same_v<A, float> && std::is_same_v<B, float> && std::is_same_v<Out, float>) {
    return {Versions<&Bodies::Each>::Best(), Versions<&Bodies::OneRight>::Best(), Versions<&Bodies::OneLeft>::Best(),
            Versions<&Bodies::LanesRight>::Best(), Versions<&Bodies::LanesLeft>::Best()};
  } else {
    return {[](auto... all) { Bodies::Each(all...); }, [](auto... all) { Bodies::OneRight(all...); },
            [](auto... all) { Bodies::OneLeft(all...); }, nullptr, nullptr};
  }
}

class BinaryStep : public ElementwiseStep {
 public:
  BinaryStep(const BinaryLoops& loops, const StepShape& shape, std::size_t a_bytes, std::size_t b_bytes,
             std::size_t out_bytes);
  void Apply(const std::byte* const* operands, std::byte* out, std::int64_t begin, std::int64_t count) const override;

 private:
  Broadcast broadcast_;
  BinaryLoops::Loop loop_;
  std::size_t bytes_[2];
  std::size_t out_bytes_;
};

}  // namespace millrace

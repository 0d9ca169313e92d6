// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "millrace/vector/vector_loops.h"

// Vectors of float32 for loops that a compiler would not find by itself, and memory that suits them. Arithmetic on them
// is GNU C++'s, element by element; a vector wider than a register of the instruction set is slow.
namespace millrace {

// How many float32 the memory below is laid out in: a multiple of every register's.
inline constexpr int kLanes = 16;

inline constexpr int kLanesOfBaseline = 4;
inline constexpr int kLanesOfAvx2 = 8;
inline constexpr int kLanesOfAvx512 = 16;

template <int Width>
struct FloatVector;
template <>
struct FloatVector<4> {
  using Type = float __attribute__((vector_size(16), may_alias));
};
template <>
struct FloatVector<8> {
  using Type = float __attribute__((vector_size(32), may_alias));
};
template <>
struct FloatVector<16> {
  using Type = float __attribute__((vector_size(64), may_alias));
};
template <int Width>
using Vector = typename FloatVector<Width>::Type;

// The vector at an address that is aligned to its size.
template <int Width>
MILLRACE_INLINE const Vector<Width>& VectorAt(const float* address) {
  return *reinterpret_cast<const Vector<Width>*>(address);
}
template <int Width>
MILLRACE_INLINE Vector<Width>& VectorAt(float* address) {
  return *reinterpret_cast<Vector<Width>*>(address);
}

// Sum of kLanes floats at an aligned address, in the same order for every instruction set.
MILLRACE_INLINE float SumOfLanes(const float* lanes) {
  const Vector<4> four =
      (VectorAt<4>(lanes) + VectorAt<4>(lanes + 8)) + (VectorAt<4>(lanes + 4) + VectorAt<4>(lanes + 12));
  return (four[0] + four[2]) + (four[1] + four[3]);
}

// Floats at an address for vectors of any width, as many as asked for, rounded up to whole kLanes; 0 at first.
class LaneArray {
 public:
  LaneArray() = default;
  explicit LaneArray(std::size_t floats) : lanes_((floats + kLanes - 1) / kLanes) {}

  float* data() { return lanes_.empty() ? nullptr : lanes_.front().floats; }
  const float* data() const { return lanes_.empty() ? nullptr : lanes_.front().floats; }

 private:
  struct alignas(kLanes * sizeof(float)) Lanes {
    float floats[kLanes] = {};
  };
  std::vector<Lanes> lanes_;
};

}  // namespace millrace

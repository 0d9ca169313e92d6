// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Loops over float32 that are compiled for several instruction sets; the best for this processor is picked once, when a
// kernel is made. The compiler vectorises the bodies, so a body is plain C++ marked MILLRACE_INLINE.
namespace millrace {

#define MILLRACE_INLINE inline __attribute__((always_inline))

enum class InstructionSet { kBaseline, kAvx2, kAvx512 };

// The best one this processor has.
InstructionSet BestInstructionSet();

// Versions<Body>::Best() is Body compiled for this processor.
template <auto Body>
struct Versions;

template <typename... Arguments, void (*Body)(Arguments...)>
struct Versions<Body> {
  static void Baseline(Arguments... arguments) { Body(arguments...); }
  __attribute__((target("avx2,fma"))) static void Avx2(Arguments... arguments) { Body(arguments...); }
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))) static void Avx512(Arguments... arguments) {
    Body(arguments...);
  }

  static auto Best() -> void (*)(Arguments...) {
    switch (BestInstructionSet()) {
      case InstructionSet::kAvx512:
        return &Avx512;
      case InstructionSet::kAvx2:
        return &Avx2;
      case InstructionSet::kBaseline:
        break;
    }
    return &Baseline;
  }
};

// Of three bodies with the same arguments, each for one instruction set, the one for this processor: for loops that are
// shaped by how wide and how many its registers are.
template <auto ForBaseline, auto ForAvx2, auto ForAvx512>
auto BestBodyOf() {
  switch (BestInstructionSet()) {
    case InstructionSet::kAvx512:
      return &Versions<ForAvx512>::Avx512;
    case InstructionSet::kAvx2:
      return &Versions<ForAvx2>::Avx2;
    case InstructionSet::kBaseline:
      break;
  }
  return &Versions<ForBaseline>::Baseline;
}

}  // namespace millrace

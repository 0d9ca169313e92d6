// SPDX-License-Identifier: Apache-2.0
#include "millrace/vector/vector_loops.h"

namespace millrace {

InstructionSet BestInstructionSet() {
  static const InstructionSet best = [] {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return InstructionSet::kBaseline;
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return wide ? InstructionSet::kAvx512 : InstructionSet::kAvx2;
  }();
  return best;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "millrace/vector/vector_loops.h"

// A loop in every version that this processor can run, for tests that hold all of them to the same promise.
namespace millrace::testing {

// By name of the instruction set, the plainest first.
template <auto Body>
auto VersionsHere() {
  std::vector<std::pair<std::string, decltype(Versions<Body>::Best())>> versions = {
      {"baseline", &Versions<Body>::Baseline}};
  const InstructionSet best = BestInstructionSet();
  if (best != InstructionSet::kBaseline) versions.emplace_back("AVX2", &Versions<Body>::Avx2);
  if (best == InstructionSet::kAvx512) versions.emplace_back("AVX-512", &Versions<Body>::Avx512);
  return versions;
}

}  // namespace millrace::testing

// SPDX-License-Identifier: Apache-2.0
#include "millrace/network/weights.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  return fuzz::TakesOrRefuses(data, size, [](std::string_view bytes) {
    const Weights weights = ParseWeights(bytes, "fuzz");
    fuzz::Require(ParseWeights(WeightsBytes(weights), "fuzz") == weights);
  });
}

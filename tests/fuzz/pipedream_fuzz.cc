// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/pipedream.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  return fuzz::TakesOrRefuses(data, size, [](std::string_view text) {
    const ComputationGraph graph = ParsePipeDream(text, "fuzz");
    fuzz::Require(graph.num_ops() > 0 && graph.num_tensors() == graph.num_ops());
  });
}

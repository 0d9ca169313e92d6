// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/dnn_partitioning.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  return fuzz::TakesOrRefuses(data, size, [](std::string_view text) {
    const ComputationGraph graph = ParseDnnPartitioning(text, "fuzz");
    for (const Op& op : graph.ops()) fuzz::Require(op.seconds.stated());
  });
}

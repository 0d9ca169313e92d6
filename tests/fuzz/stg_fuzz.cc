// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/graph_json.h"
#include "millrace/formats/stg.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  return fuzz::TakesOrRefuses(data, size, [](std::string_view text) {
    const ComputationGraph graph = ParseStg(text, "fuzz");
    fuzz::Require(ParseGraphJson(GraphJson(graph)).ops() == graph.ops());
  });
}

// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/graph_json.h"
#include "millrace/formats/json_value.h"
#include "millrace/plan/hash.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  return fuzz::TakesOrRefuses(data, size, [](std::string_view text) {
    static_cast<void>(KindOfJson(text));
    const ComputationGraph graph = ParseGraphJson(text);
    const std::string written = GraphJson(graph);
    const ComputationGraph again = ParseGraphJson(written);
    fuzz::Require(GraphJson(again) == written && GraphHash(again) == GraphHash(graph));
  });
}

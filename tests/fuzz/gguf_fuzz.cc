// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/gguf.h"

#include <sstream>
#include <string>

#include "millrace/formats/language_model.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  return fuzz::TakesOrRefuses(data, size, [](std::string_view text) {
    std::istringstream in{std::string(text)};
    const GgufFile file = ParseGguf(in, text.size());
    const LanguageModel model = LanguageModelOf(file);
    const ComputationGraph graph = GraphOfLanguageModel(model, {8, 100});
    fuzz::Require(graph.num_ops() == model.layers() + 2);
  });
}

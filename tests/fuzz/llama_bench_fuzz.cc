// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "millrace/engines/llama/llama_bench.h"
#include "tests/fuzz/fuzz_target.h"

// What a program of somebody else prints: its answers, then what it logs, apart by a zero byte.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  return fuzz::TakesOrRefuses(data, size, [](std::string_view text) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    const std::string log(text.substr(std::min(end + 1, text.size())));
    LlamaBenchSetting setting;
    setting.prompt_tokens = 512;
    static_cast<void>(ParseLlamaBench(std::string(text.substr(0, end)), log, setting));
  });
}

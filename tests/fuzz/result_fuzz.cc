// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/result_json.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  return fuzz::TakesOrRefuses(data, size, [](std::string_view text) { static_cast<void>(ParseResultJson(text)); });
}

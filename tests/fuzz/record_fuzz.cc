// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/records.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  return fuzz::TakesOrRefuses(data, size, [](std::string_view text) {
    const std::string written = RecordLine(ParseRecordLine(text));
    fuzz::Require(RecordLine(ParseRecordLine(written)) == written);
  });
}

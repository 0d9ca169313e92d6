// SPDX-License-Identifier: Apache-2.0
#include "millrace/machine/preset.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  return fuzz::TakesOrRefuses(data, size, [](std::string_view text) {
    // The host is no input of ours, and slow to look at.
    if (text == "this") return;
    if (const auto machine = MachinePreset(text)) CheckMachine(*machine);
  });
}

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "millrace/errors/errors.h"

// What every fuzz target promises: whatever the bytes are, the reader takes them, or refuses them with one of our two
// exceptions. Anything else that is thrown ends the process, which libFuzzer reports as a crash.
namespace millrace::fuzz {

template <typename Function>
int TakesOrRefuses(const std::uint8_t* data, std::size_t size, const Function& function) {
  try {
    function(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const InvalidInput&) {
  } catch (const WorkFailed&) {
  }
  return 0;
}

// Ends the process where something that must hold does not.
inline void Require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace millrace::fuzz

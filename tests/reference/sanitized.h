// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether a sanitizer watches this build: MILLRACE_SANITIZED, of CMake, for what has to be left out, kSanitized for the
// rest.
namespace millrace::testing {

#ifdef MILLRACE_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// How often a long test over random problems goes round, or how much it is to find. Sanitizers make it many times as
// long and look at the same code in the first rounds: an eighth of them has to do there.
template <typename Count>
constexpr Count Rounds(Count usual) {
  return kSanitized ? (usual + 7) / 8 : usual;
}

}  // namespace millrace::testing

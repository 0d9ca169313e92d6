// SPDX-License-Identifier: Apache-2.0
#pragma once

// How often tests over random problems go round. Sanitizers make all of it ten times as long and look at the same code in
// the first rounds.
namespace millrace::testing {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MILLRACE_FEW_ROUNDS
#endif
#endif

#ifdef MILLRACE_FEW_ROUNDS
inline constexpr bool kSanitized = true;
#undef MILLRACE_FEW_ROUNDS
#else
inline constexpr bool kSanitized = false;
#endif

// Of the usual rounds a quarter under the address sanitizer; of what they are to find, likewise.
constexpr int Rounds(int usual) { return kSanitized ? (usual + 3) / 4 : usual; }

}  // namespace millrace::testing

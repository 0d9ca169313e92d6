// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether a sanitizer watches this build: MILLRACE_SANITIZED for what has to be left out, kSanitized for the rest.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MILLRACE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define MILLRACE_SANITIZED 1
#endif
#endif

namespace millrace::testing {

#ifdef MILLRACE_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// How often a long test over random problems goes round, or how much it is to find. Sanitizers make it many times as
// long and look at the same code in the first rounds: a quarter of them has to do there.
constexpr int Rounds(int usual) { return kSanitized ? (usual + 3) / 4 : usual; }

}  // namespace millrace::testing

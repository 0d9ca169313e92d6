// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace millrace::testing {

// Told how far any work has come, it does nothing.
inline constexpr auto kNoProgress = [](const auto&...) {};

}  // namespace millrace::testing

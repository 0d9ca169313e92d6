// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Ids of ops, groups, devices and rows are signed, as files have them; containers count in std::size_t.
namespace millrace {

// The place of an id, which is at least 0, in a container.
constexpr std::size_t Index(std::int64_t id) { return static_cast<std::size_t>(id); }

}  // namespace millrace

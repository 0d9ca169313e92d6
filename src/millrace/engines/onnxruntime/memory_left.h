// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// How much memory this host has left, asked before a model is loaded many times over. Bytes.
namespace millrace::ort {

// What /proc/meminfo gives as available; infinity where it does not tell. Limits of a control group are not in it.
double MemoryLeft();

// The same from that file's text.
double MemoryLeftIn(std::string_view meminfo);

}  // namespace millrace::ort

// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/onnxruntime/memory_left.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

namespace millrace::ort {

double MemoryLeft() {
  std::ifstream file("/proc/meminfo");
  return MemoryLeftIn(std::string(std::istreambuf_iterator<char>(file), {}));
}

double MemoryLeftIn(std::string_view meminfo) {
  constexpr std::string_view kName = "MemAvailable:";
  constexpr double kKilobyte = 1024;
  const std::size_t name = meminfo.find(kName);
  const std::size_t digits =
      name == std::string_view::npos ? name : meminfo.find_first_not_of(' ', name + kName.size());
  if (digits == std::string_view::npos) return std::numeric_limits<double>::infinity();
  std::uint64_t kilobytes = 0;
  const auto read = std::from_chars(meminfo.data() + digits, meminfo.data() + meminfo.size(), kilobytes);
  return read.ec == std::errc() ? kKilobyte * static_cast<double>(kilobytes) : std::numeric_limits<double>::infinity();
}

}  // namespace millrace::ort

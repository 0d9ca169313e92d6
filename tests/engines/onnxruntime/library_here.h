// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "millrace/engines/onnxruntime/library.h"
#include "millrace/errors/errors.h"

namespace millrace::testing {

// Where tests find ONNX Runtime: $MILLRACE_ONNXRUNTIME, else the npm package that script/bootstrap --test fetches;
// empty where there is neither, for the usual places.
inline std::string OrtPath() {
  const char* const named = std::getenv("MILLRACE_ONNXRUNTIME");
  if (named != nullptr) return named;
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  if (cache == nullptr && home == nullptr) return "";
  const std::filesystem::path base =
      cache != nullptr ? std::filesystem::path(cache) : std::filesystem::path(home) / ".cache";
#if defined(__aarch64__)
  const char* const architecture = "arm64";
#else
  const char* const architecture = "x64";
#endif
  std::error_code error;
  for (std::filesystem::directory_iterator
           entry(base / "millrace" / "npm" / "node_modules" / "onnxruntime-node" / "bin", error),
       end;
       !error && entry != end; entry.increment(error)) {
    const std::filesystem::path folder = entry->path() / "linux" / architecture;
    if (std::filesystem::is_directory(folder)) return folder.string();
  }
  return "";
}

// The library; null where this host has none, and *why then says so.
inline std::shared_ptr<const ort::Library> OrtLibrary(std::string* why) {
  try {
    return std::make_shared<const ort::Library>(OrtPath());
  } catch (const InvalidInput& error) {
    *why = error.what();
    return nullptr;
  }
}

}  // namespace millrace::testing

// For the beginning of a test that needs the library.
#define MILLRACE_SKIP_WITHOUT_ONNXRUNTIME()                                               \
  do {                                                                                    \
    std::string why;                                                                      \
    if (::millrace::testing::OrtLibrary(&why) == nullptr)                                 \
      GTEST_SKIP() << "needs ONNX Runtime (script/bootstrap --test fetches it): " << why; \
  } while (false)

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "millrace/engines/onnxruntime/api.h"

// ONNX Runtime's library, opened at run time from where the user has it: nothing of it is needed to build Millrace.
namespace millrace::ort {

// Where the library is looked for, in order: $MILLRACE_ONNXRUNTIME; the loader's path; the packages onnxruntime-node of
// the folders in $NODE_PATH, of node_modules in the working directory and of those in the folders above it.
struct Places {
  std::string named;                // $MILLRACE_ONNXRUNTIME; empty where it is not set
  std::vector<std::string> loader;  // names that the loader looks up
  std::vector<std::string> files;   // of packages: those that are there
};
Places UsualPlaces();

// The library opened, and its environment. It stays in memory until the process ends: it cannot be unloaded safely.
class Library {
 public:
  // The file, or, where `path` is empty, the first of the usual places that has one. A folder stands for the library in
  // it. Throws InvalidInput, in one line, where there is none, where it cannot be loaded, is not ONNX Runtime's, or is
  // older than 1.14.
  explicit Library(const std::string& path);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const Functions& functions() const { return *functions_; }
  Environment* environment() const { return environment_; }
  const std::string& version() const { return version_; }
  const std::string& path() const { return path_; }  // as it was opened

  // Throws WorkFailed with the library's own words, `what` before them, unless all is well.
  void Check(Status* status, const std::string& what) const;
  // The same words, for those who may not throw; empty where all is well.
  std::string WordsOf(Status* status) const;

 private:
  std::string path_;
  std::string version_;
  std::unique_ptr<Functions> functions_;
  Environment* environment_ = nullptr;
};

}  // namespace millrace::ort

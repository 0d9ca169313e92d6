// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

// libtorch without its warnings.
namespace millrace {

// While one lives libtorch says nothing on stderr. Without it, libtorch says once a process that scatter_reduce may
// change in later versions, which does not help a user.
class QuietTorch {
 public:
  QuietTorch();
  ~QuietTorch();
  QuietTorch(const QuietTorch&) = delete;
  QuietTorch& operator=(const QuietTorch&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace

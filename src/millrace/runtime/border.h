// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

// A program that is one part of a plan: other parts run elsewhere, in other processes, and tensors pass between them
// while all of them run.
namespace millrace {

// What passes: value ids of the model, none twice. Both lie plain, row-major, in buffers of their own that nothing else
// uses.
struct BorderValues {
  std::vector<int> arriving;  // made elsewhere, read here
  std::vector<int> leaving;   // made here, read elsewhere
};

// Who moves them. Called by the workers of a running program, by several at once.
class Border {
 public:
  virtual ~Border() = default;

  // Returns once the i-th arriving tensor is in its buffer; false where it never will be. What then still runs here
  // computes nothing that anybody uses.
  virtual bool Await(int arrival) noexcept = 0;

  // The i-th leaving tensor is complete and stays as it is until the next run. Must not wait.
  virtual void Depart(int departure) noexcept = 0;
};

}  // namespace millrace

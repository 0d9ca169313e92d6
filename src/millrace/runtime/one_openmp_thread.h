// SPDX-License-Identifier: Apache-2.0
#pragma once

// oneDNN as Debian builds it takes its threads from OpenMP, both when a primitive is created and when it is executed.
// Our workers are its threads: whoever creates or executes a primitive does so inside one of these scopes.
namespace millrace {

// While it lives, the OpenMP runtime of this process gives the calling thread teams of one thread.
class OneOpenMpThread {
 public:
  OneOpenMpThread();
  ~OneOpenMpThread();
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

 private:
  int before_ = 0;  // the thread's setting, put back at the end
};

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>

#include "millrace/runtime/progress.h"

// The threads that execute plans: one per processor, pinned to it for good.
//
// Between two runs a worker waits as Progress does: it spins briefly, so that runs in close succession start at once,
// and parks. While working, a thread has OpenMP teams of one (oneDNN must not start threads of its own) and flushes
// denormal floats to zero, which costs nothing in a network's accuracy and up to a hundredfold in time where it is not
// done.
//
// The thread that calls Run does the work of the first worker itself, moved to that worker's processor for the time of
// the run and put back after it: a plan on one processor is executed without any hand-over.
namespace millrace {

class WorkerPool {
 public:
  // Worker i runs on processor cpus[i]. Throws InvalidInput where one is listed twice or not ours to use, WorkFailed
  // where a thread cannot be had.
  explicit WorkerPool(std::vector<int> cpus);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int size() const { return static_cast<int>(cpus_.size()); }
  const std::vector<int>& cpus() const { return cpus_; }

  // Calls job(worker), which must not throw, on each of `workers` (ascending, distinct, at least one) at once. Returns
  // when all have returned, with the seconds between: the time of a run, without moving the caller to its processor and
  // back. Allocates nothing. Runs of one pool exclude each other. Throws WorkFailed where the caller cannot be moved.
  template <typename Job>
  double Run(std::span<const int> workers, Job&& job) {
    using Function = std::remove_reference_t<Job>;
    return RunErased(
        workers, [](void* context, int worker) noexcept { (*static_cast<Function*>(context))(worker); }, &job);
  }

 private:
  using Work = void (*)(void* context, int worker) noexcept;

  double RunErased(std::span<const int> workers, Work work, void* context);
  void Serve(int worker);
  void Close();

  Progress finished_;  // workers done with this run, the caller aside
  std::vector<int> cpus_;
  std::unique_ptr<Progress[]> started_;  // by worker: how many runs it has been called to
  Work work_ = nullptr;
  void* context_ = nullptr;
  bool closing_ = false;  // read after started_ was raised
  std::mutex one_run_;
  std::vector<std::thread> threads_;  // of worker 1, 2, ...: worker 0 is always the caller
};

}  // namespace millrace

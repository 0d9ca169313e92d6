// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/worker_pool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <system_error>

#if defined(__SSE2__)
#include <pmmintrin.h>
#endif

#include "millrace/errors/errors.h"
#include "millrace/runtime/host_units.h"
#include "millrace/runtime/one_openmp_thread.h"

namespace millrace {
namespace {

class FlushDenormals {
 public:
#if defined(__SSE2__)
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON); }
  ~FlushDenormals() { _mm_setcsr(before_); }
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;
#if !defined(__SSE2__)
  FlushDenormals() = default;
#endif

 private:
  unsigned before_ = 0;
};

// Processor numbers up to 8191: the largest configuration Linux distributions build for.
using AffinityMask = std::array<cpu_set_t, 8>;

AffinityMask MaskOf(int cpu) {
  AffinityMask mask{};
  CPU_SET_S(static_cast<std::size_t>(cpu), sizeof(mask), mask.data());
  return mask;
}

// The calling thread on one processor, and back where it was at the end. On the stack throughout.
class OnProcessor {
 public:
  explicit OnProcessor(int cpu) {
    const AffinityMask mask = MaskOf(cpu);
    const pthread_t self = pthread_self();
    if (pthread_getaffinity_np(self, sizeof(before_), before_.data()) != 0 ||
        pthread_setaffinity_np(self, sizeof(mask), mask.data()) != 0) {
      throw WorkFailed(fmt::format("processor {} can no longer be used by this process", cpu));
    }
  }
  ~OnProcessor() { pthread_setaffinity_np(pthread_self(), sizeof(before_), before_.data()); }
  OnProcessor(const OnProcessor&) = delete;
  OnProcessor& operator=(const OnProcessor&) = delete;

 private:
  AffinityMask before_{};
};

}  // namespace

WorkerPool::WorkerPool(std::vector<int> cpus) : cpus_(std::move(cpus)), started_(new Progress[cpus_.size()]) {
  const std::vector<int> allowed = AllowedProcessors();
  std::set<int> distinct;
  for (const int cpu : cpus_) {
    if (!std::binary_search(allowed.begin(), allowed.end(), cpu) || cpu >= static_cast<int>(sizeof(AffinityMask)) * 8) {
      throw InvalidInput(
          fmt::format("processor {} is not one this process may use ({})", cpu, fmt::join(allowed, ", ")));
    }
    if (!distinct.insert(cpu).second) throw InvalidInput(fmt::format("processor {} is asked for twice", cpu));
  }
  if (cpus_.empty()) throw InvalidInput("a pool of workers needs at least one processor");
  try {
    for (int worker = 1; worker < size(); ++worker) {
      threads_.emplace_back([this, worker] { Serve(worker); });
      const int cpu = cpus_[static_cast<std::size_t>(worker)];
      const AffinityMask mask = MaskOf(cpu);
      if (pthread_setaffinity_np(threads_.back().native_handle(), sizeof(mask), mask.data()) != 0) {
        throw WorkFailed(fmt::format("no worker can be pinned to processor {}", cpu));
      }
    }
  } catch (const std::system_error& error) {
    Close();
    throw WorkFailed(fmt::format("no thread for a worker: {}", error.what()));
  } catch (...) {
    Close();
    throw;
  }
}

WorkerPool::~WorkerPool() { Close(); }

void WorkerPool::Close() {
  closing_ = true;
  for (std::size_t i = 0; i < threads_.size(); ++i) started_[i + 1].RaiseByOne();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Serve(int worker) {
  const OneOpenMpThread one_thread;
  const FlushDenormals flush;
  for (std::uint32_t run = 1;; ++run) {
    started_[static_cast<std::size_t>(worker)].Await(run);
    if (closing_) return;
    work_(context_, worker);
    finished_.RaiseByOne();
  }
}

double WorkerPool::RunErased(std::span<const int> workers, Work work, void* context) {
  const std::lock_guard lock(one_run_);
  const int own = workers.front();
  const OnProcessor pinned(cpus_[static_cast<std::size_t>(own)]);
  const OneOpenMpThread one_thread;
  const FlushDenormals flush;
  work_ = work;
  context_ = context;
  finished_.Reset();
  const auto start = std::chrono::steady_clock::now();
  for (const int worker : workers.subspan(1)) started_[static_cast<std::size_t>(worker)].RaiseByOne();
  work(context, own);
  finished_.Await(static_cast<std::uint32_t>(workers.size() - 1));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace millrace

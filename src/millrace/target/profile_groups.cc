// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/profile_groups.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <vector>

#include "millrace/machine/detect.h"
#include "millrace/random/random.h"
#include "millrace/runtime/aligned_memory.h"
#include "millrace/runtime/kernel.h"
#include "millrace/runtime/one_openmp_thread.h"
#include "millrace/runtime/progress.h"
#include "millrace/runtime/reorder.h"
#include "millrace/runtime/weight_cache.h"
#include "millrace/runtime/worker_pool.h"
#include "millrace/target/disturbance.h"
#include "millrace/target/random_inputs.h"
#include "millrace/target/statistics.h"

namespace millrace {
namespace {

constexpr std::size_t kEvictedBytes = std::size_t{4} << 20;  // more than a core's own caches hold
constexpr std::size_t kCacheLine = 64;

// A thread that waited longer than this around a run was kept from it by somebody; a wake-up takes a few microseconds.
constexpr double kWaitedSeconds = 5e-6;
constexpr double kWaitedShare = 0.05;

constexpr double kMostSpread = 2;  // of a steady group: median / minimum
constexpr int kMostAttempts = 3;

using Seconds = std::chrono::duration<double>;

// Reads the bytes, so that they are in the reader's cache; `sink` keeps the reads alive.
void Read(const std::byte* bytes, std::size_t size, std::atomic<unsigned>& sink) {
  unsigned sum = 0;
  for (std::size_t at = 0; at < size; at += kCacheLine) sum += static_cast<unsigned>(bytes[at]);
  sink.fetch_add(sum, std::memory_order_relaxed);
}

// Writes the worker's part of the bytes, without changing them: a gang before this one has, and shared them out alike
// (runtime/memory_halves.h).
void Rewrite(std::byte* bytes, std::size_t size, std::size_t worker, std::size_t workers) {
  const std::size_t end = size * (worker + 1) / workers;
  for (std::size_t at = size * worker / workers; at < end; at += kCacheLine) {
    volatile std::byte* const line = bytes + at;
    *line = *line;
  }
}

// Drops `worker`'s part of the bytes from every cache. Processors without such an instruction leave them where they
// are.
void Drop(std::span<const std::byte> bytes, std::size_t worker, std::size_t workers) {
#ifdef __SSE2__
  const std::size_t end = bytes.size() * (worker + 1) / workers;
  for (std::size_t at = bytes.size() * worker / workers; at < end; at += kCacheLine) _mm_clflush(bytes.data() + at);
  _mm_mfence();
#else
  (void)bytes, (void)worker, (void)workers;
#endif
}

// By value, as a gang's heavy kernels or one worker's make it: they put channels innermost where they can, but one
// worker's keep floats in blocks. What the caller gives is plain.
std::vector<Layout> LayoutsMade(const Model& model, bool by_gang) {
  std::vector<Layout> layouts;
  for (const Value& value : model.values) {
    Layout layout = Layout::kPlain;
    const bool innermost = by_gang || value.type != DataType::kFloat32;
    if (value.producer >= 0 && CanBeBlocked(value.type, value.shape)) layout = Layout::kBlocked;
    if (value.producer >= 0 && innermost && CanHaveChannelsLast(value.type, value.shape))
      layout = Layout::kChannelsLast;
    layouts.push_back(layout);
  }
  return layouts;
}

// One group with buffers of its own, ready to be run again and again.
class ProfiledGroup {
 public:
  ProfiledGroup(const Model& model, std::span<const int> nodes, std::size_t workers, const ProfileGroupOptions& options)
      : options_(options),
        workers_(workers),
        times_(static_cast<std::size_t>(std::max(options.most_runs, 1))),
        waited_(workers, std::vector<double>(times_.size())) {
    const OneOpenMpThread one_thread;
    KernelRequest request;
    request.model = &model;
    request.nodes = nodes;
    request.workers = static_cast<int>(workers);
    request.weights = &weights_;
    request.available = LayoutsMade(model, workers > 1);
    kernel_ = MakeKernel(request);
    // What costs next to nothing after a core is timed as after a gang, which keeps channels innermost.
    if (workers == 1 && !kernel_->placed_inputs().empty()) {
      request.available = LayoutsMade(model, true);
      kernel_ = MakeKernel(request);
    }
    for (const TensorSpec& spec : kernel_->output_specs()) outputs_.push_back(Keep(spec.bytes()));
    Random random(1);
    for (std::size_t i = 0; i < kernel_->inputs().size(); ++i) {
      const TensorSpec& spec = kernel_->input_specs()[i];
      TensorSpec plain = spec;
      plain.layout = Layout::kPlain;
      const std::shared_ptr<std::byte> drawn = AllocateAligned(plain.bytes());
      FillRandomly(model, kernel_->inputs()[i], random, {drawn.get(), plain.bytes()});
      inputs_.push_back(RoomFor(model, static_cast<int>(i)));
      Reorder(plain, drawn.get(), spec.layout, inputs_.back(), 1, 0);
    }
    scratch_ = Keep(kernel_->scratch_bytes());
    if (options.weights_apart) dropped_ = weights_.Held();
    for (std::size_t worker = 0; worker < workers; ++worker) {
      std::byte* evicting = Keep(kEvictedBytes);
      // Pages never written to are all one page of zeros, which would push nothing out.
      std::fill_n(evicting, kEvictedBytes, std::byte{1});
      evicting_.push_back(evicting);
    }
  }

  ProfiledTime Measure(WorkerPool& pool) {
    std::vector<int> all(workers_);
    std::iota(all.begin(), all.end(), 0);
    ProfiledTime time;
    std::vector<ProfiledRun> runs;
    for (int attempt = 0; attempt < kMostAttempts && (attempt == 0 || time.disturbed); ++attempt) {
      started_ = std::chrono::steady_clock::now();
      runs_ = 0;
      finished_ = false;
      pool.Run(all, [this](int worker) { Work(static_cast<std::size_t>(worker)); });
      for (std::size_t run = 0; run < runs_; ++run) {
        double longest = 0;
        for (const std::vector<double>& waited : waited_) longest = std::max(longest, waited[run]);
        runs.push_back({times_[run], longest});
      }
      time = TimeOf(runs, options_);
    }
    return time;
  }

 private:
  std::byte* Keep(std::size_t bytes) {
    memory_.push_back(AllocateAligned(bytes));
    return memory_.back().get();
  }

  // Inside the output where a program would have it so: not what the caller gives.
  std::byte* RoomFor(const Model& model, int input) {
    const auto at = static_cast<std::size_t>(input);
    const bool made = model.values[static_cast<std::size_t>(kernel_->inputs()[at])].producer >= 0;
    for (const PlacedInput& placed : kernel_->placed_inputs()) {
      if (made && placed.input == input) return outputs_.front() + placed.offset;
    }
    return Keep(kernel_->input_specs()[at].bytes());
  }

  void Meet() {
    if (workers_ > 1) barrier_.Meet(static_cast<std::uint32_t>(workers_));
  }

  void RunKernel(std::size_t share) {
    const KernelBuffers buffers{inputs_.data(), outputs_.data(), scratch_};
    for (int phase = 0; phase < kernel_->phases(); ++phase) {
      if (phase > 0) Meet();
      kernel_->Run(buffers, phase, static_cast<int>(share));
    }
  }

  void Work(std::size_t share) {
    const WaitingClock waiting;
    RunKernel(share);
    for (std::size_t run = 0;; ++run) {
      for (const std::span<const std::byte> weights : dropped_) Drop(weights, share, workers_);
      Read(evicting_[share], kEvictedBytes, sink_);
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const std::size_t bytes = kernel_->input_specs()[i].bytes();
        if (workers_ > 1) {
          Rewrite(inputs_[i], bytes, share, workers_);
        } else {
          Read(inputs_[i], bytes, sink_);
        }
      }
      // The memory of outputs held something else before, which a gang wrote as well.
      for (std::size_t i = 0; workers_ > 1 && i < outputs_.size(); ++i)
        Rewrite(outputs_[i], kernel_->output_specs()[i].bytes(), share, workers_);
      const double waited_before = waiting.Seconds();
      Meet();
      const auto start = std::chrono::steady_clock::now();
      RunKernel(share);
      Meet();
      const auto now = std::chrono::steady_clock::now();
      waited_[share][run] = waiting.Seconds() - waited_before;
      if (share == 0) {
        times_[runs_++] = Seconds(now - start).count();
        const bool enough = runs_ >= static_cast<std::size_t>(std::max(options_.least_runs, 1)) &&
                            Seconds(now - started_).count() >= options_.seconds;
        finished_ = enough || runs_ == times_.size();
      }
      Meet();
      if (finished_) return;
    }
  }

  PhaseBarrier barrier_;
  const ProfileGroupOptions options_;
  const std::size_t workers_;
  WeightCache weights_;
  std::unique_ptr<Kernel> kernel_;
  std::vector<std::shared_ptr<std::byte>> memory_;
  std::vector<std::byte*> inputs_;
  std::vector<std::byte*> outputs_;
  std::byte* scratch_ = nullptr;
  std::vector<const std::byte*> evicting_;           // by worker: what pushes everything else out of its cache
  std::vector<std::span<const std::byte>> dropped_;  // weights that come from memory in every run
  std::atomic<unsigned> sink_{0};
  std::vector<double> times_;                // by run
  std::vector<std::vector<double>> waited_;  // by worker and run
  std::size_t runs_ = 0;
  bool finished_ = false;  // written by the first worker between two barriers
  std::chrono::steady_clock::time_point started_;
};

}  // namespace

bool WeightsLeaveCaches(std::size_t weight_bytes, std::size_t cache_bytes) { return weight_bytes > cache_bytes / 3; }

bool WeightsLeaveCaches(const Model& model) {
  std::size_t bytes = 0;
  for (const Value& value : model.values) bytes += value.constant ? value.constant->bytes() : 0;
  return WeightsLeaveCaches(bytes, LargestCacheBytes());
}

ProfiledTime TimeOf(std::span<const ProfiledRun> runs, const ProfileGroupOptions& options) {
  std::vector<double> all, left_alone;
  for (const ProfiledRun& run : runs) {
    all.push_back(run.seconds);
    if (run.waited <= kWaitedSeconds + kWaitedShare * run.seconds) left_alone.push_back(run.seconds);
  }
  if (left_alone.size() < static_cast<std::size_t>(std::max(options.least_runs, 1))) return {Quantile(all, 0), true};
  const double least = Quantile(left_alone, 0);
  const double median = Median(left_alone);
  if (median > kMostSpread * least) return {Quantile(all, 0), true};
  return {options.minimum ? least : median, false};
}

ProfiledTime ProfileGroup(const Model& model, std::span<const int> nodes, std::span<const int> cpus,
                          const ProfileGroupOptions& options) {
  WorkerPool pool({cpus.begin(), cpus.end()});
  return ProfiledGroup(model, nodes, cpus.size(), options).Measure(pool);
}

}  // namespace millrace

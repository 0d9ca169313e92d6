// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "millrace/random/random.h"
#include "millrace/runtime/executor.h"
#include "millrace/runtime/host_units.h"
#include "tests/runtime/allocation_count.h"

// The executor on programs written down by hand, with kernels that only watch.
namespace millrace {
namespace {

// Marks each worker's passage through each phase; complains where a worker is in a phase before all have left the one
// before, or where a step it needs is not over.
class Watcher : public Kernel {
 public:
  Watcher(int workers, int phases, std::vector<const Watcher*> needs) : workers_(workers), needs_(std::move(needs)) {
    phases_ = phases;
  }

  void Run(const KernelBuffers& /*buffers*/, int phase, int /*worker*/) const override {
    for (const Watcher* needed : needs_)
      complaints_ += needed->passed_.load() < needed->phases_ * needed->workers_ * (run_ + 1);
    complaints_ += passed_.load() < run_ * phases_ * workers_ + phase * workers_;
    ++passed_;
  }

  void NextRun() { ++run_; }
  int complaints() const { return complaints_.load(); }
  int passed() const { return passed_.load(); }

 private:
  int workers_;
  std::vector<const Watcher*> needs_;
  int run_ = 0;
  mutable std::atomic<int> passed_{0};
  mutable std::atomic<int> complaints_{0};
};

struct Watched {
  Program program;
  std::vector<Watcher*> watchers;
};

// Random steps over all processors, gangs among them, each needing some earlier steps; every wait is stated, none
// spared.
Watched RandomSteps(Random& random, int steps) {
  Watched watched;
  Program& program = watched.program;
  program.cpus = AllowedProcessors();
  program.instructions.resize(program.cpus.size());
  std::vector<std::vector<Wait>> over(static_cast<std::size_t>(steps));  // by step: what its being over means
  for (int step = 0; step < steps; ++step) {
    ProgramStep made;
    made.group = step;
    if (random.Below(3) == 0) {
      for (std::size_t worker = 0; worker < program.cpus.size(); ++worker)
        made.workers.push_back(static_cast<int>(worker));
    } else {
      made.workers = {static_cast<int>(random.Below(program.cpus.size()))};
    }
    std::vector<const Watcher*> needs;
    std::vector<Wait> waits;
    for (int attempt = 0; attempt < 2 && step > 0; ++attempt) {
      const std::size_t needed = random.Below(static_cast<std::uint64_t>(step));
      needs.push_back(watched.watchers[needed]);
      waits.insert(waits.end(), over[needed].begin(), over[needed].end());
    }
    const int workers = static_cast<int>(made.workers.size());
    auto watcher = std::make_unique<Watcher>(workers, 1 + static_cast<int>(random.Below(3)), std::move(needs));
    watched.watchers.push_back(watcher.get());
    made.kernel = std::move(watcher);
    for (int share = 0; share < workers; ++share) {
      const int worker = made.workers[static_cast<std::size_t>(share)];
      std::vector<Instruction>& chain = program.instructions[static_cast<std::size_t>(worker)];
      chain.push_back({step, share, waits, {}});
      over[static_cast<std::size_t>(step)].push_back({worker, static_cast<std::uint32_t>(chain.size())});
    }
    program.steps.push_back(std::move(made));
  }
  return watched;
}

TEST(ExecutorOrder, StepsWaitForWhatTheyNeedAndGangsKeepTheirPhasesTogether) {
  Random random(31);
  WorkerPool pool(AllowedProcessors());
  for (int round = 0; round < 8; ++round) {
    const Watched watched = RandomSteps(random, 40);
    Executor executor(watched.program, pool);
    for (int run = 0; run < 10; ++run) {
      executor.Run();
      for (Watcher* watcher : watched.watchers) watcher->NextRun();
    }
    for (const Watcher* watcher : watched.watchers) EXPECT_EQ(watcher->complaints(), 0);
    for (std::size_t step = 0; step < watched.watchers.size(); ++step) {
      const int parts = static_cast<int>(watched.program.steps[step].workers.size());
      EXPECT_EQ(watched.watchers[step]->passed(), 10 * parts * watched.program.steps[step].kernel->phases());
    }
  }
}

TEST(ExecutorOrder, RunsTakeNothingFromTheHeap) {
  if (!testing::CountsAllocations()) GTEST_SKIP() << "a sanitizer keeps the heap";
  Random random(32);
  WorkerPool pool(AllowedProcessors());
  const Watched watched = RandomSteps(random, 200);
  Executor executor(watched.program, pool);
  executor.Run();
  const std::uint64_t before = testing::AllocationsSoFar();
  for (int run = 0; run < 100; ++run) executor.Run();
  EXPECT_EQ(testing::AllocationsSoFar() - before, 0u);
}

TEST(ExecutorOrder, TracedRunsTakeNothingFromTheHeapAfterTheFirst) {
  if (!testing::CountsAllocations()) GTEST_SKIP() << "a sanitizer keeps the heap";
  Random random(33);
  WorkerPool pool(AllowedProcessors());
  const Watched watched = RandomSteps(random, 200);
  Executor executor(watched.program, pool);
  std::vector<StepTime> times;
  executor.RunTraced(&times);
  const std::uint64_t before = testing::AllocationsSoFar();
  for (int run = 0; run < 100; ++run) executor.RunTraced(&times);
  EXPECT_EQ(testing::AllocationsSoFar() - before, 0u);
}

}  // namespace
}  // namespace millrace

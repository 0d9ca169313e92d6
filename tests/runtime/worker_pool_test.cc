// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>

#include "millrace/errors/errors.h"
#include "millrace/runtime/host_units.h"

namespace millrace {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<int> AllWorkers(const WorkerPool& pool) {
  std::vector<int> workers(static_cast<std::size_t>(pool.size()));
  for (std::size_t i = 0; i < workers.size(); ++i) workers[i] = static_cast<int>(i);
  return workers;
}

TEST(WorkerPool, RunsTheJobOnceOnEveryWorkerAndOnItsProcessor) {
  WorkerPool pool(AllowedProcessors());
  const std::vector<int> workers = AllWorkers(pool);
  std::vector<int> calls(workers.size(), 0), cpus(workers.size(), -1);
  for (int run = 1; run <= 100; ++run) {
    pool.Run(workers, [&](int worker) {
      ++calls[static_cast<std::size_t>(worker)];
      cpus[static_cast<std::size_t>(worker)] = sched_getcpu();
    });
    EXPECT_THAT(calls, ::testing::Each(run));
  }
  EXPECT_THAT(cpus, ElementsAreArray(pool.cpus()));
}

TEST(WorkerPool, RunsOnSomeWorkersLeaveTheOthersAlone) {
  WorkerPool pool(AllowedProcessors());
  const std::vector<int> all = AllWorkers(pool);
  std::vector<int> calls(all.size(), 0);
  for (const int worker : all) {
    const std::vector<int> one = {worker};
    pool.Run(one, [&](int called) {
      EXPECT_EQ(called, worker);
      EXPECT_EQ(sched_getcpu(), pool.cpus()[static_cast<std::size_t>(worker)]);
      ++calls[static_cast<std::size_t>(worker)];
    });
  }
  pool.Run(all, [&](int worker) { ++calls[static_cast<std::size_t>(worker)]; });
  EXPECT_THAT(calls, ::testing::Each(2));
}

TEST(WorkerPool, PutsTheCallerBackWhereItWas) {
  WorkerPool pool(AllowedProcessors());
  const std::vector<int> before = AllowedProcessors();
  pool.Run(AllWorkers(pool), [](int) {});
  EXPECT_EQ(AllowedProcessors(), before);
}

TEST(WorkerPool, WakesWorkersThatHaveParked) {
  WorkerPool pool(AllowedProcessors());
  std::atomic<int> calls{0};
  for (int run = 0; run < 5; ++run) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const double seconds = pool.Run(AllWorkers(pool), [&](int) { ++calls; });
    EXPECT_GE(seconds, 0);
  }
  EXPECT_EQ(calls.load(), 5 * pool.size());
}

TEST(WorkerPool, WhatOneRunWroteTheNextOneSees) {
  WorkerPool pool(AllowedProcessors());
  const std::vector<int> workers = AllWorkers(pool);
  std::vector<std::uint64_t> values(workers.size(), 1);
  for (int run = 0; run < 200; ++run) {
    // Each worker reads its neighbour's value of the run before.
    std::vector<std::uint64_t> next(values.size());
    pool.Run(workers, [&](int worker) {
      const std::size_t own = static_cast<std::size_t>(worker);
      next[own] = values[(own + 1) % values.size()] + 1;
    });
    values = next;
  }
  EXPECT_THAT(values, ::testing::Each(201u));
}

TEST(WorkerPool, RefusesProcessorsItMayNotUse) {
  EXPECT_THAT([] { WorkerPool pool({100000}); }, ThrowsMessage<InvalidInput>(HasSubstr("processor 100000")));
  EXPECT_THAT([] { WorkerPool pool(std::vector<int>{}); }, ThrowsMessage<InvalidInput>(HasSubstr("at least one")));
  const int cpu = AllowedProcessors().front();
  EXPECT_THAT([cpu] { WorkerPool pool({cpu, cpu}); }, ThrowsMessage<InvalidInput>(HasSubstr("twice")));
}

TEST(HostUnits, RefusesAMachineWithUnitsThatAreNotOurs) {
  const int cpu = AllowedProcessors().front();
  Device near;
  near.name = "near";
  near.units = {cpu};
  Device far = near;
  far.name = "far";
  far.units = {cpu, 70000};
  Machine machine;
  machine.name = "board";
  machine.devices = {near};
  EXPECT_NO_THROW(CheckRunsHere(machine));
  machine.devices.push_back(far);
  EXPECT_THAT([&] { CheckRunsHere(machine); },
              ThrowsMessage<InvalidInput>(AllOf(HasSubstr("board"), HasSubstr("unit 70000"), HasSubstr("far"))));
}

TEST(PhaseBarrier, NobodyPassesBeforeAllHaveCome) {
  WorkerPool pool(AllowedProcessors());
  const std::vector<int> workers = AllWorkers(pool);
  PhaseBarrier barrier;
  std::vector<int> phase(workers.size(), 0);
  std::atomic<int> early{0};
  for (int run = 0; run < 20; ++run) {
    barrier.Reset();
    pool.Run(workers, [&](int worker) {
      for (int i = 0; i < 50; ++i) {
        phase[static_cast<std::size_t>(worker)] = run * 50 + i;
        barrier.Meet(static_cast<std::uint32_t>(pool.size()));
        for (const int seen : phase) early += seen != run * 50 + i;
        barrier.Meet(static_cast<std::uint32_t>(pool.size()));
      }
    });
  }
  EXPECT_EQ(early.load(), 0);
}

}  // namespace
}  // namespace millrace

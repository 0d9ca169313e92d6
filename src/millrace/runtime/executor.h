// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "millrace/formats/model.h"
#include "millrace/runtime/border.h"
#include "millrace/runtime/program.h"
#include "millrace/runtime/run_fault.h"
#include "millrace/runtime/worker_pool.h"

// Runs a program: owns the memory its tensors lie in, and uses a pool of workers that others may use in turn.
namespace millrace {

// When a worker had its part in a step. Seconds from the start of the run.
struct StepTime {
  int step = 0;
  int group = 0;  // of the plan, that the step belongs to
  int cpu = 0;
  double start = 0;  // its waits were over
  double finish = 0;
};

// What becomes of an index in the data that names no element: an error, or, for made-up data that is only timed, the
// first element's in its place.
enum class OnFault { kThrow, kIgnore };

class Executor {
 public:
  // Program and pool outlive the executor; a program has one executor at a time. Throws InvalidInput where the pool
  // lacks a processor of the program, WorkFailed where there is no memory.
  Executor(const Program& program, WorkerPool& pool, OnFault on_fault = OnFault::kThrow);

  // The i-th input or output of the model: plain, row-major. Inputs keep what is written to them; they start as zeros.
  // Outputs hold what the last run made.
  std::span<std::byte> input(std::size_t i) { return SpanOf(program_.inputs[i]); }
  std::span<const std::byte> output(std::size_t i) { return SpanOf(program_.outputs[i]); }

  // What crosses the border, for whoever moves it. Arriving tensors may be written from the start of a run until their
  // Await returns, leaving ones read from their Depart until the next run.
  std::span<std::byte> arrival(std::size_t i) { return SpanOf(program_.arrivals[i]); }
  std::span<const std::byte> departure(std::size_t i) { return SpanOf(program_.departures[i]); }

  // One run; the seconds it took, by the steady clock around it. Allocates nothing. Throws InvalidInput where an index
  // in the data names no element, unless that is ignored; the outputs then mean nothing. `border`: where the program is
  // a part of a plan; null otherwise.
  double Run(Border* border = nullptr);

  // One run that also notes when each step ran: by worker, then in its order. Costs two reads of a counter a step.
  // Allocates nothing where `times` has room from an earlier run.
  double RunTraced(std::vector<StepTime>* times);

  // Of the block all tensors lie in.
  std::size_t memory_bytes() const { return program_.memory.bytes; }

 private:
  struct Pointers {
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    std::byte* scratch = nullptr;
  };

  // By tick_counter.h.
  struct StepTicks {
    std::uint64_t start = 0;
    std::uint64_t finish = 0;
  };

  std::span<std::byte> SpanOf(const ProgramTensor& tensor);
  std::byte* At(int buffer) const;
  void ResetCounts();
  template <bool traced>
  void Work(int worker, StepTicks* ticks);

  const Program& program_;
  WorkerPool& pool_;
  std::vector<int> pool_workers_;     // by worker of the program: its number in the pool
  std::vector<int> program_workers_;  // and back
  std::shared_ptr<std::byte> memory_;
  OnFault on_fault_;
  RunFault fault_;
  std::vector<Pointers> pointers_;           // by step
  std::unique_ptr<Progress[]> finished_;     // by worker: its steps that are finished
  std::unique_ptr<PhaseBarrier[]> barrier_;  // by step; used by gangs between phases
  std::vector<std::size_t> first_ticks_;     // by worker: where its part of ticks_ begins; and the end
  std::vector<StepTicks> ticks_;             // by worker, then in its order
  std::unique_ptr<Progress[]> leaving_;      // by step: workers that have finished it, where something leaves then
  Border* border_ = nullptr;                 // of this run
};

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/executor.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "millrace/errors/errors.h"
#include "millrace/runtime/aligned_memory.h"
#include "millrace/runtime/tick_counter.h"

namespace millrace {
namespace {

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

Executor::Executor(const Program& program, WorkerPool& pool, OnFault on_fault)
    : program_(program),
      pool_(pool),
      program_workers_(pool.cpus().size(), -1),
      memory_(AllocateAligned(program.memory.bytes)),
      on_fault_(on_fault),
      finished_(new Progress[program.cpus.size()]),
      barrier_(new PhaseBarrier[program.steps.size()]),
      first_ticks_{0},
      leaving_(new Progress[program.departures.empty() ? 0 : program.steps.size()]) {
  std::vector<std::pair<int, int>> numbers;  // of each worker: in the pool, in the program
  for (std::size_t worker = 0; worker < program.cpus.size(); ++worker) {
    const auto at = std::find(pool.cpus().begin(), pool.cpus().end(), program.cpus[worker]);
    if (at == pool.cpus().end()) {
      throw InvalidInput(fmt::format("the plan uses processor {}, for which there is no worker", program.cpus[worker]));
    }
    const std::ptrdiff_t in_pool = at - pool.cpus().begin();
    pool_workers_.push_back(static_cast<int>(in_pool));
    program_workers_[static_cast<std::size_t>(in_pool)] = static_cast<int>(worker);
  }
  std::sort(pool_workers_.begin(), pool_workers_.end());
  for (const std::vector<Instruction>& instructions : program.instructions)
    first_ticks_.push_back(first_ticks_.back() + instructions.size());
  ticks_.resize(first_ticks_.back());
  for (const ProgramStep& step : program.steps) {
    Pointers pointers;
    for (const int buffer : step.inputs) pointers.inputs.push_back(At(buffer));
    for (const int buffer : step.outputs) pointers.outputs.push_back(At(buffer));
    if (step.scratch >= 0) pointers.scratch = At(step.scratch);
    pointers_.push_back(std::move(pointers));
  }
  for (const auto& [buffer, constant] : program.constants) constant->CopyTo(At(buffer));
}

double Executor::Run(Border* border) {
  border_ = border;
  ResetCounts();
  const double seconds = pool_.Run(
      pool_workers_, [this](int worker) { Work<false>(program_workers_[static_cast<std::size_t>(worker)], nullptr); });
  if (on_fault_ == OnFault::kThrow) fault_.ThrowIfNoted();
  return seconds;
}

double Executor::RunTraced(std::vector<StepTime>* times) {
  ResetCounts();
  const double start = Now();
  const std::uint64_t first_tick = ReadTicks();
  std::uint64_t began = first_tick;
  const double seconds = pool_.Run(pool_workers_, [&](int pool_worker) {
    // This thread's, which has been moved to its processor by now.
    if (pool_worker == pool_workers_.front()) began = ReadTicks();
    const int worker = program_workers_[static_cast<std::size_t>(pool_worker)];
    Work<true>(worker, ticks_.data() + first_ticks_[static_cast<std::size_t>(worker)]);
  });
  const std::uint64_t last_tick = ReadTicks();
  const double last = Now();
  if (on_fault_ == OnFault::kThrow) fault_.ThrowIfNoted();
  const double seconds_per_tick =
      (last - start) / static_cast<double>(std::max<std::uint64_t>(1, last_tick - first_tick));
  // Counters of two processors may differ by some ticks.
  const auto since_start = [&](std::uint64_t tick) {
    return tick > began ? static_cast<double>(tick - began) * seconds_per_tick : 0.0;
  };
  times->resize(ticks_.size());
  for (std::size_t worker = 0; worker < program_.cpus.size(); ++worker) {
    for (std::size_t i = first_ticks_[worker]; i < first_ticks_[worker + 1]; ++i) {
      const int step = program_.instructions[worker][i - first_ticks_[worker]].step;
      const double step_began = since_start(ticks_[i].start);
      (*times)[i] = {step, program_.steps[static_cast<std::size_t>(step)].group, program_.cpus[worker], step_began,
                     std::max(step_began, since_start(ticks_[i].finish))};
    }
  }
  return seconds;
}

std::span<std::byte> Executor::SpanOf(const ProgramTensor& tensor) { return {At(tensor.buffer), tensor.spec.bytes()}; }

std::byte* Executor::At(int buffer) const {
  return memory_.get() + program_.memory.offsets[static_cast<std::size_t>(buffer)];
}

void Executor::ResetCounts() {
  fault_.Reset();
  for (std::size_t worker = 0; worker < program_.cpus.size(); ++worker) finished_[worker].Reset();
  for (std::size_t step = 0; step < program_.steps.size(); ++step) barrier_[step].Reset();
  if (program_.departures.empty()) return;
  for (std::size_t step = 0; step < program_.steps.size(); ++step) leaving_[step].Reset();
}

template <bool traced>
void Executor::Work(int worker, StepTicks* ticks) {
  const std::vector<Instruction>& instructions = program_.instructions[static_cast<std::size_t>(worker)];
  std::uint32_t done = 0;
  bool lost = false;  // something will never arrive: the rest is gone through without computing, so that nobody waits
  for (const Instruction& instruction : instructions) {
    for (const Wait& wait : instruction.waits) finished_[static_cast<std::size_t>(wait.worker)].Await(wait.steps);
    for (const int arrival : instruction.arrivals) lost = !border_->Await(arrival) || lost;
    if constexpr (traced) ticks->start = ReadTicks();
    const std::size_t number = static_cast<std::size_t>(instruction.step);
    const ProgramStep& step = program_.steps[number];
    const Pointers& pointers = pointers_[number];
    const KernelBuffers buffers{pointers.inputs.data(), pointers.outputs.data(), pointers.scratch, &fault_};
    const int phases = step.kernel->phases();
    for (int phase = 0; phase < phases; ++phase) {
      if (phase > 0 && step.workers.size() > 1) barrier_[number].Meet(static_cast<std::uint32_t>(step.workers.size()));
      if (!lost) step.kernel->Run(buffers, phase, instruction.share);
    }
    if (!step.departures.empty() && !lost && leaving_[number].RaiseByOne() == step.workers.size()) {
      for (const int departure : step.departures) border_->Depart(departure);
    }
    // Before the others are told, so that none of them begins earlier than this ends.
    if constexpr (traced) {
      ticks->finish = ReadTicks();
      ++ticks;
    }
    finished_[static_cast<std::size_t>(worker)].RaiseTo(++done);
  }
}

}  // namespace millrace

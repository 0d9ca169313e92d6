// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/onnxruntime/conductor.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "millrace/graph/index.h"
#include "millrace/runtime/aligned_memory.h"

namespace millrace::ort {

Conductor::Conductor(std::shared_ptr<Engine> engine, const std::vector<Piece>& pieces)
    : engine_(std::move(engine)), buffers_(engine_->model().values.size()) {
  const std::vector<int>& cpus = engine_->pool().cpus();
  for (const Piece& piece : pieces) {
    if (piece.cpu)
      pool_workers_.push_back(static_cast<int>(std::find(cpus.begin(), cpus.end(), *piece.cpu) - cpus.begin()));
  }
  std::sort(pool_workers_.begin(), pool_workers_.end());
  pool_workers_.erase(std::unique(pool_workers_.begin(), pool_workers_.end()), pool_workers_.end());
  parts_.resize(std::max<std::size_t>(1, pool_workers_.size()));
  finished_.reset(new Progress[parts_.size()]);

  std::vector<std::vector<OpId>> nodes;
  for (const Piece& piece : pieces) nodes.push_back(piece.nodes);
  const std::vector<PartBorder> borders = BordersOf(engine_->model(), nodes);
  for (const int value : engine_->model().inputs) BufferOf(value);
  std::vector<std::pair<int, std::uint32_t>> turn;  // by piece: its worker, and how many it has run by then
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    Part part;
    part.model = engine_->Ready(pieces[i], borders[i]);
    for (const int value : borders[i].inputs) part.inputs.push_back(BufferOf(value).tensor->get());
    for (const int value : borders[i].outputs) part.outputs.push_back(BufferOf(value).tensor->get());
    const int worker = pieces[i].cpu ? NumberOf(*pieces[i].cpu) : 0;
    for (const int before : pieces[i].after) {
      const auto& [other, count] = turn[Index(before)];
      if (other != worker) part.waits.push_back({other, count});
    }
    parts_[Index(worker)].push_back(std::move(part));
    turn.emplace_back(worker, static_cast<std::uint32_t>(parts_[Index(worker)].size()));
  }
}

int Conductor::NumberOf(int cpu) {
  const std::vector<int>& cpus = engine_->pool().cpus();
  for (std::size_t worker = 0; worker < pool_workers_.size(); ++worker) {
    if (cpus[Index(pool_workers_[worker])] == cpu) return static_cast<int>(worker);
  }
  return 0;
}

Conductor::Buffer& Conductor::BufferOf(int value) {
  Buffer& buffer = buffers_[Index(value)];
  if (buffer.tensor != nullptr) return buffer;
  const Value& of = engine_->model().values[Index(value)];
  const std::size_t bytes = static_cast<std::size_t>(ElementsOf(of.shape)) * BytesOf(of.type);
  buffer.memory = AllocateAligned(bytes);
  buffer.elements = {buffer.memory.get(), bytes};
  buffer.tensor = std::make_unique<BoundTensor>(engine_->library(), of, buffer.elements);
  return buffer;
}

std::span<std::byte> Conductor::input(std::size_t i) { return buffers_[Index(engine_->model().inputs[i])].elements; }

std::span<const std::byte> Conductor::output(std::size_t i) const {
  return buffers_[Index(engine_->model().outputs[i])].elements;
}

double Conductor::Run() {
  double seconds = 0;
  if (pool_workers_.empty()) {
    const auto start = std::chrono::steady_clock::now();
    for (Part& part : parts_.front()) RunPart(part);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  } else {
    for (std::size_t worker = 0; worker < parts_.size(); ++worker) finished_[worker].Reset();
    seconds = engine_->pool().Run(pool_workers_, [this](int pool_worker) {
      const auto at = std::lower_bound(pool_workers_.begin(), pool_workers_.end(), pool_worker);
      Work(static_cast<std::size_t>(at - pool_workers_.begin()));
    });
  }
  engine_->library()->Check(failure_.exchange(nullptr), "a run in ONNX Runtime failed");
  return seconds;
}

void Conductor::Work(std::size_t worker) {
  std::uint32_t done = 0;
  for (Part& part : parts_[worker]) {
    for (const Wait& wait : part.waits) finished_[Index(wait.worker)].Await(wait.pieces);
    RunPart(part);
    finished_[worker].RaiseTo(++done);
  }
}

void Conductor::RunPart(Part& part) {
  if (failure_.load(std::memory_order_relaxed) != nullptr) return;
  Status* const status = part.model->Run(part.inputs, part.outputs);
  if (status == nullptr) return;
  Status* none = nullptr;
  if (!failure_.compare_exchange_strong(none, status)) engine_->library()->WordsOf(status);
}

}  // namespace millrace::ort

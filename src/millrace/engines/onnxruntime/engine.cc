// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/onnxruntime/engine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "millrace/engines/onnxruntime/memory_left.h"
#include "millrace/errors/errors.h"
#include "millrace/graph/index.h"
#include "millrace/runtime/host_units.h"

namespace millrace::ort {
namespace {

// A session keeps weights as they came, and most of them once more in its kernels' own order; while it is made, the
// file is in memory as well.
constexpr double kCopiesOfWeights = 3;

double WeightBytes(const Model& part) {
  double bytes = 0;
  for (const Value& value : part.values) {
    if (value.constant != nullptr) bytes += static_cast<double>(value.constant->bytes());
  }
  return bytes;
}

void RefuseIfOverMemory(const Model& part) {
  const double needed = kCopiesOfWeights * WeightBytes(part);
  const double left = MemoryLeft();
  if (needed <= left) return;
  throw WorkFailed(fmt::format(
      "sessions of ONNX Runtime with {:.0f} MB of weights need about {:.0f} MB, and {:.0f} MB of memory are left",
      WeightBytes(part) / 1e6, needed / 1e6, left / 1e6));
}

}  // namespace

std::vector<Piece> PiecesOf(const ComputationGraph& graph, const Machine& machine, const Plan& plan) {
  std::vector<Stretch> stretches = CutIntoStretches(graph, machine, plan);
  std::vector<Piece> pieces;
  for (Stretch& stretch : stretches) {
    std::vector<int> units = machine.devices[Index(stretch.device)].units;
    std::sort(units.begin(), units.end());
    Piece piece{std::move(stretch.ops), std::move(stretch.after), units.front(), {}};
    piece.settings.threads = static_cast<int>(units.size());
    if (stretches.size() == 1 && units == AllowedProcessors()) {
      piece.cpu.reset();
    } else {
      piece.settings.cpus.assign(units.begin() + 1, units.end());
      piece.settings.shares_cpus = units.size() > 1 && stretches.size() > 1;
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

std::vector<Piece> OnePiece(const Model& model, const SessionSettings& settings) {
  Piece piece{std::vector<OpId>(model.nodes.size()), {}, std::nullopt, settings};
  std::iota(piece.nodes.begin(), piece.nodes.end(), 0);
  return {piece};
}

Engine::Engine(std::shared_ptr<const Library> library, const Model& model, const Machine& machine)
    : model_(model), library_(std::move(library)), pool_(UnitsOf(machine)) {}

std::shared_ptr<const LoadedModel> Engine::Ready(const Piece& piece, const PartBorder& border) {
  const SessionSettings& settings = piece.settings;
  const std::string key =
      fmt::format("{}/{}/{}/{}/{}/{}", settings.threads, fmt::join(settings.cpus, ","), settings.shares_cpus,
                  settings.parallel_ops, fmt::join(piece.nodes, ","), fmt::join(border.outputs, ","));
  std::erase_if(ready_, [](const auto& entry) { return entry.second.expired(); });
  if (const auto found = ready_.find(key); found != ready_.end()) {
    if (auto shared = found->second.lock()) return shared;
  }
  const Model part = PartModel(model_, piece.nodes, border);
  RefuseIfOverMemory(part);
  auto made = std::make_shared<const LoadedModel>(library_, part, settings);
  ready_[key] = made;
  return made;
}

}  // namespace millrace::ort

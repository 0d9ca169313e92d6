// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "millrace/engines/onnxruntime/parts.h"
#include "millrace/engines/onnxruntime/session.h"
#include "millrace/runtime/worker_pool.h"

// ONNX Runtime with one model, on the processors of one machine: what all plans of it share.
namespace millrace::ort {

// A part of the model and who runs it.
struct Piece {
  std::vector<OpId> nodes;  // ascending
  std::vector<int> after;   // pieces before it in the list that it waits for
  // The processor of the thread that runs it, with the session's others beside it; none: the caller, wherever it is.
  std::optional<int> cpu;
  SessionSettings settings;
};

// The stretches of a plan, each in a session with one thread, those of gangs with one on each of the gang's processors.
// Where a plan is one stretch on all processors this process may use, its session is left as ONNX Runtime makes it by
// itself: no thread is pinned. That is its usual default.
std::vector<Piece> PiecesOf(const ComputationGraph& graph, const Machine& machine, const Plan& plan);

// All of the model in one session.
std::vector<Piece> OnePiece(const Model& model, const SessionSettings& settings);

class Engine {
 public:
  // The model outlives the engine. Throws InvalidInput where a unit of the machine is no processor of ours.
  Engine(std::shared_ptr<const Library> library, const Model& model, const Machine& machine);

  const Model& model() const { return model_; }
  const std::shared_ptr<const Library>& library() const { return library_; }
  WorkerPool& pool() { return pool_; }

  // The nodes, with the border given, ready to run. Pieces of several plans that are alike share one session, for as
  // long as one of the plans lives. Throws WorkFailed: not taken by the library, or more weights than memory is left
  // for.
  std::shared_ptr<const LoadedModel> Ready(const Piece& piece, const PartBorder& border);

 private:
  const Model& model_;
  std::shared_ptr<const Library> library_;
  WorkerPool pool_;
  std::map<std::string, std::weak_ptr<const LoadedModel>> ready_;  // by nodes and settings
};

}  // namespace millrace::ort

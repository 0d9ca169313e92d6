// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "millrace/engines/onnxruntime/conductor.h"
#include "millrace/target/target.h"

// Pieces of a model in ONNX Runtime, with inputs made up, to be run for time.
namespace millrace {

class OrtPieces : public LoadedPlan {
 public:
  // Fills the model's inputs with random data and runs once. Throws WorkFailed as Conductor does.
  OrtPieces(std::shared_ptr<ort::Engine> engine, const std::vector<ort::Piece>& pieces, std::uint64_t seed);

  // As if the model had been run again and again before: short ones are, for a moment that is not counted, so that
  // threads are awake. Returns when no thread spins any more that would be in the way of what runs next.
  double Run() override;

  // The same without a moment before and after.
  double RunAtOnce();

  // By output of the model, what the last run made; constants are empty.
  std::vector<std::vector<std::byte>> CopyOutputs() const;

  // One line where an output of the last run is another than expected; empty where none is.
  std::string WhyOtherThan(const std::vector<std::vector<std::byte>>& expected) const;

 private:
  void LeaveProcessors() const;

  std::shared_ptr<ort::Engine> engine_;
  ort::Conductor conductor_;
  bool spins_ = false;  // idle threads do, for a while
  double last_seconds_ = 0;
};

// The time of the nodes in a session of their own, on the first of these processors of ours with the others beside it,
// less what starting a session's run takes; NaN where they do not run by themselves on random data.
ProfiledTime TimeOnOrt(const std::shared_ptr<const ort::Library>& library, const Model& model,
                       std::span<const int> nodes, std::span<const int> cpus, const ProfileGroupOptions& options);

}  // namespace millrace

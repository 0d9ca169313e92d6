// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "millrace/engines/mpi/part.h"
#include "millrace/engines/mpi/postman.h"

// What a rank does with its parts of plans, rank 0 too. Used by one thread. Seconds.
namespace millrace::mpi {

enum class PartKind { kModel, kModelChecked, kEmulated };  // checked: an index in the data out of range is an error

class RankWork {
 public:
  // `model` null: only emulated parts. `cpus`: the processors of this rank, by their number. All outlive this.
  RankWork(Postman& postman, const Model* model, std::vector<int> cpus);
  ~RankWork();

  // Throws InvalidInput or WorkFailed where the part cannot be run here; the number is free again then.
  void Load(int number, const PartPlan& plan, PartKind kind);
  void Unload(int number);

  // As Part has them; empty where there is no such part.
  std::span<std::byte> Input(int number, int value);
  std::span<const std::byte> Output(int number, int value);

  // One run: Prepare expects what arrives, before any rank begins; Run begins, and returns when all of this part has
  // been computed, received and sent. Throws WorkFailed where another rank is lost, InvalidInput for faulty data.
  void Prepare(int number);
  double Run(int number);

 private:
  struct Loaded;

  std::optional<WorkerPool> pool_;  // from the first part that computes
  Postman& postman_;
  const Model* const model_;
  const std::vector<int> cpus_;
  WeightCache weights_;
  std::map<int, std::unique_ptr<Loaded>> loaded_;
};

}  // namespace millrace::mpi

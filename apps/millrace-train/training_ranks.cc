// SPDX-License-Identifier: Apache-2.0
#include "training_ranks.h"

#include <fmt/core.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "millrace/errors/errors.h"
#include "millrace/ranks/load_module.h"

namespace millrace::cli {
namespace {

// In this time rank 0 has said what is wrong, if it is wrong there, too, and the launcher has ended all.
constexpr std::chrono::seconds kForRankZero(3);

}  // namespace

bool IsFollower(const mpi::Ranks* ranks) { return ranks != nullptr && ranks->rank() != 0; }

void RefuseRanks() {
  if (mpi::StartedWithOthers())
    throw InvalidInput("this training runs in one process; start it without mpirun or srun");
}

int WorkWithRanks(const std::function<int(mpi::Ranks* ranks)>& work) {
  if (!mpi::StartedWithOthers()) return work(nullptr);
  const std::unique_ptr<mpi::Ranks> ranks = mpi::JoinMpiRanks();
  try {
    return work(ranks.get());
  } catch (const std::exception& error) {
    ranks->Abandon();
    if (!IsFollower(ranks.get())) throw;
    std::this_thread::sleep_for(kForRankZero);
    const std::string what = fmt::format("rank {}: {}", ranks->rank(), error.what());
    if (dynamic_cast<const InvalidInput*>(&error) != nullptr) throw InvalidInput(what);
    throw WorkFailed(what);
  }
}

}  // namespace millrace::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "millrace/engines/mpi/member.h"
#include "millrace/engines/mpi/postman.h"
#include "millrace/formats/model.h"

// What every rank but 0 does: what rank 0 says, until that is to stop.
namespace millrace::mpi {

struct TimedGroup {
  double seconds = 0;
  bool disturbed = false;  // others used the processors
};

// Times a group of the model on these processors of this machine.
using TimeGroup = std::function<TimedGroup(std::span<const int> ops, const std::vector<int>& cpus)>;

// What a rank can do: without a model only emulate.
struct RankSkills {
  const Model* model = nullptr;
  TimeGroup time_group;
};

// Joins with what it knows of itself and serves. Returns when rank 0 says that the run is over, or does not want these
// ranks. Throws WorkFailed where rank 0 or another rank is lost, Interrupted.
void FollowRankZero(Postman& postman, const RankFacts& own, const RankSkills& skills);

}  // namespace millrace::mpi

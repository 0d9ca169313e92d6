// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/state_key.h"

#include "millrace/plan/chain_graph.h"

namespace millrace {

StateKey KeyOf(const State& state) {
  const Assignment& assignment = state.assignment();
  StateKey key(assignment.placement.begin(), assignment.placement.end());
  for (const std::vector<int>& chain : UnitChains(state.environment().costed().topology, assignment)) {
    key.push_back(-1);
    key.insert(key.end(), chain.begin(), chain.end());
  }
  return key;
}

}  // namespace millrace

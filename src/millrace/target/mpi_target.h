// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "millrace/target/target.h"

// The target "mpi": several processes, perhaps on several machines, that execute the model together, each the groups
// that are placed on its devices (engines/mpi). Seconds.
//
//   mpi            our own runtime on every rank; tensors go to others as soon as they are made, while groups run
//   mpi,emulate    groups sleep for the seconds that the cost model says, and as many bytes cross the network as the
//                  tensors have: any graph, and more ranks than there are processors
//
// Links are measured before planning and take the place of the machine's own, unless links=given says otherwise.
namespace millrace {

struct MpiWords {
  bool emulate = false;
  bool links_given = false;
};

// Whether it is a target of this kind at all.
bool NamesMpi(std::string_view words);

// Throws InvalidInput for another option.
MpiWords ParseMpiTarget(std::string_view words);

// Load makes every rank's part ready, writes made-up inputs and runs once to warm up. A plan that one rank cannot take
// is a failed measurement; a rank that is lost is WorkFailed, and the end. The context needs a graph, a machine and the
// ranks; a cost model to emulate, a model otherwise. Throws InvalidInput without them, and where the machine takes more
// ranks, or more processors of one, than there are.
std::unique_ptr<Target> MakeMpiTarget(std::string_view words, const TargetContext& context);

}  // namespace millrace

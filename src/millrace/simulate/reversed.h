// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/cost/costed_graph.h"

// A costed graph read from its end to its beginning.
namespace millrace {

// Every edge and every link turned round. Under the linear timeline a plan takes as long backwards, its sequence
// reversed, as it does forwards: what holds for earliest starts here holds for the time from a finish to the end there.
// Tensors and memory limits are left out, because memory is not the same backwards, and so the proxy is the linear one.
CostedGraph Reversed(const CostedGraph& costed);

}  // namespace millrace

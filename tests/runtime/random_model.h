// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/formats/model.h"
#include "millrace/machine/machine.h"
#include "millrace/plan/plan.h"
#include "millrace/random/random.h"

// Small random networks, and machines of this host's processors to run them on.
namespace millrace::testing {

// Convolutions, pooling, arithmetic, activations and concatenations over a few images, branching at random. Values are
// read by several nodes and by none; outputs are read too; an input and a constant may be outputs.
Model RandomNetwork(Random& random, int nodes);

// Every processor this process may use as a device, and where there are two or more all of them as a gang.
Machine HostMachine();

// Every node on its own, in order, on the machine's first device.
Plan OneByOne(const Model& model);

}  // namespace millrace::testing

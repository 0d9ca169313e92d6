// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "millrace/machine/machine.h"

// What a processor pays for what another one has written: its caches do not hold that. Cores of one last cache hand a
// megabyte over in some 10 us, cores of different ones in 60; a virtual machine's processors may lie either way, and be
// moved while it runs. Seconds, bytes per second.
namespace millrace {

// Between two processors of this host, about 5 ms. The latency is that of a flag, one way, the least of several series:
// others that use the processors only make it longer. A byte takes what copying a tensor takes longer where each of the
// two reads the half that the other has written and writes where the other wrote, in place of its own halves; a tensor
// of a megabyte, medians. Throws InvalidInput where either is not ours to use.
DefaultLink MeasureHandOver(int processor, int other);

// Whether two latencies are of processors that lie alike: neither is twice the other or more.
bool AlikeHandOvers(double seconds, double other);

// What two processors pay, by their numbers.
using HandOverMeter = std::function<DefaultLink(int processor, int other)>;

// The machine, which has no links of its own, with hand-overs as `meter` finds them. Pairs of its `units` that share
// equally much (`shared_depths`, units x units, SharedDepths of machine/detect.h) are taken for alike, and a few of
// each such class are measured, the median counts. The class with the most pairs is the default link. Two devices
// without a common unit have a link of their own where their least related units are of a class that differs from it by
// half or more; in machines of more than 64 units none has.
Machine WithHandOvers(Machine machine, std::span<const int> units, std::span<const int> shared_depths,
                      const HandOverMeter& meter);

// The same for a machine whose units are processors of this host; it stays as it is where somebody has said what its
// transfers cost (GuessesHandOvers of machine/detect.h). Throws InvalidInput where a unit is not ours to use.
Machine WithMeasuredHandOvers(Machine machine);

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "millrace/target/target.h"

// Targets that are the proxy made wrong in a known way: what it does not know of real machines. Deterministic given
// the seed. Seconds.
//
//   noise       durations x lognormal(0, sigma=0.3), once per (op, device kind, seed); seed: the context's unless given
//   bandwidth   a transfer of B bytes takes a * B, with a such that the mean transfer is twice the mean duration
//   latency     a transfer takes b, twice the mean duration, plus a tenth of that a * B; b and a (of its own) settable
//   contention  a channel serves one transfer at a time (simulate/contention.h)
//   greedy      a device runs whatever has its inputs first, not what the sequence says (simulate/greedy.h)
//   simgrid     transfers on one channel share its bandwidth as SimGrid's flows do (engines/simgrid/flow_timeline.h)
//
// Joined by `+` they act together; bandwidth and latency then add up. Means are the proxy's, before any noise, on the
// graph with every op by itself: the duration over all (op, device that can run it), the transfer over all (tensor of
// more than 0 bytes that an op makes, op that reads it). Where there is no such transfer a is 0.
// Source: the noisy, bandwidth-limited and latency-limited targets of "Robust Scheduling with GFlowNets" (Zhang et al.,
// 2023).
namespace millrace {

// `words` as after "sim:", e.g. "noise,sigma=0.1+contention"; the context needs a graph and a machine. Throws
// InvalidInput naming the part it does not know.
std::unique_ptr<Target> MakeSimulatedTarget(std::string_view words, const TargetContext& context);

// The target's own linear model: all of it but contention, greed and SimGrid, for methods that are to know what others
// must not. The context needs a machine and a cost model, which must outlive what is returned. Throws InvalidInput as
// above.
std::unique_ptr<CostModel> MakeSimulatedCostModel(std::string_view words, const TargetContext& context);

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "millrace/report/account.h"

// Timelines in the Chrome trace-event format, which Perfetto and chrome://tracing open.
namespace millrace {

// One process per account, one thread per unit, one slice per group and unit; microseconds. A group on a gang shows on
// each of its units. Transfers that the account knows are asynchronous events; each memory has a counter of its bytes.
// Source: "Trace Event Format" (Google, 2016).
std::string TraceJson(const ComputationGraph& graph, const Machine& machine, std::span<const PlanAccount> accounts);

}  // namespace millrace

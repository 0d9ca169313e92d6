// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "millrace/machine/machine.h"

// The host we run on, as a machine.
namespace millrace {

// One device of kind "cpu" for each processor we may use (unit = operating-system CPU number), and gangs over 2, 4, ...
// neighbouring ones up to all of them, of kinds "cpu_x2", "cpu_x4", ... Processors: our affinity mask, cut to the whole
// processors our cgroup's quota allows. Rates are estimated from the clock, vector width and memory; profiling replaces
// them. Transfers are hand-overs between caches, at a guess; target/hand_over.h measures them. Source: hwloc,
// /proc/cpuinfo, cgroup v1 and v2.
Machine DetectHost();

// Whether the machine's transfers cost what DetectHost guesses, since nobody has said or measured more.
bool GuessesHandOvers(const Machine& machine);

// How many processors we may use: as above, without asking what they are like. At least 1.
int UsableProcessors();

// How much two processors of this host share, by positions in `processors`, row by row: the depth in the machine's tree
// (sockets, caches, cores) of the least part that holds both. More is nearer; pairs of one depth are alike. All 0 where
// hwloc cannot tell.
std::vector<int> SharedDepths(std::span<const int> processors);

// Bytes of the largest cache that a core of this host reaches, which others may share. A guess where hwloc cannot tell.
std::size_t LargestCacheBytes();

// What a core reaches of a cache that is `said` to have so many bytes, for so many processors of ours. Virtual machines
// name all last caches of a socket as one (508 MB where a core has 32), and no processor has had more than 32 MiB for
// each core (AMD EPYC 9175F).
std::size_t ReachableCacheBytes(std::size_t said, int processors);

}  // namespace millrace

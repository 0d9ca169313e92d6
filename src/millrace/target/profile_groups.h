// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "millrace/formats/model.h"

// Measuring one fusion group alone on one device of this host: what the calibrated cost model is made of. Seconds.
namespace millrace {

// The group's identity as far as its time goes: ops, attributes, types and shapes, which values come from outside and
// which leave, small integer constants (shapes, axes). Names and weights are not in it. Groups of one signature take
// equally long on one device, so one of them is measured.
std::string GroupSignature(const Model& model, std::span<const int> nodes);

struct ProfileGroupOptions {
  double seconds = 0.01;  // to spend on the group's runs, preparation aside; up to three times that where disturbed
  int least_runs = 5;
  int most_runs = 100;
  bool minimum = false;        // the least time instead of the median
  bool weights_apart = false;  // they come from memory in every run, not from a cache that cores share
};

// Whether the weights of a model have left every cache by the time its next run needs them: they are more than a third
// of the largest cache, which other data, and often other guests of the host, take as well.
bool WeightsLeaveCaches(const Model& model);
bool WeightsLeaveCaches(std::size_t weight_bytes, std::size_t cache_bytes);

// One run of a group.
struct ProfiledRun {
  double seconds = 0;
  double waited = 0;  // the longest that one of its threads waited for its processor around it
};

struct ProfiledTime {
  double seconds = 0;
  bool disturbed = false;  // others used the processors: the time is a guess, and too long if anything
};

// What the runs say, of which there is at least one: the median, or the minimum, of those that nobody disturbed. Where
// these are fewer than least_runs, or where their median is more than twice their minimum, the time is the minimum of
// all and marked as disturbed.
ProfiledTime TimeOf(std::span<const ProfiledRun> runs, const ProfileGroupOptions& options);

// One run of the group on these processors of ours (one for a core, several for a gang), as in the midst of a plan: its
// weights have left the core's own cache since the last run, its inputs, in the layout their producers like, have just
// been written: where it is a gang, by all of its members, each its share (runtime/memory_halves.h), and so have the
// bytes that outputs go to. Inputs that a gang makes inside a result (Kernel::placed_inputs) lie there. On one core
// such a group of images is timed as where a gang has made its inputs, so that it copies them: time for a device cannot
// depend on where inputs come from, and at nothing searches put the group on a core between two gangs. Precondition:
// the group is legal. Throws InvalidInput where the runtime lacks an op of it, or where a processor is not ours to use.
ProfiledTime ProfileGroup(const Model& model, std::span<const int> nodes, std::span<const int> cpus,
                          const ProfileGroupOptions& options = {});

// How a group is timed on some units: as ProfileGroup does. NaN where it does not run by itself.
using GroupTimer = std::function<ProfiledTime(const Model&, std::span<const int> nodes, std::span<const int> units,
                                              const ProfileGroupOptions&)>;

// Of devices that are not this host's, or of another engine on them.
struct GroupTiming {
  GroupTimer time;
  // By device kind: its processors, where they are not of our sort, or the engine.
  std::map<std::string, std::string> processors;
};

}  // namespace millrace

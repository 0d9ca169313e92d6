// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/machine/topology.h"

// How fast transfers go that share channels fairly, as connections of TCP do: max-min fairness (Bertsekas and Gallager,
// Data Networks, 1992, 6.5.2). Nobody's rate can rise but at the cost of someone who is no faster. Seconds.
namespace millrace {

// A transfer that is on its way.
struct Flow {
  std::int32_t made = 0;  // the tensor, as the run numbers them
  std::int32_t from = 0;  // device
  std::int32_t to = 0;    // device
  std::int32_t traced = -1;
  double seconds_left = 0;  // were it alone; latency, too
  double speed = 0;         // of what it would be alone

  bool operator==(const Flow&) const = default;
};

// All that are on their way, in the order in which they came.
struct Flows {
  std::vector<Flow> on_their_way;
  double since = 0;       // seconds_left is as of then
  double next_end = 0;    // of the one that ends first; infinity where nothing is on its way
  std::size_t first = 0;  // that one

  bool operator==(const Flows&) const = default;
};

// Between an ordered pair of devices transfers go one after the other, as they came, at most at the bandwidth of its
// link. Pairs share their channel, and the entry channel they pass, whose bandwidths are those of the fastest link
// that names them. A latency counts as the bytes that would pass meanwhile: what small transfers cost a host that sends
// many. Links of unlimited bandwidth have no flows.
class FairShare {
 public:
  // The topology must outlive it.
  explicit FairShare(const Topology& topology);

  // Nothing is on its way.
  static void Clear(Flows& flows);

  // At `time`, not before `flows.since` and not after `flows.next_end`. Allocates only where more are on their way than
  // ever before.
  void Add(Flow flow, double time, Flows& flows);

  // Takes the one that ends first away, at `flows.next_end`.
  Flow TakeFirst(Flows& flows);

 private:
  // One that moves: the first of its pair.
  struct Moving {
    std::size_t flow;
    std::int32_t channel;
    std::int32_t entry;  // -1: none
    double limit;        // bytes per second
    double share;        // the same, as far as it is known
  };

  static void Drain(double time, Flows& flows);
  void SetRates(Flows& flows);
  void Use(std::int32_t channel);
  double ShareOf(const Moving& moving) const;
  void TakeFrom(std::int32_t channel, double rate);

  const Topology& topology_;
  std::vector<double> bandwidth_;      // by channel
  std::vector<double> left_;           // by channel: bytes per second that nobody has yet
  std::vector<std::int32_t> waiting_;  // by channel: of those that have no rate yet
  std::vector<std::uint8_t> busy_;     // by ordered pair
  std::vector<Moving> moving_;
};

}  // namespace millrace

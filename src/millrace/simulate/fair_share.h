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
  double seconds_left = 0;  // as of `since`, were it alone; latency, too
  double since = 0;
  double speed = 0;  // of what it would be alone
  double end = 0;    // if that stays

  bool operator==(const Flow&) const = default;
};

struct Flows {
  std::vector<Flow> moving;   // one of each pair
  std::vector<Flow> waiting;  // for others of their pairs, in the order in which they came
  std::size_t first = 0;      // of those that move, the one that ends first
  double next_end = 0;        // its end; infinity where nothing is on its way

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

  // At `time`, not before anything that was done to them and not after `flows.next_end`. Of the flow its first five
  // members count. Allocates only where more are on their way than ever before.
  void Add(Flow flow, double time, Flows& flows);

  // Takes the one that ends first away, at `flows.next_end`.
  Flow TakeFirst(Flows& flows);

 private:
  // One whose rate is not known yet.
  struct Open {
    std::size_t flow;  // of those that move
    std::int32_t channel;
    std::int32_t entry;  // -1: none
    double limit;        // bytes per second
    double share;        // the same, as far as it is known
  };

  static void FindFirst(Flows& flows);
  void SetRates(double time, Flows& flows);
  void Use(std::int32_t channel);
  double ShareOf(const Open& open) const;
  void TakeFrom(std::int32_t channel, double rate);

  const Topology& topology_;
  std::vector<double> bandwidth_;    // by channel
  std::vector<double> left_;         // by channel: bytes per second that nobody has yet
  std::vector<std::int32_t> users_;  // by channel: of those whose rate is not known yet
  std::vector<Open> open_;
};

}  // namespace millrace

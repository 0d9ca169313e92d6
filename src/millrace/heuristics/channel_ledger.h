// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/heuristics/gap_list.h"
#include "millrace/heuristics/group_tensors.h"

// What a schedule under construction has promised to the channels that links share: under the contended proxy a
// transfer waits until its channel is idle, and then keeps others waiting. Seconds.
//
// Every transfer reserves its channel at the earliest idle stretch after its tensor is made, in the order in which the
// groups that need it are placed, and its entry channel, where it has one, at the earliest from then on; a tensor goes
// to a memory once. Source: the edge scheduling of Sinnen, Sousa, "Communication Contention in Task Scheduling", IEEE
// TPDS 2005.
namespace millrace {

// Only Clear and copying allocate. `costed` must outlive it and its copies.
class ChannelLedger {
 public:
  explicit ChannelLedger(const CostedGraph& costed);

  void Clear();

  // When everything that `group` reads from other groups could be at each device, into `arrivals`, by device. Its
  // predecessors are placed: `placement` and `finish` by group.
  void Arrivals(int group, std::span<const int> placement, std::span<const double> finish, std::span<double> arrivals);

  // Reserves the channels for what `group` reads on the device, as Arrivals said.
  void Reserve(int group, int device, std::span<const int> placement, std::span<const double> finish);

 private:
  static constexpr double kNotSent = -1;

  struct Booking {
    std::size_t channel;
    double start, end;
  };

  struct Input {
    double made;          // when
    std::int32_t tensor;  // place in costed.tensors
    int from;             // device
  };

  void SortInputs(int group, std::span<const int> placement, std::span<const double> finish);
  double& ArrivalAt(std::int32_t tensor, int device);

  Booking Book(std::int32_t channel, double earliest, double seconds);
  template <typename Send>
  double Serve(int device, Send send);

  const CostedGraph* costed_;
  GroupTensors tensors_;
  std::vector<GapList> channels_;
  std::vector<double> sent_;        // by tensor * memories + memory: when it is there; kNotSent
  std::vector<double> promised_;    // by channel: the end of what is asked for now
  std::vector<std::size_t> asked_;  // channels with a promise
  std::vector<Input> inputs_;       // of the group in question, as they are made
};

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/simulate/fair_share.h"

// The clock of the contended timeline (contention.h), as something that can be stopped, remembered and gone on with.
// Groups finish in order of (time, place in the sequence). A transfer's service is settled when its producer finishes,
// for none that comes later can be ready before it: first ready is first served without a queue. At an entry channel
// others may come first, so there it is settled when its own channel lets it in. Where channels are shared fairly
// (fair_share.h), it is settled when its last byte comes. Seconds.
namespace millrace {

// Bounds are sums in another order than the timeline's, so the last bits differ. A bound counts so many times itself,
// and no plan seems slower for that.
inline constexpr double kBelowRounding = 1 - 1e-9;

// A plan as the clock reads it; whoever owns the arrays may change them between steps for groups that have not begun.
struct ChainedPlan {
  const int* placement = nullptr;  // by group: its device
  const int* position = nullptr;   // by group: its place in the sequence
  const int* next = nullptr;   // by group * most_units + which of its device's units: the next group there; -1: none
  std::size_t most_units = 1;  // of any device
  const double* rest =
      nullptr;  // by group: the plan ends no sooner than so long after its start; null: no bound wanted
};

// A transfer that its channel lets in at `begin`, on its way to an entry channel.
struct Crossing {
  double begin = 0;
  std::int32_t number = 0;  // in the order in which they were sent
  std::int32_t made = 0;    // the tensor, as the run numbers them
  std::int32_t from = 0;    // device
  std::int32_t to = 0;      // device
  std::int32_t traced = -1;

  bool operator==(const Crossing&) const = default;
};

// All that changes as time goes by. A copy of it is a point to go on from.
struct ContendedState {
  std::vector<std::int32_t> waiting;            // by group: inputs to come and groups before it on its units
  std::vector<double> start;                    // by group: of those that have begun; else the latest it waited for
  std::vector<double> channel_free;             // by channel
  std::vector<Crossing> crossing;               // heap of transfers that will come to their entry channel
  std::int32_t num_sent = 0;                    // of those, with all before
  Flows flows;                                  // where channels are shared fairly
  std::vector<std::pair<double, int>> running;  // heap of finish and group
  double makespan = 0;                          // the last finish of those that have begun
  double time = -1;                             // of the last finish dealt with
};

// Reads tables of `costed`, which must outlive it. Steps allocate nothing, but that more transfers than ever before may
// be on their way.
class ContendedRun {
 public:
  explicit ContendedRun(const CostedGraph& costed);

  // At time 0: groups that wait for nothing have begun. `waiting` comes from InputsOf and the chains of the plan; the
  // rest of the state is made here.
  void Begin(const ChainedPlan& plan, ContendedState& state);

  // From a state that was remembered.
  void Resume(const ContendedState& state) { bound_ = state.makespan; }

  // Up to the next group that finishes; false where none is left.
  bool Step(const ChainedPlan& plan, ContendedState& state);

  // The makespan cannot be less than this, as far as the groups that have begun say.
  double bound() const { return bound_; }

  // Tensors that the group reads from other groups, each counted once.
  std::int32_t InputsOf(int group) const { return inputs_[static_cast<std::size_t>(group)]; }

  // From the next Begin on, `causes` says by group what made it start when it did: c >= 0 the finish of group c, -1
  // nothing, below that the arrival of transfer -2 - c of traced(). Null ends it.
  void TraceInto(std::vector<std::int32_t>* causes) { causes_ = causes; }

  // One that is held up at its entry channel is there twice: on its channel and at the entry.
  struct TracedTransfer {
    std::int32_t producer = -1;
    std::int32_t behind = -1;   // the transfer it waited for on that channel, or came to share it with; -1: none
    std::int32_t to = -1;       // device
    double begin = 0, end = 0;  // on that channel
  };
  std::span<const TracedTransfer> traced() const { return traced_; }

 private:
  static constexpr int kNobody = std::numeric_limits<int>::max();
  static constexpr double kNotYet = -1;

  struct Made {
    std::int32_t producer = 0;
    double bytes = 0;
    std::int32_t first_reader = 0;
    std::int32_t last_reader = 0;
  };

  void BeginGroup(const ChainedPlan& plan, ContendedState& state, int group);
  void Settle(const ChainedPlan& plan, ContendedState& state, int group, double time, std::int32_t cause);
  void Send(const ChainedPlan& plan, ContendedState& state, int group, std::int32_t made, double time);
  bool CrossingComesFirst(const ContendedState& state) const;
  void Cross(const ChainedPlan& plan, ContendedState& state);
  double SendFairly(ContendedState& state, int group, std::int32_t made, int from, int to, double time);
  std::int32_t LastBeside(const Flows& flows, int from, int to) const;
  void MoveFlows(const ChainedPlan& plan, ContendedState& state);
  void Arrive(const ChainedPlan& plan, ContendedState& state, const Crossing& transfer, double time);
  double Serve(ContendedState& state, std::int32_t channel, double seconds, double time);
  std::int32_t NoteTransfer(const ContendedState& state, int producer, int to, std::int32_t channel, double time);

  const CostedGraph& costed_;
  std::optional<FairShare> fair_share_;     // where channels are shared fairly
  std::vector<std::int32_t> made_offsets_;  // by group
  std::vector<Made> made_;                  // ascending by tensor within a group
  std::vector<std::int32_t> readers_;
  std::vector<std::int32_t> inputs_;  // by group
  std::vector<int> first_place_;      // by memory: of the first reader there; kNobody: none
  std::vector<int> first_device_;     // by memory
  std::vector<double> arrival_;       // by memory; kNotYet: an entry channel decides
  double bound_ = 0;
  std::vector<std::int32_t>* causes_ = nullptr;
  std::vector<TracedTransfer> traced_;
  std::vector<std::int32_t> last_on_channel_;  // by channel: the last traced transfer
  std::vector<std::int32_t> transfer_to_;      // by memory: the traced transfer there
};

}  // namespace millrace

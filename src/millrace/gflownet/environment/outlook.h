// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "millrace/gflownet/environment/observation.h"
#include "millrace/gflownet/environment/state.h"
#include "millrace/vector/lanes.h"

// What a choice leads to in the next steps: list scheduling goes on from it for Horizon() groups, each by upward rank
// to where it finishes first, and the time that devices have lost by then is compared. No feature of the choice itself
// shows which devices will wait. Eight choices are looked into side by side.
//
// Time lost: sum over devices of speed x (time when it is free) - the mean seconds of all groups placed on the way. A
// device's speed is the mean seconds of the groups that it can run / the seconds that they take there. Where the
// horizon reaches the end of the plan, every device counts as busy until then. float32, from when the first device is
// free.
//
// Not for graphs with colocations: what devices owe to them lies beyond the horizon, and there the choices that it
// speaks for are worse (docs/results/gflownet.md).
//
// Source: rollouts of a base heuristic (Bertsekas, Tsitsiklis and Wu, "Rollout Algorithms for Combinatorial
// Optimization", 1997), here cut off and shown to a learned policy.
namespace millrace {

// One serves one thread; the environment must outlive it and have no colocations. Under the contended proxy transfers
// that are not booked yet wait for nobody. The choices of a step take O((1 + devices / 8) x Horizon() x (devices +
// readers on the way)).
class Outlook {
 public:
  // Some groups for every device: the more there are, the later a choice is felt.
  static constexpr int Horizon(int devices) { return 16 + 4 * devices; }
  static constexpr int kMostGroups = 8;

  explicit Outlook(const Environment& environment);

  // The state that is looked ahead from until the next call. It must not change meanwhile.
  void From(const State& state);

  // Fills kOutlookNumbers for each of these choices of a group. `asked` are the indices of those to look into, at most
  // kMostGroups; each goes to its device of least EFT.
  void OfGroups(std::span<const std::int32_t> groups, std::span<const std::size_t> asked, std::vector<float>& out);

  // The same for each of these devices of a ready group.
  void OfDevices(std::int32_t group, std::span<const std::int32_t> devices, std::vector<float>& out);

 private:
  static constexpr std::size_t kAtOnce = 8;

  struct Reader {
    std::int32_t slot = 0;
    float bytes = 0;
  };
  struct Prospect {
    double lost = 0;
    double latest = 0;
  };

  // When the inputs of a slot that others before it send are there, in every lane, where all links are equal: on the
  // device that sends the one that comes last, and on any other. What that device sends itself comes sooner there, and
  // so nothing else need be known.
  struct Inputs {
    LaneArray last_from, there, elsewhere;  // by slot
  };

  template <int Width, bool kEqualLinks>
  static void GoOn(Outlook& outlook);
  template <int Width, bool kEqualLinks>
  static void Tell(Outlook& outlook, std::size_t slot, std::size_t lane, const Vector<Width>& device,
                   const Vector<Width>& finish);

  void Gather();
  void LookInto();
  void Begin(std::size_t lane, Action action);
  void Write(std::size_t choices, std::vector<float>& out) const;

  const Environment& environment_;
  std::size_t devices_;
  std::size_t most_slots_;                 // one more than the horizon, for a choice that is among them
  bool shared_units_ = false;              // does a unit belong to several devices, or a device to several units?
  std::vector<double> speeds_;             // by device
  std::vector<float> latency_, per_byte_;  // by from * devices + to
  bool equal_links_ = false;               // are all but those to itself the same?

  // The next groups of the state by rank, once they are asked for.
  const State* state_ = nullptr;
  bool gathered_ = false;
  std::size_t slots_ = 0;
  bool finished_ = false;                 // no other is left
  double first_free_ = 0, work_ = 0;      // of all slots
  std::vector<std::int32_t> group_;       // by slot
  std::vector<std::int32_t> slot_of_;     // by rank; -1
  std::vector<float> arrived_, seconds_;  // by slot * devices + device; seconds are infinite where it cannot run
  std::vector<std::int32_t> offsets_;     // by slot
  std::vector<Reader> readers_;           // among the slots

  // Of the choices side by side, the lane last.
  std::vector<std::uint8_t> skipped_;  // by slot: a bit for each lane that does not place it
  LaneArray free_, unit_free_;         // by device, by unit
  LaneArray arrivals_;                 // by slot and device, unless links are equal
  Inputs inputs_;                      // where they are
  std::array<double, kAtOnce> placed_work_{};

  std::vector<std::size_t> asked_;  // of all choices
  std::vector<Action> actions_;     // by asked
  std::vector<Prospect> prospects_;
};

}  // namespace millrace

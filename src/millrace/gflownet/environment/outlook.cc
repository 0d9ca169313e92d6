// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/outlook.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "millrace/network/squash.h"

namespace millrace {
namespace {

constexpr float kForbidden = std::numeric_limits<float>::infinity();
constexpr double kMostAbove = 1e4;  // in units of Environment::scale; what is no number counts as that

// Groups whose ranks are further on are not looked for where a plan was built out of their order.
constexpr std::size_t kMostRanks = 256;

}  // namespace

Outlook::Outlook(const Environment& environment)
    : environment_(environment),
      devices_(static_cast<std::size_t>(environment.num_devices())),
      most_slots_(static_cast<std::size_t>(Horizon(environment.num_devices())) + 1),
      group_(most_slots_),
      slot_of_(environment.rank_order().groups().size(), -1),
      arrived_(most_slots_ * devices_),
      seconds_(most_slots_ * devices_),
      offsets_(most_slots_ + 1),
      skipped_(most_slots_),
      free_(devices_ * kAtOnce),
      unit_free_(static_cast<std::size_t>(environment.costed().topology.num_units) * kAtOnce) {
  const CostedGraph& costed = environment.costed();
  const Topology& topology = costed.topology;
  const auto equal = [&](const std::vector<double>& of_pairs) {
    for (int from = 0; from < costed.num_devices; ++from) {
      for (int to = 0; to < costed.num_devices; ++to) {
        if (of_pairs[topology.Pair(from, to)] != (from == to ? 0 : of_pairs[1])) return false;
      }
    }
    return true;
  };
  equal_links_ = devices_ > 1 && equal(topology.latency) && equal(topology.seconds_per_byte);
  if (equal_links_) {
    for (LaneArray* const of_slots : {&inputs_.last_from, &inputs_.there, &inputs_.elsewhere})
      *of_slots = LaneArray(most_slots_ * kAtOnce);
  } else {
    arrivals_ = LaneArray(most_slots_ * devices_ * kAtOnce);
  }
  latency_.assign(topology.latency.begin(), topology.latency.end());
  per_byte_.assign(topology.seconds_per_byte.begin(), topology.seconds_per_byte.end());
  shared_units_ = topology.num_units != topology.num_devices;
  for (int device = 0; device < costed.num_devices; ++device) {
    shared_units_ = shared_units_ || topology.UnitsOf(device) != 1;
    double mean = 0;
    double here = 0;
    for (int group = 0; group < costed.num_groups; ++group) {
      const double seconds = costed.Seconds(group, device);
      if (seconds == std::numeric_limits<double>::infinity()) continue;
      mean += environment.mean_seconds()[static_cast<std::size_t>(group)];
      here += seconds;
    }
    speeds_.push_back(here > 0 ? mean / here : 0);
  }
}

// The readers of a slot that has gone to a device in each lane, or to -1 where it is left out, hear of its finish.
template <int Width, bool kEqualLinks>
MILLRACE_INLINE void Outlook::Tell(Outlook& o, std::size_t slot, std::size_t lane, const Vector<Width>& device,
                                   const Vector<Width>& finish) {
  using Lanes = Vector<Width>;
  const std::size_t devices = o.devices_;
  const auto first = static_cast<std::size_t>(o.offsets_[slot]);
  const auto last = static_cast<std::size_t>(o.offsets_[slot + 1]);
  if (first == last) return;
  if constexpr (kEqualLinks) {
    const Lanes sent = finish + o.latency_[1];
    for (std::size_t r = first; r < last; ++r) {
      const Reader& reader = o.readers_[r];
      const std::size_t at = static_cast<std::size_t>(reader.slot) * kAtOnce + lane;
      Lanes& last_from = VectorAt<Width>(o.inputs_.last_from.data() + at);
      Lanes& there = VectorAt<Width>(o.inputs_.there.data() + at);
      Lanes& elsewhere = VectorAt<Width>(o.inputs_.elsewhere.data() + at);
      const Lanes arrives = sent + reader.bytes * o.per_byte_[1];
      const auto same = device == last_from;
      const auto later = arrives > elsewhere;
      // A new device hears of what was the last before as all others did.
      const Lanes known = (later & ~same) ? elsewhere : there;
      const Lanes adds = (later | same) ? finish : arrives;
      there = adds > known ? adds : known;
      last_from = later ? device : last_from;
      elsewhere = later ? arrives : elsewhere;
    }
  } else {
    alignas(sizeof(Lanes)) float on[Width];
    VectorAt<Width>(on) = device;
    std::size_t rows[Width];
    for (std::size_t l = 0; l < Width; ++l) rows[l] = static_cast<std::size_t>(std::max(on[l], 0.0f)) * devices;
    for (std::size_t d = 0; d < devices; ++d) {
      alignas(sizeof(Lanes)) float latencies[Width], each[Width];
      for (std::size_t l = 0; l < Width; ++l) {
        latencies[l] = o.latency_[rows[l] + d];
        each[l] = o.per_byte_[rows[l] + d];
      }
      const Lanes sent = VectorAt<Width>(latencies) + finish;
      const Lanes per_byte = VectorAt<Width>(each);
      for (std::size_t r = first; r < last; ++r) {
        const Reader& reader = o.readers_[r];
        Lanes& arrival = VectorAt<Width>(o.arrivals_.data() +
                                         (static_cast<std::size_t>(reader.slot) * devices + d) * kAtOnce + lane);
        const Lanes arrives = sent + reader.bytes * per_byte;
        arrival = arrives > arrival ? arrives : arrival;
      }
    }
  }
}

// Each slot in turn goes to where it finishes first, in each lane by itself.
template <int Width, bool kEqualLinks>
MILLRACE_INLINE void Outlook::GoOn(Outlook& o) {
  using Lanes = Vector<Width>;
  const std::size_t devices = o.devices_;
  const Topology& topology = o.environment_.costed().topology;
  for (std::size_t lane = 0; lane < kAtOnce; lane += Width) {
    for (std::size_t slot = 0; slot < o.slots_; ++slot) {
      const float* const seconds = o.seconds_.data() + slot * devices;
      const float* const arrived = o.arrived_.data() + slot * devices;
      Lanes finish = Lanes{} + kForbidden;
      Lanes best = Lanes{} - 1.0f;
      Lanes free_of_best = best;
      Lanes number{};
      Lanes last_from, there, elsewhere;
      if constexpr (kEqualLinks) {
        const std::size_t at = slot * kAtOnce + lane;
        last_from = VectorAt<Width>(o.inputs_.last_from.data() + at);
        there = VectorAt<Width>(o.inputs_.there.data() + at);
        elsewhere = VectorAt<Width>(o.inputs_.elsewhere.data() + at);
      }
      for (std::size_t d = 0; d < devices; ++d, number += 1.0f) {
        Lanes arrival;
        if constexpr (kEqualLinks) {
          const Lanes sent = last_from == number ? there : elsewhere;
          const Lanes before = Lanes{} + arrived[d];
          arrival = sent > before ? sent : before;
        } else {
          arrival = VectorAt<Width>(o.arrivals_.data() + (slot * devices + d) * kAtOnce + lane);
        }
        const Lanes free = VectorAt<Width>(o.free_.data() + d * kAtOnce + lane);
        const Lanes end = (arrival > free ? arrival : free) + seconds[d];
        // Of equally good devices that which is free last, so that how devices are numbered does not matter.
        const auto better = (end < finish) | ((end == finish) & (free > free_of_best));
        finish = better ? end : finish;
        best = better ? number : best;
        free_of_best = better ? free : free_of_best;
      }
      if (o.skipped_[slot] != 0) {
        for (std::size_t l = 0; l < Width; ++l) {
          if ((o.skipped_[slot] >> (lane + l) & 1) == 0) continue;
          best[l] = -1;
          finish[l] = -kForbidden;
        }
      }
      if (o.shared_units_) {
        for (std::size_t l = 0; l < Width; ++l) {
          if (best[l] < 0) continue;
          for (const std::int32_t unit : topology.UnitsAt(static_cast<int>(best[l])))
            o.unit_free_.data()[static_cast<std::size_t>(unit) * kAtOnce + lane + l] = finish[l];
        }
        for (std::size_t d = 0; d < devices; ++d) {
          Lanes free = Lanes{} - kForbidden;
          for (const std::int32_t unit : topology.UnitsAt(static_cast<int>(d))) {
            const Lanes& of_unit =
                VectorAt<Width>(o.unit_free_.data() + static_cast<std::size_t>(unit) * kAtOnce + lane);
            free = of_unit > free ? of_unit : free;
          }
          VectorAt<Width>(o.free_.data() + d * kAtOnce + lane) = free;
        }
      } else {
        number = Lanes{};
        for (std::size_t d = 0; d < devices; ++d, number += 1.0f) {
          Lanes& free = VectorAt<Width>(o.free_.data() + d * kAtOnce + lane);
          free = best == number ? finish : free;
        }
      }
      Tell<Width, kEqualLinks>(o, slot, lane, best, finish);
    }
  }
}

// The next groups by rank, and what of their edges is between them.
void Outlook::Gather() {
  for (std::size_t slot = 0; slot < slots_; ++slot)
    slot_of_[static_cast<std::size_t>(environment_.rank_positions()[static_cast<std::size_t>(group_[slot])])] = -1;
  const State& state = *state_;
  const CostedGraph& costed = environment_.costed();
  const RankOrder& order = environment_.rank_order();
  const std::span<const std::int32_t> ranks = environment_.rank_positions();
  first_free_ = state.DeviceFree(0);
  for (std::size_t d = 1; d < devices_; ++d) first_free_ = std::min(first_free_, state.DeviceFree(static_cast<int>(d)));

  // The ready group of the highest upward rank is the first by rank that is not placed.
  const auto begin = static_cast<std::size_t>(ranks[static_cast<std::size_t>(state.ready().front())]);
  const std::size_t end = std::min(ranks.size(), begin + kMostRanks);
  slots_ = 0;
  work_ = 0;
  for (std::size_t rank = begin; rank < end && slots_ < most_slots_; ++rank) {
    const std::int32_t group = order.groups()[rank];
    if (state.placed(group)) continue;
    work_ += environment_.mean_seconds()[static_cast<std::size_t>(group)];
    group_[slots_] = group;
    slot_of_[rank] = static_cast<std::int32_t>(slots_);
    for (std::size_t d = 0; d < devices_; ++d) {
      const auto device = static_cast<int>(d);
      seconds_[slots_ * devices_ + d] = static_cast<float>(costed.Seconds(group, device));
      arrived_[slots_ * devices_ + d] = static_cast<float>(state.Arrival(group, device) - first_free_);
    }
    ++slots_;
  }
  finished_ = slots_ == ranks.size() - static_cast<std::size_t>(state.steps());

  readers_.clear();
  const std::int32_t last = ranks[static_cast<std::size_t>(group_[slots_ - 1])];
  for (std::size_t slot = 0; slot < slots_; ++slot) {
    offsets_[slot] = static_cast<std::int32_t>(readers_.size());
    const auto rank = static_cast<std::size_t>(ranks[static_cast<std::size_t>(group_[slot])]);
    for (const RankOrder::Reader& reader : order.Readers(rank)) {
      if (reader.rank > last) break;
      readers_.push_back({slot_of_[static_cast<std::size_t>(reader.rank)], static_cast<float>(reader.bytes)});
    }
  }
  offsets_[slots_] = static_cast<std::int32_t>(readers_.size());
}

// Places the choice itself.
void Outlook::Begin(std::size_t lane, Action action) {
  const State& state = *state_;
  const CostedGraph& costed = environment_.costed();
  const Topology& topology = costed.topology;
  const auto on = static_cast<std::size_t>(action.device);
  const auto rank = static_cast<std::size_t>(environment_.rank_positions()[static_cast<std::size_t>(action.group)]);
  const std::int32_t slot = slot_of_[rank];
  const auto bit = static_cast<std::uint8_t>(1U << lane);
  placed_work_[lane] = work_;
  if (slot >= 0) {
    skipped_[static_cast<std::size_t>(slot)] |= bit;
  } else {
    placed_work_[lane] += environment_.mean_seconds()[static_cast<std::size_t>(action.group)];
    if (slots_ == most_slots_) {
      skipped_[most_slots_ - 1] |= bit;
      placed_work_[lane] -= environment_.mean_seconds()[static_cast<std::size_t>(group_[most_slots_ - 1])];
    }
  }
  const auto finish = static_cast<float>(state.EarliestFinish(action.group, action.device) - first_free_);
  if (shared_units_) {
    for (const std::int32_t unit : topology.UnitsAt(action.device))
      unit_free_.data()[static_cast<std::size_t>(unit) * kAtOnce + lane] = finish;
    for (std::size_t d = 0; d < devices_; ++d) {
      float free = -kForbidden;
      for (const std::int32_t unit : topology.UnitsAt(static_cast<int>(d)))
        free = std::max(free, unit_free_.data()[static_cast<std::size_t>(unit) * kAtOnce + lane]);
      free_.data()[d * kAtOnce + lane] = free;
    }
  } else {
    free_.data()[on * kAtOnce + lane] = finish;
  }
  for (const RankOrder::Reader& reader : environment_.rank_order().Readers(rank)) {
    const std::int32_t slot_of_reader = slot_of_[static_cast<std::size_t>(reader.rank)];
    if (slot_of_reader < 0) continue;
    const auto bytes = static_cast<float>(reader.bytes);
    if (equal_links_) {
      // The first that is told, so nothing else comes there.
      const std::size_t at = static_cast<std::size_t>(slot_of_reader) * kAtOnce + lane;
      inputs_.last_from.data()[at] = static_cast<float>(on);
      inputs_.there.data()[at] = finish;
      inputs_.elsewhere.data()[at] = finish + latency_[1] + bytes * per_byte_[1];
      continue;
    }
    for (std::size_t d = 0; d < devices_; ++d) {
      float& arrival = arrivals_.data()[(static_cast<std::size_t>(slot_of_reader) * devices_ + d) * kAtOnce + lane];
      arrival = std::max(arrival, finish + latency_[on * devices_ + d] + bytes * per_byte_[on * devices_ + d]);
    }
  }
}

// Fills prospects_ for actions_.
void Outlook::LookInto() {
  static const auto go_on =
      BestBodyOf<&GoOn<kLanesOfBaseline, false>, &GoOn<kLanesOfAvx2, false>, &GoOn<kLanesOfAvx2, false>>();
  static const auto go_on_equal_links =
      BestBodyOf<&GoOn<kLanesOfBaseline, true>, &GoOn<kLanesOfAvx2, true>, &GoOn<kLanesOfAvx2, true>>();
  if (!gathered_) Gather();
  gathered_ = true;
  const State& state = *state_;
  prospects_.resize(actions_.size());
  for (std::size_t first = 0; first < actions_.size(); first += kAtOnce) {
    const std::size_t lanes = std::min(kAtOnce, actions_.size() - first);
    if (equal_links_) {
      std::fill_n(inputs_.last_from.data(), slots_ * kAtOnce, -1.0f);
      std::fill_n(inputs_.there.data(), slots_ * kAtOnce, -kForbidden);
      std::fill_n(inputs_.elsewhere.data(), slots_ * kAtOnce, -kForbidden);
    } else {
      for (std::size_t cell = 0; cell < slots_ * devices_; ++cell)
        std::fill_n(arrivals_.data() + cell * kAtOnce, kAtOnce, arrived_[cell]);
    }
    for (std::size_t d = 0; d < devices_; ++d)
      std::fill_n(free_.data() + d * kAtOnce, kAtOnce,
                  static_cast<float>(state.DeviceFree(static_cast<int>(d)) - first_free_));
    if (shared_units_) {
      for (int unit = 0; unit < environment_.costed().topology.num_units; ++unit)
        std::fill_n(unit_free_.data() + static_cast<std::size_t>(unit) * kAtOnce, kAtOnce,
                    static_cast<float>(state.UnitFree(unit) - first_free_));
    }
    std::fill(skipped_.begin(), skipped_.end(), std::uint8_t{0});
    for (std::size_t lane = 0; lane < lanes; ++lane) Begin(lane, actions_[first + lane]);
    (equal_links_ ? go_on_equal_links : go_on)(*this);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      double weighted = 0;
      double speeds = 0;
      double latest = state.makespan() - first_free_;
      for (std::size_t d = 0; d < devices_; ++d) {
        const auto free = static_cast<double>(free_.data()[d * kAtOnce + lane]);
        latest = std::max(latest, free);
        weighted += speeds_[d] * free;
        speeds += speeds_[d];
      }
      prospects_[first + lane] = {(finished_ ? speeds * latest : weighted) - placed_work_[lane], latest};
    }
  }
}

void Outlook::From(const State& state) {
  state_ = &state;
  gathered_ = false;
}

void Outlook::Write(std::size_t choices, std::vector<float>& out) const {
  out.assign(choices * kOutlookNumbers, 0.0f);
  Prospect least = prospects_.front();
  Prospect most = least;
  for (const Prospect& prospect : prospects_) {
    least = {std::min(least.lost, prospect.lost), std::min(least.latest, prospect.latest)};
    most = {std::max(most.lost, prospect.lost), std::max(most.latest, prospect.latest)};
  }
  const auto above_least = [this](double time, double least_time) {
    const double above = (time - least_time) / environment_.scale();
    return above < kMostAbove ? static_cast<float>(above) : static_cast<float>(kMostAbove);
  };
  const auto write = [&](std::size_t choice, const Prospect& prospect, bool asked) {
    const auto numbers = RowAt<OutlookNumber>(out, choice);
    const float lost = above_least(prospect.lost, least.lost);
    numbers[OutlookNumber::kLost] = Squash(lost);
    numbers[OutlookNumber::kLatest] = Squash(above_least(prospect.latest, least.latest));
    numbers[OutlookNumber::kAsked] = asked ? 1.0f : 0.0f;
    numbers[OutlookNumber::kFinished] = finished_ ? 1.0f : 0.0f;
    numbers[OutlookNumber::kPrior] = -lost;
  };
  if (asked_.size() < choices) {
    for (std::size_t choice = 0; choice < choices; ++choice) write(choice, most, false);
  }
  for (std::size_t i = 0; i < asked_.size(); ++i) write(asked_[i], prospects_[i], true);
}

void Outlook::OfGroups(std::span<const std::int32_t> groups, std::span<const std::size_t> asked,
                       std::vector<float>& out) {
  const State& state = *state_;
  asked_.assign(asked.begin(), asked.end());
  actions_.clear();
  for (const std::size_t at : asked_) {
    Action action{groups[at], -1};
    double least = 0;
    for (int device = 0; device < environment_.num_devices(); ++device) {
      if (!state.MayRun(action.group, device)) continue;
      const double finish = state.EarliestFinish(action.group, device);
      if (action.device >= 0 &&
          (finish > least || (finish == least && state.DeviceFree(device) <= state.DeviceFree(action.device))))
        continue;
      least = finish;
      action.device = device;
    }
    actions_.push_back(action);
  }
  LookInto();
  Write(groups.size(), out);
}

void Outlook::OfDevices(std::int32_t group, std::span<const std::int32_t> devices, std::vector<float>& out) {
  asked_.resize(devices.size());
  std::iota(asked_.begin(), asked_.end(), std::size_t{0});
  actions_.clear();
  for (const std::int32_t device : devices) actions_.push_back({group, device});
  LookInto();
  Write(devices.size(), out);
}

}  // namespace millrace

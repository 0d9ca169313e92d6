// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/fair_share.h"

#include <algorithm>
#include <limits>

#include "millrace/graph/index.h"

namespace millrace {
namespace {

// Finite for the smallest seconds, too: sums and differences of rates have to be numbers.
double BandwidthOf(double seconds_per_byte) {
  return std::min(1 / seconds_per_byte, std::numeric_limits<double>::max());
}

}  // namespace

FairShare::FairShare(const Topology& topology)
    : topology_(topology),
      bandwidth_(topology.NumChannels(), 0.0),
      left_(bandwidth_.size(), 0.0),
      users_(bandwidth_.size(), 0) {
  for (std::size_t pair = 0; pair < topology.free.size(); ++pair) {
    if (topology.free[pair] != 0 || topology.seconds_per_byte[pair] == 0) continue;
    for (const std::int32_t channel : {topology.channel[pair], topology.EntryOf(pair)}) {
      if (channel < 0) continue;
      double& bandwidth = bandwidth_[Index(channel)];
      bandwidth = std::max(bandwidth, BandwidthOf(topology.seconds_per_byte[pair]));
    }
  }
}

void FairShare::Clear(Flows& flows) {
  flows.moving.clear();
  flows.waiting.clear();
  FindFirst(flows);
}

void FairShare::Add(Flow flow, double time, Flows& flows) {
  for (const Flow& other : flows.moving) {
    if (other.from != flow.from || other.to != flow.to) continue;
    flows.waiting.push_back(flow);
    return;
  }
  flow.since = time;
  flows.moving.push_back(flow);
  SetRates(time, flows);
}

Flow FairShare::TakeFirst(Flows& flows) {
  const Flow first = flows.moving[flows.first];
  const auto next = std::find_if(flows.waiting.begin(), flows.waiting.end(), [&first](const Flow& other) {
    return other.from == first.from && other.to == first.to;
  });
  if (next == flows.waiting.end()) {
    flows.moving.erase(flows.moving.begin() + static_cast<std::ptrdiff_t>(flows.first));
    SetRates(first.end, flows);
    return first;
  }
  // Nobody else's rate changes.
  Flow& moving = flows.moving[flows.first];
  moving = *next;
  moving.since = first.end;
  moving.speed = first.speed;
  moving.end = moving.since + moving.seconds_left / moving.speed;
  flows.waiting.erase(next);
  FindFirst(flows);
  return first;
}

void FairShare::FindFirst(Flows& flows) {
  flows.next_end = std::numeric_limits<double>::infinity();
  flows.first = 0;
  for (std::size_t f = 0; f < flows.moving.size(); ++f) {
    if (flows.moving[f].end >= flows.next_end) continue;
    flows.next_end = flows.moving[f].end;
    flows.first = f;
  }
}

void FairShare::Use(std::int32_t channel) {
  if (channel < 0 || users_[Index(channel)]++ > 0) return;
  left_[Index(channel)] = bandwidth_[Index(channel)];
}

double FairShare::ShareOf(const Open& open) const {
  double share = open.limit;
  for (const std::int32_t channel : {open.channel, open.entry}) {
    if (channel >= 0) share = std::min(share, left_[Index(channel)] / users_[Index(channel)]);
  }
  return share;
}

void FairShare::TakeFrom(std::int32_t channel, double rate) {
  if (channel < 0) return;
  left_[Index(channel)] = std::max(0.0, left_[Index(channel)] - rate);
  --users_[Index(channel)];
}

// Whoever has the least share of what is left keeps it, and takes it from its channels, until all have one.
void FairShare::SetRates(double time, Flows& flows) {
  open_.clear();
  for (std::size_t f = 0; f < flows.moving.size(); ++f) {
    const std::size_t pair = topology_.Pair(flows.moving[f].from, flows.moving[f].to);
    open_.push_back(
        {f, topology_.channel[pair], topology_.EntryOf(pair), BandwidthOf(topology_.seconds_per_byte[pair]), 0});
    Use(open_.back().channel);
    Use(open_.back().entry);
  }
  while (!open_.empty()) {
    double least = std::numeric_limits<double>::infinity();
    for (Open& open : open_) least = std::min(least, open.share = ShareOf(open));
    std::size_t kept = 0;
    for (const Open& open : open_) {
      if (open.share > least) {
        open_[kept++] = open;
        continue;
      }
      TakeFrom(open.channel, least);
      TakeFrom(open.entry, least);
      Flow& flow = flows.moving[open.flow];
      const double speed = least * topology_.seconds_per_byte[topology_.Pair(flow.from, flow.to)];
      if (speed == flow.speed) continue;
      flow.seconds_left = std::max(0.0, flow.seconds_left - flow.speed * (time - flow.since));
      flow.since = time;
      flow.speed = speed;
      flow.end = time + flow.seconds_left / speed;
    }
    open_.resize(kept);
  }
  FindFirst(flows);
}

}  // namespace millrace

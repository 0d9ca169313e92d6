// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/fair_share.h"

#include <algorithm>
#include <limits>

#include "millrace/graph/index.h"

namespace millrace {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Finite for the smallest seconds, too: sums and differences of rates have to be numbers.
double BandwidthOf(double seconds_per_byte) {
  return std::min(1 / seconds_per_byte, std::numeric_limits<double>::max());
}

}  // namespace

FairShare::FairShare(const Topology& topology)
    : topology_(topology),
      bandwidth_(topology.NumChannels(), 0.0),
      left_(bandwidth_.size(), 0.0),
      waiting_(bandwidth_.size(), 0),
      busy_(topology.free.size(), 0) {
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
  flows.on_their_way.clear();
  flows.since = 0;
  flows.next_end = kNever;
  flows.first = 0;
}

void FairShare::Add(Flow flow, double time, Flows& flows) {
  Drain(time, flows);
  flows.on_their_way.push_back(flow);
  SetRates(flows);
}

Flow FairShare::TakeFirst(Flows& flows) {
  Drain(flows.next_end, flows);
  const auto at = flows.on_their_way.begin() + static_cast<std::ptrdiff_t>(flows.first);
  const Flow first = *at;
  flows.on_their_way.erase(at);
  SetRates(flows);
  return first;
}

void FairShare::Drain(double time, Flows& flows) {
  for (Flow& flow : flows.on_their_way)
    flow.seconds_left = std::max(0.0, flow.seconds_left - flow.speed * (time - flows.since));
  flows.since = time;
}

void FairShare::Use(std::int32_t channel) {
  if (channel < 0 || waiting_[Index(channel)]++ > 0) return;
  left_[Index(channel)] = bandwidth_[Index(channel)];
}

double FairShare::ShareOf(const Moving& moving) const {
  double share = moving.limit;
  for (const std::int32_t channel : {moving.channel, moving.entry}) {
    if (channel >= 0) share = std::min(share, left_[Index(channel)] / waiting_[Index(channel)]);
  }
  return share;
}

void FairShare::TakeFrom(std::int32_t channel, double rate) {
  if (channel < 0) return;
  left_[Index(channel)] = std::max(0.0, left_[Index(channel)] - rate);
  --waiting_[Index(channel)];
}

// Whoever has the least share of what is left keeps it, and takes it from its channels, until all have one.
void FairShare::SetRates(Flows& flows) {
  moving_.clear();
  for (std::size_t f = 0; f < flows.on_their_way.size(); ++f) {
    Flow& flow = flows.on_their_way[f];
    flow.speed = 0;
    const std::size_t pair = topology_.Pair(flow.from, flow.to);
    if (busy_[pair] != 0) continue;
    busy_[pair] = 1;
    moving_.push_back(
        {f, topology_.channel[pair], topology_.EntryOf(pair), BandwidthOf(topology_.seconds_per_byte[pair]), 0});
    Use(moving_.back().channel);
    Use(moving_.back().entry);
  }
  flows.next_end = kNever;
  for (const Moving& moving : moving_) {
    const Flow& flow = flows.on_their_way[moving.flow];
    busy_[topology_.Pair(flow.from, flow.to)] = 0;
  }
  while (!moving_.empty()) {
    double least = kNever;
    for (Moving& moving : moving_) least = std::min(least, moving.share = ShareOf(moving));
    std::size_t kept = 0;
    for (const Moving& moving : moving_) {
      if (moving.share > least) {
        moving_[kept++] = moving;
        continue;
      }
      Flow& flow = flows.on_their_way[moving.flow];
      flow.speed = least * topology_.seconds_per_byte[topology_.Pair(flow.from, flow.to)];
      TakeFrom(moving.channel, least);
      TakeFrom(moving.entry, least);
      const double end = flows.since + flow.seconds_left / flow.speed;
      if (end > flows.next_end || (end == flows.next_end && moving.flow > flows.first)) continue;
      flows.next_end = end;
      flows.first = moving.flow;
    }
    moving_.resize(kept);
  }
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/channel_ledger.h"

#include <algorithm>

#include "millrace/graph/index.h"

namespace millrace {

ChannelLedger::ChannelLedger(const CostedGraph& costed) : costed_(&costed), tensors_(costed) {
  channels_.resize(costed.topology.NumChannels());
  promised_.resize(channels_.size(), 0.0);
  std::size_t most = 0;
  for (int group = 0; group < costed.num_groups; ++group) most = std::max(most, tensors_.ReadBy(group).size());
  inputs_.reserve(most);
  asked_.reserve(2 * most);
}

void ChannelLedger::Clear() {
  for (GapList& channel : channels_) channel.Clear();
  sent_.assign(costed_->tensors.size() * Index(costed_->topology.num_memories), kNotSent);
}

double& ChannelLedger::ArrivalAt(std::int32_t tensor, int device) {
  const Topology& topology = costed_->topology;
  return sent_[Index(tensor) * Index(topology.num_memories) + Index(topology.memory_of[Index(device)])];
}

void ChannelLedger::SortInputs(int group, std::span<const int> placement, std::span<const double> finish) {
  inputs_.clear();
  for (const std::int32_t tensor : tensors_.ReadBy(group)) {
    const std::int32_t producer = costed_->tensors[Index(tensor)].producer;
    if (producer >= 0) inputs_.push_back({finish[Index(producer)], tensor, placement[Index(producer)]});
  }
  std::sort(inputs_.begin(), inputs_.end(),
            [](const Input& a, const Input& b) { return a.made != b.made ? a.made < b.made : a.tensor < b.tensor; });
}

// From `earliest` on, behind what is asked for now.
ChannelLedger::Booking ChannelLedger::Book(std::int32_t number, double earliest, double seconds) {
  const std::size_t channel = Index(number);
  const double start = channels_[channel].EarliestFit(std::max(earliest, promised_[channel]), seconds);
  promised_[channel] = start + seconds;
  asked_.push_back(channel);
  return {channel, start, promised_[channel]};
}

// When the last of inputs_ is at the device; send(input, booking) is told of all that every transfer books, its arrival
// last.
template <typename Send>
double ChannelLedger::Serve(int device, Send send) {
  const Topology& topology = costed_->topology;
  double last = 0;
  for (const Input& input : inputs_) {
    const std::size_t pair = topology.Pair(input.from, device);
    double arrival = input.made;
    if (topology.free[pair] == 0) {
      arrival = ArrivalAt(input.tensor, device);
      if (arrival == kNotSent) {
        const double seconds =
            costed_->TransferSeconds(costed_->tensors[Index(input.tensor)].bytes, input.from, device);
        Booking booking = Book(topology.channel[pair], input.made, seconds);
        send(input, booking);
        if (topology.EntryOf(pair) >= 0) {
          booking = Book(topology.EntryOf(pair), booking.start, seconds);
          send(input, booking);
        }
        arrival = booking.end;
      }
    }
    last = std::max(last, arrival);
  }
  for (const std::size_t channel : asked_) promised_[channel] = 0;
  asked_.clear();
  return last;
}

void ChannelLedger::Arrivals(int group, std::span<const int> placement, std::span<const double> finish,
                             std::span<double> arrivals) {
  SortInputs(group, placement, finish);
  for (int device = 0; device < costed_->num_devices; ++device)
    arrivals[Index(device)] = Serve(device, [](const Input&, const Booking&) {});
}

void ChannelLedger::Reserve(int group, int device, std::span<const int> placement, std::span<const double> finish) {
  SortInputs(group, placement, finish);
  Serve(device, [this, device](const Input& input, const Booking& booking) {
    ArrivalAt(input.tensor, device) = booking.end;
    if (booking.end > booking.start) channels_[booking.channel].Occupy(booking.start, booking.end);
  });
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/mpi/part_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "millrace/errors/errors.h"

namespace millrace::mpi {
namespace {

void AddUnlessThere(int number, std::vector<int>& numbers) {
  if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
}

class Divider {
 public:
  Divider(const Plan& plan, const std::vector<Seat>& seats, int ranks, const std::vector<MadeTensor>& tensors)
      : plan_(plan), tensors_(tensors), parts_(static_cast<std::size_t>(ranks)) {
    for (const int device : plan.placement) rank_of_.push_back(seats[static_cast<std::size_t>(device)].rank);
    place_.assign(plan.groups.size(), 0);
    position_.assign(plan.groups.size(), 0);
    for (std::size_t i = 0; i < plan.sequence.size(); ++i)
      position_[static_cast<std::size_t>(plan.sequence[i])] = static_cast<int>(i);
  }

  std::vector<PartPlan> Divide(const std::vector<Seat>& seats, const std::vector<double>& seconds) {
    for (const int group : plan_.sequence) {
      const std::size_t number = static_cast<std::size_t>(group);
      PartGroup own;
      own.group = group;
      own.ops.assign(plan_.groups[number].begin(), plan_.groups[number].end());
      own.processors = seats[static_cast<std::size_t>(plan_.placement[number])].processors;
      own.seconds = seconds.empty() ? 0 : seconds[number];
      place_[number] = static_cast<int>(PartOf(group).groups.size());
      PartOf(group).groups.push_back(std::move(own));
    }
    for (const MadeTensor* const tensor : InOrderOfMaking()) Hand(*tensor);
    return std::move(parts_);
  }

 private:
  std::vector<const MadeTensor*> InOrderOfMaking() const {
    std::vector<const MadeTensor*> order;
    for (const MadeTensor& tensor : tensors_) order.push_back(&tensor);
    std::stable_sort(order.begin(), order.end(), [this](const MadeTensor* a, const MadeTensor* b) {
      return position_[static_cast<std::size_t>(a->maker)] < position_[static_cast<std::size_t>(b->maker)];
    });
    return order;
  }

  // Its readers are told whom to wait for; where some are elsewhere, it is sent to each of those ranks.
  void Hand(const MadeTensor& tensor) {
    std::vector<int> readers = tensor.readers;
    std::sort(readers.begin(), readers.end(), [this](int a, int b) {
      return position_[static_cast<std::size_t>(a)] < position_[static_cast<std::size_t>(b)];
    });
    const int home = rank_of_[static_cast<std::size_t>(tensor.maker)];
    Parcel leaving{tensor.value, tensor.bytes, next_tag_, {}};
    for (const int reader : readers) {
      const int rank = rank_of_[static_cast<std::size_t>(reader)];
      PartPlan& part = PartOf(reader);
      PartGroup& group = GroupOf(reader);
      if (rank == home) {
        AddUnlessThere(place_[static_cast<std::size_t>(tensor.maker)], group.after);
        continue;
      }
      if (std::find(leaving.peers.begin(), leaving.peers.end(), rank) == leaving.peers.end()) {
        leaving.peers.push_back(rank);
        part.arriving.push_back({tensor.value, tensor.bytes, next_tag_, {home}});
      }
      const auto arrival = std::find_if(part.arriving.rbegin(), part.arriving.rend(),
                                        [this](const Parcel& parcel) { return parcel.tag == next_tag_; });
      AddUnlessThere(static_cast<int>(std::distance(arrival, part.arriving.rend())) - 1, group.arrivals);
    }
    if (leaving.peers.empty()) return;
    if (next_tag_ > kMostTag)
      throw WorkFailed(fmt::format("more than {} tensors cross between ranks", kMostTag - kFirstTensorTag));
    ++next_tag_;
    PartPlan& part = PartOf(tensor.maker);
    GroupOf(tensor.maker).departures.push_back(static_cast<int>(part.leaving.size()));
    part.leaving.push_back(std::move(leaving));
  }

  PartPlan& PartOf(int group) { return parts_[static_cast<std::size_t>(rank_of_[static_cast<std::size_t>(group)])]; }
  PartGroup& GroupOf(int group) {
    return PartOf(group).groups[static_cast<std::size_t>(place_[static_cast<std::size_t>(group)])];
  }

  static constexpr int kFirstTensorTag = 64;

  const Plan& plan_;
  const std::vector<MadeTensor>& tensors_;
  std::vector<int> rank_of_;   // by group
  std::vector<int> place_;     // by group: in its part
  std::vector<int> position_;  // by group: in the sequence
  std::vector<PartPlan> parts_;
  int next_tag_ = kFirstTensorTag;
};

void PutParcels(const std::vector<Parcel>& parcels, Letter& letter) {
  letter.Put(static_cast<std::uint64_t>(parcels.size()));
  for (const Parcel& parcel : parcels) {
    letter.Put(parcel.value);
    letter.Put(static_cast<std::uint64_t>(parcel.bytes));
    letter.Put(parcel.tag);
    letter.PutAll(parcel.peers);
  }
}

std::vector<Parcel> TakeParcels(Letter& letter) {
  std::vector<Parcel> parcels(letter.TakeCount(sizeof(std::uint64_t)));
  for (Parcel& parcel : parcels) {
    parcel.value = letter.Take<int>();
    parcel.bytes = static_cast<std::size_t>(letter.Take<std::uint64_t>());
    parcel.tag = letter.Take<int>();
    parcel.peers = letter.TakeAll<int>();
  }
  return parcels;
}

}  // namespace

std::vector<PartPlan> DividePlan(const Plan& plan, const std::vector<Seat>& seats, int ranks,
                                 const std::vector<MadeTensor>& tensors, const std::vector<double>& seconds) {
  return Divider(plan, seats, ranks, tensors).Divide(seats, seconds);
}

void PutPart(const PartPlan& part, Letter& letter) {
  letter.Put(static_cast<std::uint64_t>(part.groups.size()));
  for (const PartGroup& group : part.groups) {
    letter.Put(group.group);
    letter.PutAll(group.ops);
    letter.PutAll(group.processors);
    letter.Put(group.seconds);
    letter.PutAll(group.after);
    letter.PutAll(group.arrivals);
    letter.PutAll(group.departures);
  }
  PutParcels(part.arriving, letter);
  PutParcels(part.leaving, letter);
}

PartPlan TakePart(Letter& letter) {
  PartPlan part;
  part.groups.resize(letter.TakeCount(sizeof(std::uint64_t)));
  for (PartGroup& group : part.groups) {
    group.group = letter.Take<int>();
    group.ops = letter.TakeAll<int>();
    group.processors = letter.TakeAll<int>();
    group.seconds = letter.Take<double>();
    group.after = letter.TakeAll<int>();
    group.arrivals = letter.TakeAll<int>();
    group.departures = letter.TakeAll<int>();
  }
  part.arriving = TakeParcels(letter);
  part.leaving = TakeParcels(letter);
  return part;
}

}  // namespace millrace::mpi

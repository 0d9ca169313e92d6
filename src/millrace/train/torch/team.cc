// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/torch/team.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "millrace/errors/interrupt.h"

namespace millrace {
namespace {

constexpr int kTag = 1;

// Between looks: nothing beside an update, and much to a rank that needs this processor.
constexpr std::chrono::microseconds kPause(50);

template <typename Value>
std::span<std::byte> BytesOf(std::vector<Value>& values) {
  return std::as_writable_bytes(std::span(values));
}

}  // namespace

bool Team::Owns(std::size_t part) const {
  return ranks_ == nullptr ||
         part % static_cast<std::size_t>(ranks_->size()) == static_cast<std::size_t>(ranks_->rank());
}

void Team::Wait(mpi::MessageId message) const {
  std::vector<std::size_t> complete;
  for (;;) {
    ranks_->Test({&message, 1}, complete);
    if (!complete.empty()) return;
    if (InterruptRequested()) ranks_->Abandon();  // before the bytes of this message go
    StopIfInterrupted();
    std::this_thread::sleep_for(kPause);
  }
}

void Team::Send(int to, std::span<const std::byte> bytes) const { Wait(ranks_->Send(to, kTag, bytes)); }
void Team::Receive(int from, std::span<std::byte> bytes) const { Wait(ranks_->Receive(from, kTag, bytes)); }

void Team::Follow(std::span<std::byte> bytes) const {
  if (size() == 1) return;
  if (!Leads()) return Receive(0, bytes);
  for (int rank = 1; rank < size(); ++rank) Send(rank, bytes);
}

void Team::Share(std::vector<std::string>& parts) const {
  if (size() == 1) return;
  std::vector<std::uint64_t> sizes(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) sizes[i] = parts[i].size();
  // To the leader: the sizes of all parts, of which those that the sender owns count, and then those parts.
  const auto bytes_of = [&parts](std::size_t i) { return std::as_writable_bytes(std::span(parts[i])); };
  if (!Leads()) {
    Send(0, BytesOf(sizes));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (Owns(i)) Send(0, bytes_of(i));
    }
  } else {
    std::vector<std::uint64_t> theirs(parts.size());
    for (int rank = 1; rank < size(); ++rank) {
      Receive(rank, BytesOf(theirs));
      for (auto i = static_cast<std::size_t>(rank); i < parts.size(); i += static_cast<std::size_t>(size())) {
        sizes[i] = theirs[i];
        parts[i].resize(sizes[i]);
        Receive(rank, bytes_of(i));
      }
    }
  }
  Follow(BytesOf(sizes));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].resize(sizes[i]);
    Follow(bytes_of(i));
  }
}

void Team::Sum(std::size_t parts, const std::vector<std::vector<float>>& own, std::span<float> sum) const {
  if (!Leads()) {
    for (const std::vector<float>& row : own) Send(0, std::as_bytes(std::span(row)));
    return Receive(0, std::as_writable_bytes(sum));
  }
  std::fill(sum.begin(), sum.end(), 0.0f);
  std::vector<float> theirs(sum.size());
  auto next = own.begin();
  for (std::size_t part = 0; part < parts; ++part) {
    if (!Owns(part)) Receive(static_cast<int>(part % static_cast<std::size_t>(size())), BytesOf(theirs));
    const std::vector<float>& row = Owns(part) ? *next++ : theirs;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += row[i];
  }
  Follow(std::as_writable_bytes(sum));
}

}  // namespace millrace

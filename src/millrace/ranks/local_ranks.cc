// SPDX-License-Identifier: Apache-2.0
#include "millrace/ranks/local_ranks.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>

#include "millrace/errors/errors.h"

namespace millrace::mpi {
namespace {

// One message: whichever side comes first leaves this for the other.
struct Handover {
  bool complete = false;
  bool wrong_size = false;
  std::span<const std::byte> from;
  std::span<std::byte> to;
};

// Sender, receiver, tag.
using Address = std::tuple<int, int, int>;

// Where all ranks of one set meet.
struct MeetingPlace {
  std::mutex mutex;
  std::map<Address, std::deque<std::shared_ptr<Handover>>> sent, wanted;
};

void Hand(Handover& handover) {
  handover.wrong_size = handover.from.size() != handover.to.size();
  if (!handover.wrong_size) std::copy(handover.from.begin(), handover.from.end(), handover.to.begin());
  handover.complete = true;
}

class LocalRanks final : public Ranks {
 public:
  LocalRanks(int rank, int size, std::shared_ptr<MeetingPlace> place)
      : rank_(rank), size_(size), place_(std::move(place)) {}
  ~LocalRanks() override { Withdraw(); }
  LocalRanks(const LocalRanks&) = delete;
  LocalRanks& operator=(const LocalRanks&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  MessageId Send(int to, int tag, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(place_->mutex);
    const Address address{rank_, to, tag};
    std::shared_ptr<Handover> handover = Take(place_->wanted[address]);
    const bool met = handover != nullptr;
    if (!met) {
      handover = std::make_shared<Handover>();
      place_->sent[address].push_back(handover);
    }
    handover->from = bytes;
    if (met) Hand(*handover);
    return Keep(std::move(handover));
  }

  MessageId Receive(int from, int tag, std::span<std::byte> bytes) override {
    const std::lock_guard lock(place_->mutex);
    const Address address{from, rank_, tag};
    std::shared_ptr<Handover> handover = Take(place_->sent[address]);
    const bool met = handover != nullptr;
    if (!met) {
      handover = std::make_shared<Handover>();
      place_->wanted[address].push_back(handover);
    }
    handover->to = bytes;
    if (met) Hand(*handover);
    return Keep(std::move(handover));
  }

  void Test(std::span<const MessageId> messages, std::vector<std::size_t>& complete) override {
    const std::lock_guard lock(place_->mutex);
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const auto at = handovers_.find(messages[i]);
      if (!at->second->complete) continue;
      const bool wrong_size = at->second->wrong_size;
      handovers_.erase(at);
      if (wrong_size) throw WorkFailed(fmt::format("rank {}: a message has another size than expected", rank_));
      complete.push_back(i);
    }
  }

  void Abandon() override { Withdraw(); }

 private:
  static std::shared_ptr<Handover> Take(std::deque<std::shared_ptr<Handover>>& waiting) {
    if (waiting.empty()) return nullptr;
    std::shared_ptr<Handover> first = std::move(waiting.front());
    waiting.pop_front();
    return first;
  }

  MessageId Keep(std::shared_ptr<Handover> handover) {
    handovers_.emplace(next_, std::move(handover));
    return next_++;
  }

  // Nobody may write to or read from our bytes any more.
  void Withdraw() {
    const std::lock_guard lock(place_->mutex);
    for (auto* const side : {&place_->sent, &place_->wanted}) {
      for (auto& [address, waiting] : *side) {
        std::erase_if(waiting, [this](const std::shared_ptr<Handover>& handover) {
          return std::any_of(handovers_.begin(), handovers_.end(),
                             [&handover](const auto& own) { return own.second == handover; });
        });
      }
    }
    handovers_.clear();
  }

  int rank_;
  int size_;
  std::shared_ptr<MeetingPlace> place_;
  std::map<MessageId, std::shared_ptr<Handover>> handovers_;
  MessageId next_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<Ranks>> MakeLocalRanks(int size) {
  const auto place = std::make_shared<MeetingPlace>();
  std::vector<std::unique_ptr<Ranks>> ranks;
  ranks.reserve(static_cast<std::size_t>(std::max(0, size)));
  for (int rank = 0; rank < size; ++rank) ranks.push_back(std::make_unique<LocalRanks>(rank, size, place));
  return ranks;
}

}  // namespace millrace::mpi

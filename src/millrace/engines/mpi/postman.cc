// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/mpi/postman.h"

#include <fmt/core.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"

namespace millrace::mpi {
namespace {

constexpr int kPulseTag = 0;

// How long the thread looks without pause for what somebody waits for, and how long it pauses otherwise: somebody
// waits, for what is expected or in an exchange that went on just now; nobody does, but messages are moved on while all
// compute; nothing is expected.
constexpr std::chrono::microseconds kLookOn{100}, kRecently{2000};
constexpr std::chrono::microseconds kShortPause{20}, kPause{100}, kLongPause{500};

// Where this thread itself stood still for so long, the silence was ours.
constexpr double kStoodStill = 2;

double SecondsBetween(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

struct Postman::Pulse {
  Delivery sent, received;
  Clock::time_point heard;
  int peer = 0;
  std::array<std::byte, 1> beat{}, heard_beat{};
  bool sending = false, receiving = false;
};

Postman::Postman(std::unique_ptr<Ranks> ranks, const PostmanOptions& options)
    : ranks_(std::move(ranks)), options_(options), rank_(ranks_->rank()), size_(ranks_->size()) {
  last_look_ = Clock::now();
  last_pulse_ = last_look_ - std::chrono::hours(1);
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_ || (rank_ != 0 && peer != 0)) continue;
    pulses_.push_back(std::make_unique<Pulse>());
    pulses_.back()->peer = peer;
    pulses_.back()->heard = last_look_;
  }
  thread_ = std::thread([this] { Serve(); });
}

Postman::~Postman() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  called_.notify_one();
  thread_.join();
  if (InTrouble()) ranks_->Abandon();
  ranks_.reset();  // before the pulses, whose bytes others may write until then
}

void Postman::Send(int to, int tag, std::span<const std::byte> bytes, Delivery* delivery) {
  Give({true, to, tag, bytes, {}, delivery});
}

void Postman::Receive(int from, int tag, std::span<std::byte> bytes, Delivery* delivery) {
  Give({false, from, tag, {}, bytes, delivery});
}

void Postman::Give(const Order& order) {
  order.delivery->over_.Reset();
  order.delivery->lost_ = false;
  {
    const std::lock_guard lock(mutex_);
    if (!in_trouble_.load()) {
      orders_.push_back(order);
      called_.notify_one();
      return;
    }
  }
  End(order.delivery, true);
}

bool Postman::TryAwait(Delivery& delivery) noexcept {
  if (!delivery.over()) {
    ++awaited_;
    called_.notify_one();
    delivery.over_.Await(1);
    --awaited_;
  }
  return !delivery.lost_;
}

void Postman::Await(Delivery& delivery) {
  if (!TryAwait(delivery)) ThrowIfInTrouble();
}

void Postman::ThrowIfInTrouble() const {
  if (!InTrouble()) return;
  quiet_.Await(1);
  StopIfInterrupted();
  throw WorkFailed(trouble());
}

void Postman::ReportTrouble(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (trouble_.empty()) trouble_ = what;
  in_trouble_.store(true);
  called_.notify_one();  // under the lock: whoever sees the trouble may destroy this
}

std::string Postman::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void Postman::Serve() {
  // Pauses shall be as short as they say.
  prctl(PR_SET_TIMERSLACK, 1UL);
  try {
    ServeWell();
  } catch (const std::exception& error) {
    ReportTrouble(error.what());
  }
  if (InTrouble()) LoseAll();
  quiet_.RaiseTo(1);
}

void Postman::ServeWell() {
  Clock::time_point last_event = Clock::now();
  while (!InTrouble()) {
    const Clock::time_point now = Clock::now();
    const bool began = BeginOrders();
    const bool ended = EndMessages();
    if (began || ended) last_event = now;
    KeepPulses(now);
    if (InterruptRequested()) ReportTrouble("interrupted");
    {
      const std::lock_guard lock(mutex_);
      if (closing_ && orders_.empty()) return;
    }
    if (!began && !ended) Pause(now, last_event);
  }
}

bool Postman::BeginOrders() {
  {
    const std::lock_guard lock(mutex_);
    taken_.swap(orders_);
  }
  begun_ = 0;
  for (const Order& order : taken_) {
    const MessageId id =
        order.send ? ranks_->Send(order.peer, order.tag, order.from) : ranks_->Receive(order.peer, order.tag, order.to);
    ids_.push_back(id);
    deliveries_.push_back(order.delivery);
    ++begun_;
  }
  taken_.clear();
  return begun_ > 0;
}

bool Postman::EndMessages() {
  complete_.clear();
  ranks_->Test(ids_, complete_);
  if (complete_.empty()) return false;
  for (const std::size_t at : complete_) {
    End(deliveries_[at], false);
    deliveries_[at] = nullptr;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (deliveries_[i] == nullptr) continue;
    ids_[kept] = ids_[i];
    deliveries_[kept++] = deliveries_[i];
  }
  ids_.resize(kept);
  deliveries_.resize(kept);
  return true;
}

void Postman::KeepPulses(Clock::time_point now) {
  const bool stood_still = SecondsBetween(last_look_, now) > kStoodStill;
  last_look_ = now;
  const bool beat = SecondsBetween(last_pulse_, now) >= options_.pulse_seconds;
  if (beat) last_pulse_ = now;
  for (const std::unique_ptr<Pulse>& pulse : pulses_) {
    if (pulse->receiving && pulse->received.over()) {
      pulse->heard = now;
      pulse->receiving = false;
    }
    if (!pulse->receiving) {
      pulse->receiving = true;
      Give({false, pulse->peer, kPulseTag, {}, pulse->heard_beat, &pulse->received});
    }
    if (beat && (!pulse->sending || pulse->sent.over())) {
      pulse->sending = true;
      Give({true, pulse->peer, kPulseTag, pulse->beat, {}, &pulse->sent});
    }
    if (stood_still) pulse->heard = now;
    if (SecondsBetween(pulse->heard, now) < options_.silence_seconds) continue;
    ReportTrouble(fmt::format("rank {} has given no sign of life for {:g} s: it is dead or stuck", pulse->peer,
                              options_.silence_seconds));
  }
}

void Postman::Pause(Clock::time_point now, Clock::time_point last_event) {
  const bool awaited = awaited_.load() > 0;
  const bool expected = expected_.load();
  if (expected && awaited && now - last_event < kLookOn) {
    sched_yield();
    return;
  }
  std::unique_lock lock(mutex_);
  if (!orders_.empty() || closing_ || in_trouble_.load()) return;
  const bool soon = awaited && (expected || now - last_event < kRecently);
  called_.wait_for(lock, soon ? kShortPause : expected ? kPause : kLongPause);
}

void Postman::LoseAll() {
  std::vector<Order> orders;
  {
    const std::lock_guard lock(mutex_);
    orders.swap(orders_);
  }
  ranks_->Abandon();
  for (Delivery* const delivery : deliveries_) End(delivery, true);
  for (std::size_t i = begun_; i < taken_.size(); ++i) End(taken_[i].delivery, true);
  for (const Order& order : orders) End(order.delivery, true);
}

void Postman::End(Delivery* delivery, bool lost) {
  delivery->lost_ = lost;
  delivery->over_.RaiseTo(1);
}

}  // namespace millrace::mpi

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "millrace/ranks/ranks.h"
#include "millrace/runtime/progress.h"

// The one thread of a process that talks to the other ranks, so that messages move while everybody else computes or
// waits. It also gives every rank a sign of life: rank 0 hears from all, all hear from rank 0. Seconds.
namespace millrace::mpi {

// A message on its way, from the side of who begins it; stays where it is until it is over.
class Delivery {
 public:
  bool over() const { return over_.value() != 0; }

 private:
  friend class Postman;
  Progress over_;
  bool lost_ = false;  // read once it is over
};

struct PostmanOptions {
  double pulse_seconds = 1;    // between two signs of life
  double silence_seconds = 8;  // after which a rank counts as dead or stuck
};

// Tags below this one are the postman's own.
inline constexpr int kFirstTag = 8;

// All but the constructor and destructor may be called by any thread.
class Postman {
 public:
  explicit Postman(std::unique_ptr<Ranks> ranks, const PostmanOptions& options = {});
  // Where there is trouble, the others are left without a word (Ranks::Abandon).
  ~Postman();
  Postman(const Postman&) = delete;
  Postman& operator=(const Postman&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  // As Ranks has them. The bytes and the delivery are left alone until it is over, which it also is when it is lost.
  void Send(int to, int tag, std::span<const std::byte> bytes, Delivery* delivery);
  void Receive(int from, int tag, std::span<std::byte> bytes, Delivery* delivery);

  // Returns when it is over; false where it is lost.
  bool TryAwait(Delivery& delivery) noexcept;
  // The same; throws WorkFailed with the trouble, or Interrupted.
  void Await(Delivery& delivery);

  // While messages are expected any moment, the thread looks for them every tenth of a millisecond and, where somebody
  // waits, all the time; otherwise twice a millisecond.
  void ExpectMessages(bool expected) { expected_.store(expected); }

  // From the first trouble on no message goes or comes: a rank that is silent, a message that failed, an interrupt.
  void ReportTrouble(const std::string& what);
  bool InTrouble() const { return in_trouble_.load(); }
  // As Await does, once the thread has let go of every message.
  void ThrowIfInTrouble() const;
  std::string trouble() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Order {
    bool send = false;
    int peer = 0;
    int tag = 0;
    std::span<const std::byte> from;
    std::span<std::byte> to;
    Delivery* delivery = nullptr;
  };
  struct Pulse;  // signs of life to and from another rank

  void Give(const Order& order);
  void Serve();
  void ServeWell();
  bool BeginOrders();
  bool EndMessages();
  void KeepPulses(Clock::time_point now);
  void Pause(Clock::time_point now, Clock::time_point last_event);
  void LoseAll();
  static void End(Delivery* delivery, bool lost);

  std::unique_ptr<Ranks> ranks_;
  const PostmanOptions options_;
  const int rank_;
  const int size_;
  std::atomic<bool> expected_{false};
  std::atomic<int> awaited_{0};  // threads that wait for a delivery
  std::atomic<bool> in_trouble_{false};
  Progress quiet_;  // raised when the thread touches no message any more

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable called_;
  std::vector<Order> orders_;
  std::string trouble_;
  bool closing_ = false;

  // Of the thread alone.
  std::vector<Order> taken_;
  std::size_t begun_ = 0;  // of taken_
  std::vector<MessageId> ids_;
  std::vector<Delivery*> deliveries_;  // by place in ids_
  std::vector<std::size_t> complete_;
  std::vector<std::unique_ptr<Pulse>> pulses_;
  Clock::time_point last_pulse_, last_look_;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace millrace::mpi

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// Processes that were started together, one or more a machine, and pass bytes to each other: what of MPI we use, and no
// more, so that tests run the same code on threads of one process (local_ranks.h) and the command loads the real one
// only when it is asked for (load_module.h).
namespace millrace::mpi {

// Raised with every change of the interface below: what implements it may be loaded from a file of its own.
inline constexpr int kRanksInterface = 1;

inline constexpr int kMostTag = (1 << 20) - 1;

// A message that was begun and is not complete yet. Given anew once it is.
using MessageId = std::int64_t;

// One rank's view. Used by one thread at a time, whichever. Bytes that are handed over stay where they are and as they
// are until their message is complete.
class Ranks {
 public:
  virtual ~Ranks() = default;

  virtual int rank() const = 0;  // 0..size()-1
  virtual int size() const = 0;

  // Begins a message. A message meets the receive of its sender, receiver and tag that was posted first, in the order
  // in which such messages were sent; both give the same number of bytes. `tag` is 0..kMostTag. Throws WorkFailed where
  // the other side cannot be reached.
  virtual MessageId Send(int to, int tag, std::span<const std::byte> bytes) = 0;
  virtual MessageId Receive(int from, int tag, std::span<std::byte> bytes) = 0;

  // Moves everything on, and appends to `complete` the positions in `messages` of those that are complete, whose ids
  // are then gone. Does not wait. Throws WorkFailed where a message failed, and for one of another size than expected.
  virtual void Test(std::span<const MessageId> messages, std::vector<std::size_t>& complete) = 0;

  // To be called before the object goes where others may be dead or stuck: it then goes without taking leave of them,
  // and where a launcher ends ranks together, it is told to. Messages that are not complete are given up.
  virtual void Abandon() = 0;
};

}  // namespace millrace::mpi

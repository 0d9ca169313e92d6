// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "millrace/engines/mpi/exchange.h"
#include "millrace/engines/mpi/follower.h"
#include "millrace/engines/mpi/member.h"
#include "millrace/engines/mpi/part_plan.h"
#include "millrace/engines/mpi/rank_work.h"

// Rank 0, which plans and tells the others what to do. Used by one thread. Every call throws WorkFailed where a rank is
// lost, Interrupted, and what a rank complains of as InvalidInput or WorkFailed, with the rank's number before it.
namespace millrace::mpi {

// Bytes from one rank to another, for timing.
struct Stream {
  int from = 0;
  int to = 0;
};

class Leader {
 public:
  explicit Leader(std::unique_ptr<Postman> postman);
  // The others are told that the run is over.
  ~Leader();
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  // First of all, once this rank has read its model. Throws InvalidInput where the ranks do not fit together.
  void Assemble(const RankFacts& own, const RankSkills& skills);
  const std::vector<Member>& members() const { return members_; }
  int size() const { return postman_->size(); }

  // A rank is lost, or the user has interrupted: nothing works any more.
  bool InTrouble() const { return postman_->InTrouble(); }

  // Makes the parts of a plan, one for each rank, ready; its number.
  int Load(const std::vector<PartPlan>& parts, PartKind kind);
  void Unload(int number);

  // The content of an input of the model, for every rank that reads it.
  void Write(int number, int value, std::span<const std::byte> content);

  // One run: the seconds from the start until the last rank has finished.
  double Run(int number);

  // The content of an output of the model, from the rank that makes it. False where none does.
  bool Read(int number, int value, int rank, std::span<std::byte> content);

  // Several streams at once: by stream, the least seconds until all that its sender sends have been answered.
  std::vector<double> Exchange(const std::vector<Stream>& streams, std::uint64_t bytes, int repetitions);

  // Times a group of the model on these processors of a rank.
  TimedGroup Time(int rank, std::span<const int> ops, const std::vector<int>& processors);

 private:
  void Tell(int rank, const Letter& letter);
  // The answers of all these ranks, the failed ones too, before the first complaint is thrown.
  std::vector<Letter> HearAll(const std::vector<int>& ranks);

  std::vector<int> Others() const;

  enum class State { kJoining, kLeading, kLeft };

  State state_ = State::kJoining;
  std::unique_ptr<RankWork> work_;
  RankSkills skills_;
  std::vector<Member> members_;
  int next_ = 0;
  std::unique_ptr<Postman> postman_;  // goes first: what it moves lies in the others
};

}  // namespace millrace::mpi

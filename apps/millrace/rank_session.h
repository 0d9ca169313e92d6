// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "millrace/engines/mpi/leader.h"
#include "millrace/optimize/profile.h"
#include "millrace/verb.h"

// A verb with --target mpi runs on every rank of the launcher: rank 0 does what the verb does, the others what rank 0
// says.
namespace millrace::cli {

class RankSession {
 public:
  // Joins the other ranks where the target is mpi; does nothing otherwise. Throws InvalidInput where MPI is missing.
  explicit RankSession(const std::string& target);

  // Does this process follow rank 0? Then Follow is all that it does; its result is the exit code. `path` of the model,
  // here and below; empty where the verb takes none.
  bool follows() const { return postman_ != nullptr; }
  int Follow(const CommandLine& line, const std::string& path);

  // Of rank 0, once it has read the model. Null where the target is another.
  mpi::Leader* Lead(const CommandLine& line, const std::string& path, const LoadedGraph& loaded);

  // After Lead. The ranks as a machine where `words` are "this", else the machine that they name; with links as they
  // are measured now, in about so many seconds, unless the target says that they are given.
  Machine MeasuredMachine(const std::string& words, double seconds);

  // After Lead. Times ops on the ranks of the machine that the words name; nothing where there is no model, or where
  // it is emulated on a machine that is made up.
  std::optional<GroupTiming> Timing(const std::string& words, const Machine& machine) const;

 private:
  std::string target_;
  const Model* model_ = nullptr;
  std::unique_ptr<mpi::Postman> postman_;  // of a rank that follows
  std::unique_ptr<mpi::Leader> leader_;    // of rank 0
};

}  // namespace millrace::cli

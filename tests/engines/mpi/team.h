// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "millrace/engines/mpi/follower.h"
#include "millrace/engines/mpi/leader.h"
#include "millrace/ranks/local_ranks.h"

// Rank 0 here, the others as threads.
namespace millrace::testing {

class Team {
 public:
  // Facts and skills are those of every rank; `change` may make one differ.
  template <typename Change>
  Team(int size, const mpi::RankSkills& skills, const Change& change, const mpi::PostmanOptions& options = {})
      : skills_(skills) {
    std::vector<std::unique_ptr<mpi::Ranks>> ranks = mpi::MakeLocalRanks(size);
    own_ = mpi::FactsOfThisRank();
    own_.build = "build";
    own_.model = "model";
    own_.processor = "processor";
    change(0, own_);
    trouble.resize(static_cast<std::size_t>(size));
    for (int rank = 1; rank < size; ++rank)
      postmen.push_back(std::make_unique<mpi::Postman>(std::move(ranks[static_cast<std::size_t>(rank)]), options));
    // From here on the vector stays as long as it is: each thread looks into its own place of it.
    for (int rank = 1; rank < size; ++rank) {
      mpi::RankFacts facts = own_;
      change(rank, facts);
      threads_.emplace_back([this, rank, facts] {
        std::unique_ptr<mpi::Postman>& postman = postmen[static_cast<std::size_t>(rank - 1)];
        try {
          mpi::FollowRankZero(*postman, facts, skills_);
        } catch (const std::exception& error) {
          trouble[static_cast<std::size_t>(rank)] = error.what();
        }
        postman.reset();
      });
    }
    leader = std::make_unique<mpi::Leader>(std::make_unique<mpi::Postman>(std::move(ranks.front()), options));
  }
  Team(int size, const mpi::RankSkills& skills) : Team(size, skills, [](int, mpi::RankFacts&) {}) {}
  ~Team() { Close(); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  void Assemble() { leader->Assemble(own_, skills_); }

  void Close() {
    leader.reset();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  std::unique_ptr<mpi::Leader> leader;
  std::vector<std::unique_ptr<mpi::Postman>> postmen;  // of rank 1, 2, ...
  std::vector<std::string> trouble;                    // by rank: how it ended; empty where it did so in order

 private:
  mpi::RankSkills skills_;
  mpi::RankFacts own_;
  std::vector<std::thread> threads_;
};

}  // namespace millrace::testing

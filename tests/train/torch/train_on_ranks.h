// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "millrace/ranks/local_ranks.h"

namespace millrace::testing {

// Calls `train(rank)` on a thread for each of some ranks. What the first of them that failed says, or nothing.
template <typename Train>
std::string OnRanks(int size, const Train& train) {
  std::vector<std::unique_ptr<mpi::Ranks>> ranks = mpi::MakeLocalRanks(size);
  std::vector<std::string> faults(ranks.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        train(*ranks[i]);
      } catch (const std::exception& error) {
        faults[i] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& fault : faults) {
    if (!fault.empty()) return fault;
  }
  return "";
}

}  // namespace millrace::testing

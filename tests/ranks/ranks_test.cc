// SPDX-License-Identifier: Apache-2.0
#include "millrace/ranks/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/ranks/load_module.h"
#include "millrace/ranks/local_ranks.h"
#include "tests/ranks/ranks_conformance.h"

namespace millrace::mpi {
namespace {

TEST(Ranks, AsThreadsKeepWhatTheInterfacePromises) {
  for (const int size : {1, 2, 3, 5}) {
    std::vector<std::unique_ptr<Ranks>> ranks = MakeLocalRanks(size);
    std::vector<std::string> faults(ranks.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < ranks.size(); ++i)
      threads.emplace_back([&, i] { faults[i] = testing::FaultOfRanks(*ranks[i]); });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& fault : faults) EXPECT_EQ(fault, "") << size << " ranks";
  }
}

// This test once more, by mpirun, on each of three ranks.
TEST(Ranks, OfMpirunKeepWhatTheInterfacePromises) {
#ifndef MILLRACE_MPI_BUILT
  GTEST_SKIP() << "built without MPI";
#endif
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) {
    const std::unique_ptr<Ranks> ranks = JoinMpiRanks();
    EXPECT_EQ(ranks->size(), 3);
    EXPECT_EQ(testing::FaultOfRanks(*ranks), "");
    EXPECT_EQ(testing::FaultOfOvertaking(*ranks), "");
    return;
  }
  if (std::system("command -v mpirun >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun here";
  // MPI itself leaves memory behind, and its sharing of hwloc's topology crashes some starts (docs/formats.md).
  const std::string line =
      "ASAN_OPTIONS=detect_leaks=0 mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 "
      "--mca rtc_hwloc_vmhole none -n 3 '" +
      std::filesystem::read_symlink("/proc/self/exe").string() +
      "' --gtest_filter=Ranks.OfMpirunKeepWhatTheInterfacePromises 2>&1";
  FILE* const pipe = ::popen(line.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  std::array<char, 4096> part{};
  while (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe)) output.append(part.data(), got);
  const int status = ::pclose(pipe);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << output;
}

TEST(Ranks, RefuseAMessageOfAnotherSizeThanExpected) {
  std::vector<std::unique_ptr<Ranks>> ranks = MakeLocalRanks(2);
  std::array<std::byte, 4> sent{};
  std::array<std::byte, 8> wanted{};
  ranks[0]->Send(1, 3, sent);
  const std::vector<MessageId> ids{ranks[1]->Receive(0, 3, wanted)};
  std::vector<std::size_t> complete;
  EXPECT_THROW(ranks[1]->Test(ids, complete), WorkFailed);
}

TEST(Ranks, LeaveAloneWhatOneThatIsGoneHadHandedOver) {
  std::vector<std::unique_ptr<Ranks>> ranks = MakeLocalRanks(2);
  {
    std::vector<std::byte> wanted(1 << 20);
    ranks[1]->Receive(0, 3, wanted);
    ranks[1].reset();
  }
  const std::vector<std::byte> sent(1 << 20);
  const std::vector<MessageId> ids{ranks[0]->Send(1, 3, sent)};
  std::vector<std::size_t> complete;
  ranks[0]->Test(ids, complete);
  EXPECT_TRUE(complete.empty());
}

}  // namespace
}  // namespace millrace::mpi

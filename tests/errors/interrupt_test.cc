// SPDX-License-Identifier: Apache-2.0
#include "millrace/errors/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

TEST(Errors, PutTheFileBeforeTheComplaint) {
  EXPECT_STREQ(InvalidInput("ops[3]: no type").InFile("graph.json").what(), "graph.json: ops[3]: no type");
}

// What a process of its own makes of it, for signals and their memory belong to the whole process.
template <typename Body>
int StatusOf(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(Interrupt, IsAskedForByTheFirstSignalAndEndsTheProcessByTheSecond) {
  for (const int signal : {SIGINT, SIGTERM}) {
    int status = StatusOf([signal] {
      WatchForInterrupt();
      StopIfInterrupted();
      if (InterruptRequested()) return 1;
      raise(signal);
      if (!InterruptRequested()) return 2;
      try {
        StopIfInterrupted();
      } catch (const Interrupted&) {
        return 3;
      }
      return 4;
    });
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 3);
    status = StatusOf([signal] {
      WatchForInterrupt();
      raise(signal);
      raise(signal);
      return 0;
    });
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
  }
}

TEST(Interrupt, EndsWorkThatComesToNoSafePlaceAndRemovesItsTemporaryFiles) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("millrace_interrupt_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string half = folder / "half", whole = folder / "whole";
  for (const int again : {0, 1}) {
    std::ofstream(half) << "half a file";
    std::ofstream(whole) << "a whole one";
    const int status = StatusOf([&]() -> int {
      WatchForInterrupt(/*most_seconds=*/1);
      TemporaryFile renamed(whole);
      renamed.Keep();
      const TemporaryFile temporary(half);
      raise(SIGTERM);
      if (again == 1) raise(SIGTERM);
      for (;;) pause();
    });
    EXPECT_FALSE(std::filesystem::exists(half));
    EXPECT_TRUE(std::filesystem::exists(whole));
    if (again == 0) {
      ASSERT_TRUE(WIFEXITED(status));
      EXPECT_EQ(WEXITSTATUS(status), 1);
    } else {
      EXPECT_TRUE(WIFSIGNALED(status));
    }
  }
  std::filesystem::remove_all(folder);
}

TEST(Interrupt, EndsAWaitForAPipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int status = StatusOf([&] {
    WatchForInterrupt();
    const pid_t parent = getpid();
    const pid_t other = fork();
    if (other == 0) {
      usleep(200'000);
      kill(parent, SIGTERM);
      _exit(0);
    }
    char byte = 0;
    const ssize_t count = read(ends[0], &byte, 1);
    return count < 0 && errno == EINTR && InterruptRequested() ? 0 : 1;
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(TemporaryFile, GoesWithItsObjectUnlessItIsKept) {
  const std::string path = std::filesystem::temp_directory_path() / ("millrace_temporary_" + std::to_string(getpid()));
  std::ofstream(path) << "x";
  { TemporaryFile(path).Keep(); }
  EXPECT_TRUE(std::filesystem::exists(path));
  { const TemporaryFile temporary(path); }
  EXPECT_FALSE(std::filesystem::exists(path));
}

// An interrupt knows of a few dozen at most; the objects know of their own.
TEST(TemporaryFile, GoesWithItsObjectHoweverManyThereAre) {
  const std::string folder = std::filesystem::temp_directory_path() / ("millrace_many_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  {
    std::deque<TemporaryFile> files;
    for (int i = 0; i < 200; ++i) {
      const std::string path = folder + "/" + std::to_string(i);
      std::ofstream(path) << "x";
      files.emplace_back(path);
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace millrace

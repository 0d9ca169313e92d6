// SPDX-License-Identifier: Apache-2.0
#include "millrace/errors/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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

}  // namespace
}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

// The command as its users meet it: files in, files and one JSON object out, one line and an exit code when it goes
// wrong.
namespace millrace::testing {

using Json = nlohmann::json;

struct Outcome {
  int exit_code = -1;
  std::string out, err;

  Json json() const { return Json::parse(out); }
};

inline std::string ContentOf(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Command : public ::testing::Test {
 protected:
  Command() : folder_(std::filesystem::temp_directory_path() / ("millrace_command_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Command() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name) << content;
    return Path(name);
  }

  Outcome Run(const std::string& arguments) const { return RunAfter("", arguments); }

  // The same after some words of the shell, such as limits; what `arguments` redirect goes where they say.
  Outcome RunAfter(const std::string& words, const std::string& arguments) const {
    const std::string line = "cd '" + folder_.string() + "' && { " + words + (words.empty() ? "" : "; ") +
                             "'" MILLRACE_COMMAND "' " + arguments + "; } >out.txt 2>err.txt </dev/null";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), ContentOf(folder_ / "out.txt"),
            ContentOf(folder_ / "err.txt")};
  }

  // Runs it and expects it to work.
  Outcome Do(const std::string& arguments) const {
    Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments << "\n" << outcome.err;
    return outcome;
  }

  // Runs it and expects one line of complaint that says `what`, exit code 2 and nothing on stdout.
  void Refuses(const std::string& arguments, const std::string& what) const {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << arguments << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, ::testing::HasSubstr(what)) << arguments;
  }

  // A small graph file, g.json.
  void GenerateGraph() const { Do("generate layered --ops 40 --ccr 1 --seed 3 -o g.json"); }

  std::filesystem::path folder_;
};

inline constexpr const char* kMachine = "--machine homogeneous:4,latency=1e-3,bandwidth=1e9";

}  // namespace millrace::testing

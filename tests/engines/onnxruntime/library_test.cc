// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/onnxruntime/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "millrace/engines/onnxruntime/memory_left.h"
#include "millrace/errors/errors.h"
#include "tests/engines/onnxruntime/library_here.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A folder to work in, with the variables and the working directory put back at the end.
class OrtLibraryPlaces : public ::testing::Test {
 protected:
  OrtLibraryPlaces()
      : before_(fs::current_path()),
        folder_(fs::temp_directory_path() / ("millrace_ort_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "below" / "here");
    for (const char* const variable : {"MILLRACE_ONNXRUNTIME", "NODE_PATH"}) {
      const char* const value = std::getenv(variable);
      if (value != nullptr) variables_[variable] = value;
      ::unsetenv(variable);
    }
  }
  ~OrtLibraryPlaces() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
    for (const char* const variable : {"MILLRACE_ONNXRUNTIME", "NODE_PATH"}) ::unsetenv(variable);
    for (const auto& [variable, value] : variables_) ::setenv(variable.c_str(), value.c_str(), 1);
  }
  std::string Write(const std::string& name, const std::string& content) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << content;
    return (folder_ / name).string();
  }
  // A package as npm installs it under `modules`.
  std::string WritePackage(const std::string& modules, const std::string& abi) const {
#if defined(__aarch64__)
    const std::string architecture = "arm64";
#else
    const std::string architecture = "x64";
#endif
    return Write(modules + "/onnxruntime-node/bin/" + abi + "/linux/" + architecture + "/libonnxruntime.so.1", "none");
  }
  static std::string Refusal(const std::string& path) {
    try {
      const ort::Library library(path);
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "taken";
  }

  fs::path before_;
  fs::path folder_;
  std::map<std::string, std::string> variables_;
};

TEST_F(OrtLibraryPlaces, RefusesInOneLineWhatIsNoLibraryOfIt) {
  const std::string how = "--target ort,library=PATH";
  EXPECT_THAT(Refusal("/nowhere/libonnxruntime.so"), AllOf(HasSubstr("there is no such library"), HasSubstr(how)));
  EXPECT_THAT(Refusal(folder_.string()), AllOf(HasSubstr("holds no libonnxruntime.so"), HasSubstr(how)));
  const std::string text = Write("text.so", "just\ntext");
  EXPECT_THAT(Refusal(text), AllOf(HasSubstr("cannot be loaded"), HasSubstr(how), Not(HasSubstr("\n"))));
  EXPECT_THAT(Refusal("libonnxruntime.so"), HasSubstr("there is no such library")) << "not looked up, but named";
  // A library, but another.
  std::string other;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; other.empty() && std::getline(maps, line);) {
    if (line.find("/libstdc++.so") != std::string::npos) other = line.substr(line.find('/'));
  }
  ASSERT_NE(other, "");
  EXPECT_THAT(Refusal(other), AllOf(HasSubstr("is not ONNX Runtime's library"), HasSubstr(how)));
}

TEST_F(OrtLibraryPlaces, NamesTheVariableThenTheLoaderThenPackagesNearby) {
  fs::current_path(folder_ / "below" / "here");
  EXPECT_TRUE(ort::UsualPlaces().named.empty());
  ::setenv("MILLRACE_ONNXRUNTIME", "/some/lib.so", 1);
  EXPECT_EQ(ort::UsualPlaces().named, "/some/lib.so");
  EXPECT_THAT(ort::UsualPlaces().loader, ::testing::ElementsAre("libonnxruntime.so", "libonnxruntime.so.1"));
  const std::string above = WritePackage("node_modules", "napi-v6");
  const std::string near = WritePackage("below/node_modules", "napi-v3");
  WritePackage("elsewhere", "napi-v3");
  const std::string newer = WritePackage("elsewhere", "napi-v6");
  fs::create_directories(folder_ / "none");
  ::setenv("NODE_PATH", ((folder_ / "none").string() + "::" + (folder_ / "elsewhere").string()).c_str(), 1);
  const std::vector<std::string> files = ort::UsualPlaces().files;
  ASSERT_GE(files.size(), 3u);
  EXPECT_EQ(files[0], newer);
  EXPECT_EQ(files[1], near) << "the nearest folder first";
  EXPECT_EQ(files[2], above);
}

TEST_F(OrtLibraryPlaces, TellsOfALibraryThatIsNamedByTheVariableAndMissing) {
  ::setenv("MILLRACE_ONNXRUNTIME", (folder_ / "gone.so").c_str(), 1);
  EXPECT_THAT(Refusal(""), AllOf(HasSubstr("gone.so"), HasSubstr("there is no such library")));
}

TEST(OrtLibrary, OpensTheOneThatIsHere) {
  MILLRACE_SKIP_WITHOUT_ONNXRUNTIME();
  std::string why;
  const auto library = testing::OrtLibrary(&why);
  EXPECT_THAT(library->version(), ::testing::StartsWith("1."));
  EXPECT_NE(library->environment(), nullptr);
  const auto again = testing::OrtLibrary(&why);
  EXPECT_EQ(again->version(), library->version());
}

TEST(MemoryLeft, IsWhatTheSystemCallsAvailable) {
  EXPECT_EQ(ort::MemoryLeftIn("MemTotal:       100 kB\nMemFree:  7 kB\nMemAvailable:    42 kB\n"), 42.0 * 1024);
  EXPECT_TRUE(std::isinf(ort::MemoryLeftIn("MemTotal: 100 kB\n")));
  EXPECT_TRUE(std::isinf(ort::MemoryLeftIn("MemAvailable: some\n")));
  EXPECT_GT(ort::MemoryLeft(), 0);
}

}  // namespace
}  // namespace millrace

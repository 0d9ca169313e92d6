// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/onnxruntime/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "millrace/engines/onnxruntime/session.h"
#include "millrace/formats/onnx_write.h"
#include "millrace/runtime/host_units.h"
#include "tests/engines/onnxruntime/library_here.h"
#include "tests/engines/onnxruntime/random_model.h"

// Are the functions at the places of the table where api.h says? Each is asked for something that only it does.
namespace millrace {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Processors that each thread of this process may use, as the system writes them.
std::multiset<std::string> AffinityOfThreads() {
  std::multiset<std::string> all;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(thread.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("Cpus_allowed_list:")) all.insert(line.substr(line.find_last_of(" \t") + 1));
    }
  }
  return all;
}

std::multiset<std::string> Added(const std::multiset<std::string>& before, const std::multiset<std::string>& after) {
  std::multiset<std::string> added;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::inserter(added, added.end()));
  return added;
}

class OrtApi : public ::testing::Test {
 protected:
  void SetUp() override {
    MILLRACE_SKIP_WITHOUT_ONNXRUNTIME();
    std::string why;
    library_ = testing::OrtLibrary(&why);
    Random random(1);
    model_ = testing::RandomModel(random, 8);
  }
  std::size_t ThreadsOf(const ort::SessionSettings& settings) const {
    const auto before = AffinityOfThreads();
    const ort::LoadedModel loaded(library_, model_, settings);
    return Added(before, AffinityOfThreads()).size();
  }

  std::shared_ptr<const ort::Library> library_;
  Model model_;
};

TEST_F(OrtApi, TellsInWordsWhyAModelIsNotTaken) {
  const ort::Functions& functions = library_->functions();
  ort::SessionOptions* options = nullptr;
  ASSERT_EQ(functions.create_session_options(&options), nullptr);
  ASSERT_NE(options, nullptr);
  ort::Session* session = nullptr;
  const std::string garbage = "no model at all";
  ort::Status* status =
      functions.create_session(library_->environment(), garbage.data(), garbage.size(), options, &session);
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(session, nullptr);
  EXPECT_THAT(library_->WordsOf(status), HasSubstr("protobuf"));
  const std::string bytes = OnnxBytes(model_);
  EXPECT_EQ(library_->WordsOf(
                functions.create_session(library_->environment(), bytes.data(), bytes.size(), options, &session)),
            "");
  ASSERT_NE(session, nullptr);
  functions.release_session(session);
  functions.release_session_options(options);
}

TEST_F(OrtApi, GivesSessionsTheThreadsTheyAskFor) {
  EXPECT_EQ(ThreadsOf({.threads = 1}), 0u) << "the caller is the one";
  EXPECT_EQ(ThreadsOf({.threads = 3}), 2u);
  // In parallel mode N threads for ops are N - 1 and the caller, who waits for them.
  EXPECT_EQ(ThreadsOf({.threads = 1, .parallel_ops = 3}), 2u);
  EXPECT_EQ(ThreadsOf({.threads = 2, .parallel_ops = 2}), 2u);
}

TEST_F(OrtApi, PinsThreadsToTheProcessorsItIsTold) {
  const std::vector<int> allowed = AllowedProcessors();
  if (allowed.size() < 2) GTEST_SKIP() << "needs two processors";
  const auto before = AffinityOfThreads();
  const ort::LoadedModel loaded(library_, model_, {.threads = 3, .cpus = {allowed[1], allowed[0]}});
  // Each thread pins itself once it runs.
  const std::multiset<std::string> pinned{std::to_string(allowed[0]), std::to_string(allowed[1])};
  for (int look = 0; look < 1000 && Added(before, AffinityOfThreads()) != pinned; ++look)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(Added(before, AffinityOfThreads()), pinned);
}

TEST_F(OrtApi, RefusesAnOptionWithoutAName) {
  const ort::Functions& functions = library_->functions();
  ort::SessionOptions* options = nullptr;
  ASSERT_EQ(functions.create_session_options(&options), nullptr);
  EXPECT_THAT(library_->WordsOf(functions.set_option(options, "", "1")), HasSubstr("key"));
  EXPECT_THAT(library_->WordsOf(functions.set_execution_mode(options, 7)), Not(""));
  EXPECT_EQ(library_->WordsOf(functions.set_execution_mode(options, ort::kParallel)), "");
  EXPECT_EQ(library_->WordsOf(functions.set_option(options, "session.force_spinning_stop", "1")), "");
  functions.release_session_options(options);
}

TEST_F(OrtApi, ReadsAndWritesTensorsInOurMemory) {
  const ort::LoadedModel loaded(library_, model_, {});
  std::vector<std::array<float, 32>> memory(model_.inputs.size() + model_.outputs.size());
  std::vector<std::unique_ptr<ort::BoundTensor>> tensors;
  std::vector<const ort::Tensor*> inputs;
  std::vector<ort::Tensor*> outputs;
  for (const auto* ids : {&model_.inputs, &model_.outputs}) {
    for (const int id : *ids) {
      auto& elements = memory[tensors.size()];
      // No sum of what is read is what outputs hold before.
      elements.fill(ids == &model_.outputs ? -1.0F
                                           : static_cast<float>(0.25 * static_cast<double>(1 + tensors.size())));
      tensors.push_back(std::make_unique<ort::BoundTensor>(library_, model_.values[static_cast<std::size_t>(id)],
                                                           std::as_writable_bytes(std::span(elements))));
      if (ids == &model_.inputs) inputs.push_back(tensors.back()->get());
      if (ids == &model_.outputs) outputs.push_back(tensors.back()->get());
    }
  }
  const auto untouched = memory;
  ASSERT_EQ(library_->WordsOf(loaded.Run(inputs, outputs)), "");
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (i < model_.inputs.size()) {
      EXPECT_EQ(memory[i], untouched[i]);
    } else {
      EXPECT_NE(memory[i], untouched[i]);
    }
  }
  // Too few inputs are told in words, not in a crash.
  EXPECT_NE(library_->WordsOf(loaded.Run(std::span(inputs).first(0), outputs)), "");
}

TEST_F(OrtApi, DoesNotTakeTensorsOfStrings) {
  Value value;
  value.name = "words";
  value.type = DataType::kString;
  EXPECT_THROW(ort::BoundTensor(library_, value, {}), WorkFailed);
}

}  // namespace
}  // namespace millrace

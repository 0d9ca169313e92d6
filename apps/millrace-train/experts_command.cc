// SPDX-License-Identifier: Apache-2.0
#include "experts_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "command_line/limits.h"
#include "json_lines.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/formats/json_write.h"
#include "millrace/planning/parallel.h"
#include "millrace/train/go/experts.h"
#include "training_ranks.h"

namespace millrace::cli {

struct ExpertsRequest {
  std::string output;
  int count = 1200;
  int validation = 60;
  GoExpertOptions experts;
  std::uint64_t seed = 0;
  int threads = 1;
  bool quiet = false;
  bool json = false;
};

ExpertsCommand::ExpertsCommand() : request_(std::make_unique<ExpertsRequest>()) {
  ExpertsRequest& r = *request_;
  app_.name("millrace train experts");
  app_.description("Search long for good plans of many training graphs; no training reads them yet");
  app_.add_option("-o,--output", r.output, "Folder of a file for each graph; what it has already is kept")->required();
  app_.add_option("--count", r.count, "Graphs to train on")->capture_default_str()->check(WholeFrom(0, 1000000));
  app_.add_option("--validation", r.validation, "Graphs apart, to choose weights by")
      ->capture_default_str()
      ->check(WholeFrom(0, 1000000));
  app_.add_option("--searches", r.experts.searches, "Searches of each graph, independent of each other")
      ->capture_default_str()
      ->check(WholeFrom(1, 100));
  app_.add_option("--evaluations", r.experts.evaluations, "Plans that a search tries")
      ->capture_default_str()
      ->check(WholeFrom(1, std::int64_t{1} << 40));
  AddSeed(app_, r.seed, "Same seed, same graphs and plans");
  app_.add_option("--threads", r.threads, "Searches at the same time")
      ->capture_default_str()
      ->check(WholeFrom(1, 4096));
  app_.add_flag("-q,--quiet", r.quiet, "Say nothing but the result and errors");
  app_.add_flag("--json", r.json, "Print one JSON object on stdout");
}

ExpertsCommand::~ExpertsCommand() = default;

int ExpertsCommand::Run() const {
  RefuseRanks();
  const ExpertsRequest& r = *request_;
  std::error_code failed;
  std::filesystem::create_directories(r.output, failed);
  if (failed) throw InvalidInput(r.output + ": " + failed.message());
  std::vector<std::pair<GoCasePurpose, int>> cases;
  cases.reserve(static_cast<std::size_t>(r.validation) + static_cast<std::size_t>(r.count));
  for (int number = 0; number < r.validation; ++number) cases.emplace_back(GoCasePurpose::kValidation, number);
  for (int number = 0; number < r.count; ++number) cases.emplace_back(GoCasePurpose::kTraining, number);
  std::atomic<int> found = 0;
  RunInParallel(
      static_cast<int>(cases.size()), r.threads,
      [&](int i) {
        StopIfInterrupted();
        const auto [purpose, number] = cases[static_cast<std::size_t>(i)];
        const std::string file = ExpertiseFile(r.output, purpose, number);
        if (std::filesystem::exists(file)) return;
        WriteExpertise(file, DrawGoCase(r.seed, purpose, number), FindExpertise(r.seed, purpose, number, r.experts));
        ++found;
      },
      [&](int done, int all) {
        if (r.quiet || isatty(STDERR_FILENO) != 1) return;
        fmt::print(stderr, "\r{} of {} graphs   {}", done, all, done == all ? "\n" : "");
        std::fflush(stderr);
      });
  if (r.json) {
    std::string line = R"({"output":)";
    AppendJsonText(line, r.output);
    PrintLine(line + fmt::format(R"(,"graphs":{},"searched":{}}})", cases.size(), found.load()));
  }
  return 0;
}

}  // namespace millrace::cli

// SPDX-License-Identifier: Apache-2.0
#include "moves_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "json_lines.h"
#include "learning_options.h"
#include "millrace/formats/json_write.h"
#include "millrace/train/go/move_trainer.h"
#include "setting_options.h"
#include "training_ranks.h"

namespace millrace::cli {

struct MovesRequest {
  LearningOptions learning;
  std::vector<std::string> without;
};

namespace {

class MovesProgress : public MoveObserver {
 public:
  explicit MovesProgress(const LearningOptions& options) : log_(options.log), quiet_(options.quiet) {}

  void OnUpdate(const MoveReport& r) override {
    log_.Write(fmt::format(
        R"({{"update":{},"evaluations":{},"seconds":{},"mean":{},"best":{},"loss":{},"ranking":{},"best_found":{},)"
        R"("gradient_norm":{},"rollout_share":{}}})",
        r.update, r.evaluations, JsonNumberOrNull(r.seconds), JsonNumberOrNull(r.mean), JsonNumberOrNull(r.best),
        JsonNumberOrNull(r.loss), JsonNumberOrNull(r.ranking), JsonNumberOrNull(r.best_found),
        JsonNumberOrNull(r.gradient_norm), JsonNumberOrNull(r.rollout_share)));
    if (quiet_ || isatty(STDERR_FILENO) != 1) return;
    fmt::print(stderr, "\rupdate {}: loss {:.3f}, {:.0f} % of the best gain among the surest   ", r.update, r.loss,
               100 * r.best_found);
    std::fflush(stderr);
  }

  void OnValidation(const MoveReport& r, double score, bool kept) override {
    log_.Write(fmt::format(R"({{"validation":"all","update":{},"seconds":{},"score":{}}})", r.update,
                           JsonNumberOrNull(r.seconds), JsonNumberOrNull(score)));
    if (quiet_) return;
    fmt::print(stderr, "{}update {}, {:.0f} s: {:.4f} x as fast as by hand{}\n", isatty(STDERR_FILENO) == 1 ? "\r" : "",
               r.update, r.seconds, score, kept ? " (kept)" : "");
  }

 private:
  JsonLog log_;
  bool quiet_;
};

}  // namespace

MovesCommand::MovesCommand() : request_(std::make_unique<MovesRequest>()) {
  app_.name("millrace train moves");
  MoveSettings defaults;
  const SettingsTable settings = TableOf(defaults);
  AddLearningOptions(app_, request_->learning,
                     {.default_preset = "go-moves",
                      .default_checkpoint = "OUTPUT.checkpoint",
                      .threads = "look at placements and judge moves"},
                     settings);
  app_.add_option("--without", request_->without, HelpOf(RowNamed(settings, "without")) + "; instead of the preset's")
      ->check(AllowedBy(RowNamed(settings, "without")))
      ->excludes("--resume")
      ->delimiter(',');
}

MovesCommand::~MovesCommand() = default;

namespace {

int Train(const MovesRequest& r, mpi::Ranks* ranks) {
  const LearningOptions learning = OptionsOfRank(r.learning, ranks);
  MoveTrainerOptions options;
  const std::optional<Checkpoint> resume = ResumeFrom(learning, kMoveCheckpoint);
  options.settings = SettingsOf<MoveSettings>(learning, resume, "go-moves");
  if (!r.without.empty()) options.settings.without = r.without;
  SetLearningOptions(learning, ranks, options);
  options.checkpoint = learning.checkpoint.empty() ? learning.output + ".checkpoint" : learning.checkpoint;
  MovesProgress progress(learning);
  const TrainingSummary summary = TrainMoves(options, resume, progress);
  if (learning.json) {
    std::string line = R"({"output":)";
    AppendJsonText(line, learning.output);
    PrintLine(line + fmt::format(R"(,"updates":{},"seconds":{},"times_as_fast_as_by_hand":{}}})", summary.updates,
                                 JsonNumberOrNull(summary.seconds), JsonNumberOrNull(summary.best_score)));
  }
  return 0;
}

}  // namespace

int MovesCommand::Run() const {
  return WorkWithRanks([this](mpi::Ranks* ranks) { return Train(*request_, ranks); });
}

}  // namespace millrace::cli

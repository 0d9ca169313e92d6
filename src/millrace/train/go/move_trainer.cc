// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/move_trainer.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/go/move_features.h"
#include "millrace/go/moves.h"
#include "millrace/go/network.h"
#include "millrace/graph/index.h"
#include "millrace/planning/deadline.h"
#include "millrace/planning/parallel.h"
#include "millrace/search/placement_search.h"
#include "millrace/train/go/move_learner.h"

namespace millrace {
namespace {

// Independent streams of one seed.
enum MoveStream : std::uint64_t { kMoveWeights, kMoveUpdates, kMoveValidation };

constexpr double kDisturbed = 0.3;  // share of walks that do not begin by hand

// Of the annealing of walks, as shares of the plan's time.
constexpr double kFirstTemperature = 0.006;
constexpr double kLastTemperature = 0.0003;

// A placement that is being annealed.
struct Walk {
  std::size_t problem = 0;
  Decisions decisions = {};
  std::int64_t looks = 0;
};

std::vector<std::unique_ptr<const MoveProblem>> MakeProblems(const MoveSettings& settings, GoCasePurpose purpose,
                                                             int count) {
  std::vector<std::unique_ptr<const MoveProblem>> problems;
  const std::vector<int> fewest = FewestBlocks(settings);
  const GoCaseLimits limits{.most_ops = settings.most_ops, .without = settings.without};
  TakeGoCases(0, purpose, count, limits, [&](GoCase drawn) {
    StopIfInterrupted();
    auto problem = std::make_unique<const MoveProblem>(std::move(drawn), fewest);
    if (!std::isfinite(problem->start_seconds())) return false;
    problems.push_back(std::move(problem));
    return true;
  });
  if (problems.empty()) throw InvalidInput("no graph has so few ops, or all families are left out");
  return problems;
}

class MoveTraining final : public TrainingLoop {
 public:
  MoveTraining(const MoveTrainerOptions& options, const std::optional<Checkpoint>& resume, MoveObserver& observer)
      : TrainingLoop(options, kMoveCheckpoint,
                     {.settings = SettingsJson(options.settings), .trained_on = "cases of workloads/go_corpus"},
                     resume),
        options_(options),
        settings_(ParseSettings<MoveSettings>(state().settings)),
        problems_(MakeProblems(settings_, GoCasePurpose::kTraining, settings_.cases)),
        validation_(MakeProblems(settings_, GoCasePurpose::kValidation, settings_.validation_cases)),
        random_(state().seed),
        learner_(StartWeights(), {.average_decay = settings_.average_decay,
                                  .gradient_limit = settings_.gradient_limit,
                                  .threads = options.torch_threads,
                                  .team = &team()}),
        observer_(observer),
        walks_(Index(settings_.examples)) {
    if (resume) ReadMemory(resume->memory);
  }

  TrainingSummary Run() { return RunToEnd(settings_.updates, settings_.validate_every); }

 private:
  Learner& learner() override { return learner_; }

  Weights StartWeights() const {
    if (options_.start) return *options_.start;
    Random random = random_.Fork(kMoveWeights);
    return InitialGoMoveWeights(random);
  }

  static std::string PrefixOf(std::size_t walk) { return "walk." + std::to_string(walk) + "."; }

  static Weights WalkPart(const Walk& walk) {
    Weights part;
    part.metadata["problem"] = std::to_string(walk.problem);
    part.metadata["looks"] = std::to_string(walk.looks);
    part.metadata["by-urgency"] = std::to_string(walk.decisions.Has(Task::kPriority) ? 1 : 0);
    const std::vector<std::int32_t>& device = walk.decisions.device;
    part.tensors["device"] = {{static_cast<std::int64_t>(device.size())}, {device.begin(), device.end()}};
    return part;
  }

  Walk WalkOf(const Weights& part) const {
    Walk walk;
    const std::int64_t problem = IntegerOf(part, "problem");
    if (problem < 0 || Index(problem) >= problems_.size())
      throw InvalidInput("the checkpoint is of other graphs than its settings make");
    walk.problem = Index(problem);
    walk.looks = IntegerOf(part, "looks");
    if (walk.looks == 0) return walk;
    const GoProblem& of = problems_[walk.problem]->problem();
    const WeightTensor& device = part.Get("device", {of.num_colocations()});
    for (const float value : device.values) {
      if (!(value >= 0 && value < static_cast<float>(of.num_devices())))
        throw InvalidInput("the checkpoint places an op on a device that is not there");
      walk.decisions.device.push_back(static_cast<std::int32_t>(value));
    }
    if (IntegerOf(part, "by-urgency") != 0) walk.decisions.priority.assign(Index(of.num_rows()), 0);
    return walk;
  }

  Weights Memory() const override {
    Weights memory;
    for (std::size_t i = 0; i < walks_.size(); ++i) PutPart(WalkPart(walks_[i]), PrefixOf(i), memory);
    return memory;
  }

  void ReadMemory(const Weights& memory) {
    for (std::size_t i = 0; i < walks_.size(); ++i) walks_[i] = WalkOf(TakePart(memory, PrefixOf(i)));
  }

  // A new graph, placed by hand or with some of its blocks anywhere.
  void Begin(Walk& walk, Random& random) const {
    walk.problem = random.Below(problems_.size());
    const MoveProblem& problem = *problems_[walk.problem];
    walk.decisions = problem.start();
    if (random.Uniform() >= kDisturbed) return;
    const GoBlocks& blocks = problem.levels().front();
    const double share = 0.5 * random.Uniform();
    for (std::int32_t block = 0; block < blocks.count(); ++block) {
      const int device = static_cast<int>(random.Below(static_cast<std::uint64_t>(problem.problem().num_devices())));
      if (random.Uniform() < share) PlaceBlock(problem.problem(), blocks, block, device, walk.decisions.device);
    }
  }

  struct Look {
    MoveExample example;
    double ratio = 0;  // time by hand / time now
    std::int64_t evaluations = 0;
  };

  double Falling(double from, double to) const { return from + (to - from) * Progress(); }
  double Unit() const { return Falling(settings_.unit, settings_.last_unit); }

  // Looks at the placement of a walk and goes on from it.
  Look Advance(Walk& walk, const GoPolicy& policy, Random random) const {
    if (walk.looks == 0) Begin(walk, random);
    const MoveProblem& problem = *problems_[walk.problem];
    const std::size_t level = random.Below(problem.levels().size());
    const GoBlocks& blocks = problem.levels()[level];
    DecodedPlan plan = problem.decoder().Decode(walk.decisions);
    if (!plan.fits) {
      walk.decisions = problem.start();
      plan = problem.decoder().Decode(walk.decisions);
    }
    const double seconds = plan.makespan;
    Look look;
    MoveExample& example = look.example;
    example.problem = &problem;
    example.blocks = &blocks;
    example.decisions.device = walk.decisions.device;
    auto before = std::make_shared<DecisionObservation>();
    ObserveMoves(problem.problem(), example.decisions, *plan.costed, plan.assignment, blocks, *before);
    example.before = before;
    example.credit = FindCredit(problem, blocks, walk.decisions, seconds, settings_.judged_blocks, 1, random);
    look.evaluations = static_cast<std::int64_t>(example.credit.gains.size());
    look.ratio = problem.start_seconds() / seconds;

    const PreparedGoPolicy prepared = policy.Prepare(problem.problem());
    GoPass pass = prepared.MakePass();
    pass.Begin(*before);
    const std::vector<GoMove> moves =
        MovesOf(problem.problem(), blocks, BlockLogits(problem.problem(), blocks, pass.Score(Task::kPlacement, {})),
                walk.decisions.device, settings_.softmax_temperature, random);
    Anneal(walk, moves, blocks, seconds, look.evaluations, random);
    walk.looks = (walk.looks + 1) % settings_.most_looks;
    return look;
  }

  // Tries moves, those proposed and others by chance, as SearchPlacement does.
  void Anneal(Walk& walk, const std::vector<GoMove>& moves, const GoBlocks& blocks, double seconds,
              std::int64_t& evaluations, Random& random) const {
    const MoveProblem& problem = *problems_[walk.problem];
    const CostedGraph& costed = problem.costed();
    const std::vector<std::vector<std::int32_t>> groups = GroupsByBlock(problem.problem(), costed, blocks);
    const double done = static_cast<double>(walk.looks) / static_cast<double>(settings_.most_looks);
    const double temperature = seconds * kFirstTemperature * std::pow(kLastTemperature / kFirstTemperature, done);
    MovingPlacement moving(costed, problem.clusters(), problem.decoder().Decode(walk.decisions).assignment.placement);
    Decisions tried = walk.decisions;
    std::size_t next = 0;
    for (int i = 0; i < settings_.tries; ++i) {
      StopIfInterrupted();
      const bool proposed = next < moves.size() && random.Uniform() < settings_.proposed;
      const bool changed =
          proposed ? moving.Move({groups[Index(moves[next].block)], moves[next].device}) : moving.MoveByChance(random);
      if (proposed) ++next;
      if (!changed) continue;
      tried.device = DevicesByColocation(problem.problem(), costed, moving.placement());
      const double then = problem.Seconds(tried);
      ++evaluations;
      if (then <= seconds || random.Uniform() < std::exp((seconds - then) / temperature)) {
        seconds = then;
        walk.decisions.device = tried.device;
      } else {
        moving.Undo();
      }
    }
  }

  void Update() override {
    const Deadline clock;
    const GoPolicy policy(learner_.weights());
    const Random random = random_.Fork(kMoveUpdates).Fork(static_cast<std::uint64_t>(state().update));
    std::vector<Look> looks(walks_.size());
    RunInParallel(static_cast<int>(walks_.size()), options_.threads, [&](int i) {
      if (team().Owns(Index(i)))
        looks[Index(i)] = Advance(walks_[Index(i)], policy, random.Fork(static_cast<std::uint64_t>(i)));
    });
    rollout_seconds_ += clock.Elapsed();
    ReportLooks(looks);
    ShareWalks();
    std::vector<MoveExample> examples;
    examples.reserve(looks.size());
    for (Look& look : looks) examples.push_back(std::move(look.example));
    const MoveUpdateResult result =
        learner_.Update(examples, Unit(), Falling(settings_.learning_rate, settings_.last_learning_rate));
    report_.loss = result.loss;
    report_.ranking = result.ranking;
    report_.best_found = result.best_found;
    report_.gradient_norm = result.gradient_norm;
  }

  void ReportLooks(const std::vector<Look>& looks) {
    struct Numbers {
      double ratio = 0;
      std::int64_t evaluations = 0;
    };
    std::vector<Numbers> numbers;
    numbers.reserve(looks.size());
    for (const Look& look : looks) numbers.push_back({look.ratio, look.evaluations});
    team().Share(numbers);
    const std::int64_t evaluations = report_.evaluations;
    report_ = {};
    report_.evaluations = evaluations;
    for (const Numbers& of_walk : numbers) {
      report_.mean += of_walk.ratio / static_cast<double>(looks.size());
      report_.best = std::max(report_.best, of_walk.ratio);
      report_.evaluations += of_walk.evaluations;
    }
  }

  // A checkpoint has all of them, whichever rank goes on with them.
  void ShareWalks() {
    if (team().size() == 1) return;
    std::vector<std::string> texts(walks_.size());
    for (std::size_t i = 0; i < walks_.size(); ++i) {
      if (team().Owns(i)) texts[i] = WeightsBytes(WalkPart(walks_[i]));
    }
    team().Share(texts);
    for (std::size_t i = 0; i < walks_.size(); ++i) {
      if (!team().Owns(i)) walks_[i] = WalkOf(ParseWeights(texts[i], "a walk"));
    }
  }

  void ReportUpdate() override {
    report_.update = state().update;
    report_.seconds = Seconds();
    report_.rollout_share = rollout_seconds_ / SecondsHere();
    observer_.OnUpdate(report_);
  }

  double Validate(const Weights& average) override {
    const GoPolicy policy(average);
    std::vector<double> logarithms(validation_.size(), 0.0);
    RunInParallel(static_cast<int>(validation_.size()), options_.threads, [&](int i) {
      const MoveProblem& problem = *validation_[Index(i)];
      const PreparedGoPolicy prepared = policy.Prepare(problem.problem());
      GoMoveProposer proposer(
          problem.problem(), problem.costed(), prepared,
          {.fewest_blocks = FewestBlocks(settings_), .softmax_temperature = settings_.softmax_temperature});
      PlacementSearchOptions search = SearchWithGo(proposer, settings_.validation_looks);
      search.tries = settings_.tries;
      search.proposed = settings_.proposed;
      search.evaluations = std::int64_t{search.tries} * settings_.validation_looks;
      search.own_starts = false;
      search.starts = {{problem.decoder().Decode(problem.start()).assignment.placement, {}}};
      Random random = random_.Fork(kMoveValidation);
      const std::optional<FoundPlacement> found = SearchPlacement(problem.costed(), search, random);
      if (found) logarithms[Index(i)] = std::log(problem.start_seconds() / found->makespan);
    });
    double sum = 0;
    for (const double logarithm : logarithms) sum += logarithm / static_cast<double>(logarithms.size());
    score_ = std::exp(sum);
    return score_;
  }

  void ReportValidation(bool kept) override {
    report_.update = state().update;
    report_.seconds = Seconds();
    observer_.OnValidation(report_, score_, kept);
  }

  const MoveTrainerOptions& options_;
  MoveSettings settings_;
  std::vector<std::unique_ptr<const MoveProblem>> problems_, validation_;
  Random random_;
  MoveLearner learner_;
  MoveObserver& observer_;
  std::vector<Walk> walks_;
  MoveReport report_;
  double score_ = 0;  // of the last validation
  double rollout_seconds_ = 0;
};

}  // namespace

const CheckpointKind kMoveCheckpoint = {
    .format = "millrace.move-checkpoint", .trained_on = "cases", .check = [](const Checkpoint& checkpoint) {
      ParseSettings<MoveSettings>(checkpoint.settings);
    }};

TrainingSummary TrainMoves(const MoveTrainerOptions& options, const std::optional<Checkpoint>& resume,
                           MoveObserver& observer) {
  return MoveTraining(options, resume, observer).Run();
}

}  // namespace millrace

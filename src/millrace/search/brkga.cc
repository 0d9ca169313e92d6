// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/brkga.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "millrace/errors/interrupt.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/planning/course.h"
#include "millrace/search/random_key_decoder.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

constexpr std::int64_t kMostIndividuals = 10'000;

// Ascending: the better first; equal ones in the order they were made.
struct Fitness {
  bool overfull = false;
  double makespan = 0;
  std::size_t individual = 0;  // row of the keys

  bool operator<(const Fitness& other) const {
    if (overfull != other.overfull) return other.overfull;
    return makespan != other.makespan ? makespan < other.makespan : individual < other.individual;
  }
};

class Population {
 public:
  Population(const CostedGraph& costed, std::size_t size, Random& random)
      : costed_(costed), decoder_(costed), simulator_(costed), random_(random), width_(decoder_.keys()) {
    keys_.resize(size * width_);
    next_keys_.resize(size * width_);
    ranking_.reserve(size);
    next_ranking_.reserve(size);
  }

  // Random keys, after those given. Where time runs out before it has its size, it stays smaller.
  void Found(const std::vector<double>& first, const Course& course) {
    const std::size_t size = keys_.size() / width_;
    for (std::size_t i = 0; i < size && (i == 0 || course.TimeGone() < 1); ++i) {
      const std::span<double> keys = Row(keys_, i);
      if (i == 0 && !first.empty()) {
        std::copy(first.begin(), first.end(), keys.begin());
      } else {
        DrawKeys(keys);
      }
      ranking_.push_back(Rate(keys, i));
    }
    std::sort(ranking_.begin(), ranking_.end());
  }

  void NextGeneration(const BrkgaOptions& options) {
    const std::size_t size = ranking_.size();
    const auto share = [size](double part) {
      return static_cast<std::size_t>(std::lround(part * static_cast<double>(size)));
    };
    const std::size_t elite = std::clamp<std::size_t>(share(options.elite), 1, size);
    const std::size_t mutants = std::min(share(options.mutants), size - elite);
    next_ranking_.clear();
    for (std::size_t i = 0; i < size; ++i) {
      const std::span<double> keys = Row(next_keys_, i);
      if (i < elite) {
        const std::span<const double> kept = Row(keys_, ranking_[i].individual);
        std::copy(kept.begin(), kept.end(), keys.begin());
        next_ranking_.push_back({ranking_[i].overfull, ranking_[i].makespan, i});
        continue;
      }
      if (i < elite + mutants) {
        DrawKeys(keys);
      } else {
        const std::span<const double> better = Row(keys_, ranking_[random_.Below(elite)].individual);
        const std::span<const double> other = Row(keys_, ranking_[elite + random_.Below(size - elite)].individual);
        for (std::size_t k = 0; k < width_; ++k) keys[k] = random_.Uniform() < options.bias ? better[k] : other[k];
      }
      next_ranking_.push_back(Rate(keys, i));
    }
    keys_.swap(next_keys_);
    ranking_.swap(next_ranking_);
    std::sort(ranking_.begin(), ranking_.end());
  }

  void OfferAll(const std::function<void(Assignment)>& offer) {
    for (const Fitness& fitness : ranking_) {
      Assignment assignment;
      decoder_.Decode(Row(keys_, fitness.individual), assignment);
      offer(std::move(assignment));
    }
  }

  std::vector<double> Encode(const Assignment& assignment) const { return decoder_.Encode(assignment); }

 private:
  std::span<double> Row(std::vector<double>& keys, std::size_t row) {
    return std::span(keys).subspan(row * width_, width_);
  }

  void DrawKeys(std::span<double> keys) {
    for (double& key : keys) key = random_.Uniform();
  }

  Fitness Rate(std::span<const double> keys, std::size_t individual) {
    StopIfInterrupted();
    decoder_.Decode(keys, decoded_);
    if (!costed_.limited_memory) return {false, simulator_.Makespan(decoded_), individual};
    simulator_.Run(decoded_, timeline_);
    return {!Fits(costed_, PeakMemory(costed_, decoded_, timeline_)), timeline_.makespan, individual};
  }

  const CostedGraph& costed_;
  RandomKeyDecoder decoder_;
  Simulator simulator_;
  Random& random_;
  std::size_t width_;
  std::vector<double> keys_, next_keys_;  // by individual, width_ each
  std::vector<Fitness> ranking_, next_ranking_;
  Assignment decoded_;
  Timeline timeline_;
};

class Brkga final : public Planner {
 public:
  Brkga(PlannerTraits traits, const BrkgaOptions& options) : Planner(std::move(traits)), options_(options) {}

  void Propose(const PlanningProblem& problem, const Budget& budget, Random& random,
               const Offer& offer) const override {
    const CostedGraph& costed = problem.costed();
    if (costed.num_groups == 0) {
      offer(Assignment{});
      return;
    }
    std::int64_t size = options_.population;
    // A number beyond all sense stands for "as many as time allows".
    if (budget.samples <= kMostIndividuals) size = std::max(size, budget.samples);
    std::optional<std::int64_t> decodings = budget.iterations;
    if (!decodings && !budget.seconds) decodings = options_.visits / costed.Visits();
    std::optional<std::int64_t> generations;
    if (decodings) generations = *decodings / size;
    const Course course(generations, budget.seconds);
    Population population(costed, static_cast<std::size_t>(size), random);
    std::vector<double> first;
    if (options_.start_from_heft) {
      MakeHeuristic("heft")->Propose(problem, {}, random,
                                     [&](const ProposedPlan& heft) { first = population.Encode(heft.assignment); });
    }
    population.Found(first, course);
    for (std::int64_t generation = 0; course.Done(generation) < 1; ++generation) population.NextGeneration(options_);
    population.OfferAll(offer);
  }

 private:
  BrkgaOptions options_;
};

}  // namespace

PlannerTraits BrkgaTraits() {
  // One generation schedules the graph a hundred times, and needs many to get anywhere.
  constexpr std::int64_t kMostPoolVisits = 500'000;
  return {.name = "brkga",
          .meaning = "biased random-key genetic algorithm",
          .takes_samples = true,
          .takes_iterations = true,
          .most_pool_visits = kMostPoolVisits,
          .pool_share = 0.5,
          .options = {{.name = "population",
                       .meaning = "plans in a generation",
                       .least = 10,
                       .most = 10'000,
                       .usual = "100",
                       .whole = true}}};
}

std::unique_ptr<Planner> MakeBrkga(const BrkgaOptions& options) {
  return std::make_unique<Brkga>(BrkgaTraits(), options);
}

}  // namespace millrace

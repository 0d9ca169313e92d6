// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/method.h"

#include <chrono>
#include <utility>

#include "millrace/optimize/different.h"

namespace millrace {
namespace {

// Of how many plans, for each that goes on, the different ones are picked.
constexpr std::size_t kPickedFrom = 50;

class ChainedSource final : public CandidateSource {
 public:
  ChainedSource(std::string name, std::vector<std::shared_ptr<const CandidateSource>> sources)
      : name_(std::move(name)), sources_(std::move(sources)) {}

  std::string name() const override { return name_; }

  void Propose(const CostedGraph& costed, const SourceBudget& budget, Random& random,
               const std::function<void(Assignment)>& offer) const override {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      Random own = random.Fork(i);
      sources_[i]->Propose(costed, budget, own, offer);
    }
  }

 private:
  std::string name_;
  std::vector<std::shared_ptr<const CandidateSource>> sources_;
};

}  // namespace

Answer Ask(const Method& method, const CostedGraph& shown, const CostedGraph& judged, Random& random) {
  const auto start = std::chrono::steady_clock::now();
  const std::size_t most = method.least_distance > 0 ? kPickedFrom * method.keep : method.keep;
  BestOf best = RunSourceShown(*method.source, shown, judged, method.budget, random, most);
  Answer answer;
  answer.offered = best.offered;
  answer.plans = method.least_distance > 0
                     ? SelectDifferent(judged, std::move(best.kept), method.keep, method.least_distance)
                     : std::move(best.kept);
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answer;
}

std::unique_ptr<CandidateSource> MakeChainedSource(std::string name,
                                                   std::vector<std::shared_ptr<const CandidateSource>> sources) {
  return std::make_unique<ChainedSource>(std::move(name), std::move(sources));
}

std::shared_ptr<const CandidateSource> MakeHeftReference() {
  return MakeChainedSource("heft", {MakeHeuristic("heft"), MakeHeuristic("heft-append")});
}

std::shared_ptr<const CandidateSource> MakeAllHeuristics() {
  std::vector<std::shared_ptr<const CandidateSource>> sources;
  for (const std::string& name : HeuristicNames()) {
    if (name != "random" && name != "randomised-list") sources.push_back(MakeHeuristic(name));
  }
  return MakeChainedSource("heuristics", std::move(sources));
}

}  // namespace millrace

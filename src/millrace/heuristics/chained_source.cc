// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/chained_source.h"

#include <utility>

namespace millrace {
namespace {

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

std::unique_ptr<CandidateSource> MakeChainedSource(std::string name,
                                                   std::vector<std::shared_ptr<const CandidateSource>> sources) {
  return std::make_unique<ChainedSource>(std::move(name), std::move(sources));
}

std::unique_ptr<CandidateSource> MakeHeftReference() {
  return MakeChainedSource("heft", {MakeHeuristic("heft"), MakeHeuristic("heft-append")});
}

std::unique_ptr<CandidateSource> MakeAllHeuristics() {
  std::vector<std::shared_ptr<const CandidateSource>> sources;
  for (const std::string& name : HeuristicNames()) {
    if (name != "random" && name != "randomised-list") sources.push_back(MakeHeuristic(name));
  }
  return MakeChainedSource("heuristics", std::move(sources));
}

}  // namespace millrace

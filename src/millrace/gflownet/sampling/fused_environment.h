// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "millrace/cost/costed_graph.h"
#include "millrace/gflownet/environment/environment.h"

// The placement problems of one graph, one for each choice of fusion groups.
namespace millrace {

// A contracted graph and its environment, kept together.
struct FusedEnvironment {
  FusedEnvironment(const CostModel& model, FusionGroups groups)
      : costed(MakeCostedGraph(model, std::move(groups))), environment(costed) {}
  FusedEnvironment(const FusedEnvironment&) = delete;
  FusedEnvironment& operator=(const FusedEnvironment&) = delete;

  CostedGraph costed;
  Environment environment;
};

// A cache of the environments that were asked for last. Threads may share it; the model must outlive it.
class FusedEnvironments {
 public:
  FusedEnvironments(const CostModel& model, std::size_t capacity) : model_(model), capacity_(capacity) {}

  // The environment of these groups. The same groups in another order count as others. Throws as MakeCostedGraph does.
  std::shared_ptr<const FusedEnvironment> For(const FusionGroups& groups);

  std::size_t made() const { return made_; }  // how many were made so far

 private:
  struct Entry {
    std::shared_ptr<const FusedEnvironment> made;
    std::list<const FusionGroups*>::iterator use;
  };

  const CostModel& model_;
  std::size_t capacity_;
  std::size_t made_ = 0;
  std::mutex guard_;
  std::map<FusionGroups, Entry> entries_;
  std::list<const FusionGroups*> uses_;  // keys of entries_, the most recent first
};

}  // namespace millrace

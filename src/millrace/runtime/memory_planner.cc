// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/memory_planner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "millrace/runtime/aligned_memory.h"
#include "millrace/runtime/memory_packing.h"

namespace millrace {
namespace {

// More than these are placed without a search, and their cuts are not written down.
constexpr std::size_t kMostToSearch = 1000;

std::int64_t SizeOf(const BufferLife& life) {
  return static_cast<std::int64_t>(AlignedSize(std::max<std::size_t>(life.bytes, 1)));
}

// What its readers know, its writer knew.
bool EndsBefore(const BufferLife& first, const BufferLife& second) {
  for (std::size_t worker = 0; worker < first.dead.size(); ++worker) {
    if (std::max(first.dead[worker], first.born[worker]) > second.born[worker]) return false;
  }
  return true;
}

std::vector<int> SharingBuffers(const std::vector<BufferLife>& buffers) {
  std::vector<int> sharing;
  for (std::size_t buffer = 0; buffer < buffers.size(); ++buffer) {
    if (!buffers[buffer].kept && buffers[buffer].inside < 0) sharing.push_back(static_cast<int>(buffer));
  }
  return sharing;
}

// Those in use when the given one is born: it is, and each was born by then and has not ended. All of them are in use
// together: one that ends before another is born ends before this moment, too.
std::vector<int> CutAtBirth(const std::vector<BufferLife>& buffers, const std::vector<int>& sharing, std::size_t at) {
  const BufferLife& now = buffers[static_cast<std::size_t>(sharing[at])];
  std::vector<int> cut;
  for (std::size_t other = 0; other < sharing.size(); ++other) {
    const BufferLife& life = buffers[static_cast<std::size_t>(sharing[other])];
    const bool born = std::equal(life.born.begin(), life.born.end(), now.born.begin(),
                                 [](std::uint32_t mine, std::uint32_t clock) { return mine <= clock; });
    if (other == at || (born && !EndsBefore(life, now))) cut.push_back(static_cast<int>(other));
  }
  return cut;
}

// All that is part of another is left out.
std::vector<std::vector<int>> LargestCuts(std::vector<std::vector<int>> cuts) {
  std::stable_sort(cuts.begin(), cuts.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<std::vector<int>> largest;
  for (std::vector<int>& cut : cuts) {
    const bool part = std::any_of(largest.begin(), largest.end(), [&cut](const std::vector<int>& other) {
      return std::includes(other.begin(), other.end(), cut.begin(), cut.end());
    });
    if (!part) largest.push_back(std::move(cut));
  }
  return largest;
}

PackingProblem ProblemOf(const std::vector<BufferLife>& buffers, const std::vector<int>& sharing) {
  PackingProblem problem;
  problem.conflicts.resize(sharing.size());
  for (std::size_t a = 0; a < sharing.size(); ++a) {
    const BufferLife& life = buffers[static_cast<std::size_t>(sharing[a])];
    problem.sizes.push_back(SizeOf(life));
    for (std::size_t b = 0; b < a; ++b) {
      if (!InUseTogether(life, buffers[static_cast<std::size_t>(sharing[b])])) continue;
      problem.conflicts[a].push_back(static_cast<int>(b));
      problem.conflicts[b].push_back(static_cast<int>(a));
    }
  }
  return problem;
}

// Nothing where no buffer is a gang's, or where that takes far more than it would `otherwise`.
std::optional<Packing> WithHalves(const std::vector<BufferLife>& buffers, const std::vector<int>& sharing,
                                  const PackingProblem& problem, const MemoryPlanOptions& options,
                                  std::int64_t otherwise) {
  std::vector<Writers> writers;
  writers.reserve(sharing.size());
  for (const int buffer : sharing) writers.push_back(buffers[static_cast<std::size_t>(buffer)].writers);
  const auto of_one = [](Writers one) { return one == Writers::kOne; };
  if (std::all_of(writers.begin(), writers.end(), of_one)) return std::nullopt;
  Packing packing = PackByHalves(problem, writers);
  if (static_cast<double>(packing.height) > options.most_for_halves * static_cast<double>(otherwise))
    return std::nullopt;
  return packing;
}

std::vector<std::vector<int>> CutsOf(const std::vector<BufferLife>& buffers, const std::vector<int>& sharing) {
  std::vector<std::vector<int>> cuts;
  cuts.reserve(sharing.size());
  for (std::size_t at = 0; at < sharing.size(); ++at) cuts.push_back(CutAtBirth(buffers, sharing, at));
  return cuts;
}

}  // namespace

bool InUseTogether(const BufferLife& a, const BufferLife& b) {
  return a.kept || b.kept || !(EndsBefore(a, b) || EndsBefore(b, a));
}

MemoryLayout PlanMemory(const std::vector<BufferLife>& buffers, const MemoryPlanOptions& options) {
  MemoryLayout layout;
  layout.offsets.assign(buffers.size(), 0);
  std::int64_t kept = 0;
  for (std::size_t buffer = 0; buffer < buffers.size(); ++buffer) {
    if (!buffers[buffer].kept) continue;
    layout.offsets[buffer] = static_cast<std::size_t>(kept);
    kept += SizeOf(buffers[buffer]);
  }
  const std::vector<int> sharing = SharingBuffers(buffers);
  PackingProblem problem = ProblemOf(buffers, sharing);
  Packing packing = FirstFit(problem);
  if (std::optional<Packing> by_halves = WithHalves(buffers, sharing, problem, options, packing.height)) {
    packing = *std::move(by_halves);
  } else if (options.visits > 0 && sharing.size() <= kMostToSearch) {
    problem.cuts = CutsOf(buffers, sharing);
    if (packing.height > HighestCut(problem)) {
      problem.cuts = LargestCuts(std::move(problem.cuts));
      packing = PackLower(problem, std::move(packing), options.visits);
    }
  }
  for (std::size_t at = 0; at < sharing.size(); ++at)
    layout.offsets[static_cast<std::size_t>(sharing[at])] = static_cast<std::size_t>(kept + packing.offsets[at]);
  for (std::size_t buffer = buffers.size(); buffer-- > 0;) {
    if (buffers[buffer].inside < 0) continue;
    layout.offsets[buffer] = layout.offsets[static_cast<std::size_t>(buffers[buffer].inside)] + buffers[buffer].offset;
  }
  layout.bytes = static_cast<std::size_t>(kept + packing.height);
  return layout;
}

std::size_t LeastMemory(const std::vector<BufferLife>& buffers) {
  std::int64_t kept = 0;
  for (const BufferLife& life : buffers) kept += life.kept ? SizeOf(life) : 0;
  const std::vector<int> sharing = SharingBuffers(buffers);
  std::int64_t most = 0;
  for (std::size_t at = 0; at < sharing.size(); ++at) {
    std::int64_t sum = 0;
    for (const int other : CutAtBirth(buffers, sharing, at))
      sum += SizeOf(buffers[static_cast<std::size_t>(sharing[static_cast<std::size_t>(other)])]);
    most = std::max(most, sum);
  }
  return static_cast<std::size_t>(kept + most);
}

}  // namespace millrace

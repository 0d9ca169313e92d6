// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/memory_packing.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "millrace/random/random.h"

namespace millrace {
namespace {

constexpr std::uint64_t kSeed = 20'231'126;

// Attempts, by what goes first, before failures say it; and how those that follow grow and differ.
constexpr int kPlainAttempts = 6;
constexpr int kAttemptsOfALength = 18;
constexpr std::int64_t kFirstNodes = 2000;
constexpr double kDeviation = 0.15;
constexpr double kForgetting = 0.8;

// A packing within this of the bound is as good as any.
constexpr double kAsGood = 1.002;

std::int64_t SizeOfCut(const PackingProblem& problem, const std::vector<int>& cut) {
  std::int64_t size = 0;
  for (const int buffer : cut) size += problem.sizes[static_cast<std::size_t>(buffer)];
  return size;
}

class Packer {
 public:
  explicit Packer(const PackingProblem& problem)
      : problem_(problem),
        count_(problem.sizes.size()),
        cuts_of_(count_),
        offset_(count_),
        least_(count_),
        placed_(count_),
        first_(count_),
        blame_(count_, 0.0),
        seen_cut_(problem.cuts.size(), 0),
        seen_(count_, 0),
        random_(kSeed) {
    for (std::size_t cut = 0; cut < problem.cuts.size(); ++cut) {
      totals_.push_back(SizeOfCut(problem, problem.cuts[cut]));
      for (const int buffer : problem.cuts[cut]) cuts_of_[Index(buffer)].push_back(static_cast<int>(cut));
    }
    DescribeBuffers();
  }

  // A packing of at most this height; nothing where none is found within so many visits. `none`: there is none.
  std::optional<Packing> Within(std::int64_t height, std::int64_t visits, bool& none) {
    none = false;
    height_ = height;
    const std::int64_t end = visits_ + visits;
    std::int64_t nodes = kFirstNodes;
    for (int attempt = 0; visits_ < end; ++attempt) {
      Prefer(attempt);
      if (attempt > 0 && attempt % kAttemptsOfALength == 0) nodes += nodes / 2;
      nodes_left_ = nodes;
      last_visit_ = end;
      Reset();
      std::vector<int> all(count_);
      std::iota(all.begin(), all.end(), 0);
      if (Place(all, 0)) return Found();
      none = nodes_left_ > 0 && visits_ < end;
      if (none) break;
    }
    return std::nullopt;
  }

  std::int64_t visits() const { return visits_; }

 private:
  static std::size_t Index(int buffer) { return static_cast<std::size_t>(buffer); }

  struct Raised {
    int buffer;
    std::int64_t before;
  };

  void DescribeBuffers() {
    for (auto& measure : measures_) measure.assign(count_, 0.0);
    for (std::size_t buffer = 0; buffer < count_; ++buffer) {
      const auto size = static_cast<double>(problem_.sizes[buffer]);
      const auto width = static_cast<double>(cuts_of_[buffer].size());
      double fullest = 0;
      for (const int cut : cuts_of_[buffer]) fullest = std::max(fullest, static_cast<double>(totals_[Index(cut)]));
      measures_[0][buffer] = width;
      measures_[1][buffer] = width * size;
      measures_[2][buffer] = fullest;
      measures_[3][buffer] = size;
      measures_[4][buffer] = static_cast<double>(problem_.conflicts[buffer].size()) * size;
      measures_[5][buffer] = fullest * width;
    }
  }

  // Of buffers with the same lowest place, which is tried first.
  void Prefer(int attempt) {
    if (attempt < kPlainAttempts) {
      first_ = measures_[attempt];
      return;
    }
    const double most = std::max(1.0, *std::max_element(blame_.begin(), blame_.end()));
    for (std::size_t buffer = 0; buffer < count_; ++buffer) {
      first_[buffer] = blame_[buffer] / most * random_.LogNormal(0, kDeviation);
      blame_[buffer] *= kForgetting;
    }
  }

  void Reset() {
    std::fill(least_.begin(), least_.end(), 0);
    std::fill(placed_.begin(), placed_.end(), false);
    left_ = totals_;
  }

  Packing Found() const {
    Packing packing{offset_, 0};
    for (std::size_t buffer = 0; buffer < count_; ++buffer)
      packing.height = std::max(packing.height, offset_[buffer] + problem_.sizes[buffer]);
    return packing;
  }

  // Can these still be placed, none below `last`? A cut that is overfull is blamed.
  bool FitsAbove(std::span<const int> open, std::int64_t last) {
    ++cut_mark_;
    for (const int buffer : open) {
      if (std::max(least_[Index(buffer)], last) + problem_.sizes[Index(buffer)] > height_) {
        blame_[Index(buffer)] += 1;
        return false;
      }
      for (const int cut : cuts_of_[Index(buffer)]) {
        if (seen_cut_[Index(cut)] == cut_mark_) continue;
        seen_cut_[Index(cut)] = cut_mark_;
        std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
        for (const int other : problem_.cuts[Index(cut)]) {
          if (!placed_[Index(other)]) lowest = std::min(lowest, least_[Index(other)]);
        }
        visits_ += static_cast<std::int64_t>(problem_.cuts[Index(cut)].size());
        if (std::max(lowest, last) + left_[Index(cut)] <= height_) continue;
        for (const int other : problem_.cuts[Index(cut)]) blame_[Index(other)] += 1;
        return false;
      }
    }
    return true;
  }

  // What is open and hangs together through what is open, part by part.
  std::vector<std::vector<int>> PartsOf(std::span<const int> open) {
    ++mark_;
    std::vector<std::vector<int>> parts;
    for (const int start : open) {
      if (seen_[Index(start)] == mark_) continue;
      seen_[Index(start)] = mark_;
      std::vector<int> part{start};
      for (std::size_t next = 0; next < part.size(); ++next) {
        const std::vector<int>& around = problem_.conflicts[Index(part[next])];
        visits_ += static_cast<std::int64_t>(around.size());
        for (const int other : around) {
          if (placed_[Index(other)] || seen_[Index(other)] == mark_) continue;
          seen_[Index(other)] = mark_;
          part.push_back(other);
        }
      }
      parts.push_back(std::move(part));
    }
    std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    return parts;
  }

  // Places all that is open, none below `last`; leaves all as it was where that fails.
  bool Place(std::span<const int> open, std::int64_t last) {
    if (open.empty()) return true;
    if (--nodes_left_ <= 0 || visits_ >= last_visit_) return false;
    if (!FitsAbove(open, last)) return false;
    std::vector<std::vector<int>> parts = PartsOf(open);
    return parts.size() == 1 ? PlacePart(parts.front(), last) : PlaceParts(parts, last);
  }

  bool PlaceParts(std::span<const std::vector<int>> parts, std::int64_t last) {
    for (std::size_t part = 0; part < parts.size(); ++part) {
      if (Place(parts[part], last)) continue;
      for (std::size_t done = part; done-- > 0;) TakeOut(parts[done]);
      return false;
    }
    return true;
  }

  void TakeOut(std::span<const int> part) {
    for (const int buffer : part) Lift(buffer);
    for (const int buffer : part) {
      std::int64_t least = 0;
      for (const int other : problem_.conflicts[Index(buffer)]) {
        if (placed_[Index(other)]) least = std::max(least, offset_[Index(other)] + problem_.sizes[Index(other)]);
      }
      least_[Index(buffer)] = least;
    }
  }

  bool PlacePart(std::span<const int> open, std::int64_t last) {
    const auto end_of = [&](int buffer) {
      return std::max(least_[Index(buffer)], last) + problem_.sizes[Index(buffer)];
    };
    std::int64_t hole = std::numeric_limits<std::int64_t>::max();  // above it another one would fit below
    for (const int buffer : open) hole = std::min(hole, end_of(buffer));
    std::vector<int> choices;
    for (const int buffer : open) {
      if (least_[Index(buffer)] >= last && least_[Index(buffer)] < hole) choices.push_back(buffer);
    }
    std::stable_sort(choices.begin(), choices.end(), [&](int a, int b) {
      if (least_[Index(a)] != least_[Index(b)]) return least_[Index(a)] < least_[Index(b)];
      return first_[Index(a)] > first_[Index(b)];
    });
    std::vector<int> rest;
    std::vector<Raised> raised;
    for (const int buffer : choices) {
      rest.clear();
      std::copy_if(open.begin(), open.end(), std::back_inserter(rest), [&](int other) { return other != buffer; });
      raised.clear();
      Put(buffer, raised);
      if (Place(rest, offset_[Index(buffer)])) return true;
      Lift(buffer);
      for (const Raised& one : raised) least_[Index(one.buffer)] = one.before;
      // It is in nobody's way where it was, so it is not why that failed.
      if (raised.empty() && buffer == choices.front()) return false;
      if (nodes_left_ <= 0 || visits_ >= last_visit_) return false;
    }
    return false;
  }

  void Put(int buffer, std::vector<Raised>& raised) {
    placed_[Index(buffer)] = true;
    offset_[Index(buffer)] = least_[Index(buffer)];
    const std::int64_t end = offset_[Index(buffer)] + problem_.sizes[Index(buffer)];
    for (const int cut : cuts_of_[Index(buffer)]) left_[Index(cut)] -= problem_.sizes[Index(buffer)];
    for (const int other : problem_.conflicts[Index(buffer)]) {
      if (placed_[Index(other)] || least_[Index(other)] >= end) continue;
      raised.push_back({other, least_[Index(other)]});
      least_[Index(other)] = end;
    }
  }

  void Lift(int buffer) {
    placed_[Index(buffer)] = false;
    for (const int cut : cuts_of_[Index(buffer)]) left_[Index(cut)] += problem_.sizes[Index(buffer)];
  }

  const PackingProblem& problem_;
  std::size_t count_;
  std::vector<std::vector<int>> cuts_of_;
  std::vector<std::int64_t> offset_, least_;  // least_: the ends of what lies below already
  std::vector<char> placed_;
  std::vector<double> first_, blame_;
  std::vector<double> measures_[kPlainAttempts];
  std::vector<std::int64_t> totals_, left_;  // by cut: what all its buffers take, and the open ones
  std::vector<int> seen_cut_, seen_;
  int cut_mark_ = 0, mark_ = 0;
  Random random_;
  std::int64_t height_ = 0, nodes_left_ = 0, visits_ = 0, last_visit_ = 0;
};

}  // namespace

std::int64_t HighestCut(const PackingProblem& problem) {
  std::int64_t highest = 0;
  for (const std::vector<int>& cut : problem.cuts) highest = std::max(highest, SizeOfCut(problem, cut));
  return highest;
}

std::vector<int> LargestFirst(const PackingProblem& problem) {
  std::vector<int> order(problem.sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return problem.sizes[static_cast<std::size_t>(a)] > problem.sizes[static_cast<std::size_t>(b)];
  });
  return order;
}

Packing FirstFit(const PackingProblem& problem, std::vector<std::int64_t> placed) {
  Packing packing{std::move(placed), 0};
  packing.offsets.resize(problem.sizes.size(), kUnplaced);
  std::vector<std::pair<std::int64_t, std::int64_t>> taken;  // begin and end
  for (const int buffer : LargestFirst(problem)) {
    const auto at = static_cast<std::size_t>(buffer);
    std::int64_t& offset = packing.offsets[at];
    if (offset == kUnplaced) {
      taken.clear();
      for (const int conflicting : problem.conflicts[at]) {
        const auto other = static_cast<std::size_t>(conflicting);
        if (packing.offsets[other] == kUnplaced) continue;
        taken.emplace_back(packing.offsets[other], packing.offsets[other] + problem.sizes[other]);
      }
      std::sort(taken.begin(), taken.end());
      offset = 0;
      for (const auto& [begin, end] : taken) {
        if (begin >= offset + problem.sizes[at]) break;
        offset = std::max(offset, end);
      }
    }
    packing.height = std::max(packing.height, offset + problem.sizes[at]);
  }
  return packing;
}

Packing PackLower(const PackingProblem& problem, Packing start, std::int64_t visits) {
  Packing best = std::move(start);
  std::int64_t bound = HighestCut(problem);
  const auto near = [&best](std::int64_t height) {
    return static_cast<double>(best.height) <= kAsGood * static_cast<double>(height);
  };
  if (near(bound)) return best;
  Packer packer(problem);
  // Heights between what is found and what is not, each with so little effort that many are tried; then anew with more.
  constexpr std::int64_t kShare = 16;
  for (std::int64_t effort = std::max<std::int64_t>(visits / kShare, 1'500'000);
       packer.visits() < visits && !near(bound); effort *= 2) {
    std::int64_t low = bound;
    std::int64_t tried = bound;
    while (packer.visits() < visits && !near(low)) {
      bool none = false;
      if (std::optional<Packing> found = packer.Within(tried, std::min(effort, visits - packer.visits()), none)) {
        best = *std::move(found);
      } else {
        low = tried + 1;
        if (none) bound = low;
      }
      tried = low + (best.height - low) / 2;
    }
  }
  return best;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/gap_list.h"

#include <algorithm>

namespace millrace {

void GapList::Block::Measure() {
  longest = 0;
  for (std::size_t i = 0; i < count; ++i) longest = std::max(longest, gaps[i].finish - gaps[i].start);
  if (count > 0) last_finish = gaps[count - 1].finish;
}

void GapList::Clear() {
  blocks_.clear();
  end_ = 0;
}

std::size_t GapList::FirstBlockEndingAfter(double time) const {
  const auto block = std::partition_point(blocks_.begin(), blocks_.end(),
                                          [time](const Block& candidate) { return candidate.last_finish <= time; });
  return static_cast<std::size_t>(block - blocks_.begin());
}

double GapList::EarliestFit(double ready, double seconds) const {
  if (ready >= end_) return ready;
  for (std::size_t b = FirstBlockEndingAfter(ready); b < blocks_.size(); ++b) {
    const Block& block = blocks_[b];
    if (block.longest < seconds) continue;
    for (std::size_t i = 0; i < block.count; ++i) {
      const Gap& gap = block.gaps[i];
      if (gap.finish <= ready) continue;
      const double start = std::max(ready, gap.start);
      if (start + seconds <= gap.finish) return start;
    }
  }
  return end_;
}

void GapList::Append(const Gap& gap) {
  if (blocks_.empty() || blocks_.back().count == kMostGaps) blocks_.emplace_back();
  Block& block = blocks_.back();
  block.gaps[block.count++] = gap;
  block.longest = std::max(block.longest, gap.finish - gap.start);
  block.last_finish = gap.finish;
}

void GapList::InsertAfter(std::size_t b, std::size_t at, const Gap& gap) {
  if (blocks_[b].count == kMostGaps) {
    constexpr std::size_t kHalf = kMostGaps / 2;
    Block later;
    std::copy(blocks_[b].gaps.begin() + kHalf, blocks_[b].gaps.end(), later.gaps.begin());
    later.count = kMostGaps - kHalf;
    blocks_[b].count = kHalf;
    blocks_[b].Measure();
    later.Measure();
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(b) + 1, later);
    if (at >= kHalf) {
      ++b;
      at -= kHalf;
    }
  }
  Block& block = blocks_[b];
  const auto begin = block.gaps.begin();
  std::copy_backward(begin + static_cast<std::ptrdiff_t>(at) + 1, begin + static_cast<std::ptrdiff_t>(block.count),
                     begin + static_cast<std::ptrdiff_t>(block.count) + 1);
  block.gaps[at + 1] = gap;
  ++block.count;
  block.Measure();
}

void GapList::Occupy(double start, double finish) {
  if (start >= end_) {
    if (start > end_) Append({end_, start});
    end_ = std::max(end_, finish);
    return;
  }
  for (std::size_t b = FirstBlockEndingAfter(start); b < blocks_.size(); ++b) {
    Block& block = blocks_[b];
    const auto begin = block.gaps.begin();
    const auto last = begin + static_cast<std::ptrdiff_t>(block.count);
    const auto gap = std::find_if(begin, last, [start](const Gap& candidate) { return candidate.finish > start; });
    if (gap == last) continue;
    const Gap before{gap->start, start};
    const Gap after{finish, gap->finish};
    const bool keep_before = before.start < before.finish;
    const bool keep_after = after.start < after.finish;
    if (keep_before && keep_after) {
      *gap = before;
      InsertAfter(b, static_cast<std::size_t>(gap - begin), after);
      return;
    }
    if (keep_before || keep_after) {
      *gap = keep_before ? before : after;
    } else {
      std::copy(gap + 1, last, gap);
      --block.count;
    }
    block.Measure();
    return;
  }
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/memory_planner.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "millrace/random/random.h"
#include "millrace/runtime/aligned_memory.h"

namespace millrace {
namespace {

constexpr double kGoodEnough = 1.01;                // of the least there can be
constexpr std::int64_t kMostLooks = 20'000'000;     // at pairs of buffers, over all rounds of a search
constexpr std::size_t kMostBuffersToSearch = 4096;  // whose pairs are kept in a table
constexpr std::uint64_t kSeed = 1;

bool EndsBefore(const BufferLife& first, const BufferLife& second) {
  for (std::size_t worker = 0; worker < first.dead.size(); ++worker) {
    if (first.dead[worker] > second.born[worker]) return false;
  }
  return true;
}

std::size_t SizeOf(const BufferLife& buffer) { return AlignedSize(std::max<std::size_t>(buffer.bytes, 1)); }

using Order = std::vector<std::uint32_t>;

// Gives places to buffers in one order after another.
class Placer {
 public:
  explicit Placer(const std::vector<BufferLife>& buffers) : buffers_(buffers), offsets_(buffers.size()) {
    sizes_.reserve(buffers.size());
    for (const BufferLife& buffer : buffers) sizes_.push_back(SizeOf(buffer));
    placed_.reserve(buffers.size());
  }

  // So that many orders cost little.
  void RememberPairs() {
    const std::size_t count = buffers_.size();
    together_.resize(count * count);
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < a; ++b)
        together_[a * count + b] = together_[b * count + a] =
            static_cast<char>(InUseTogether(buffers_[a], buffers_[b]));
    }
  }

  // The bytes of the whole block.
  std::size_t Place(const Order& order) {
    placed_.clear();
    std::size_t bytes = 0;
    for (const std::uint32_t buffer : order) {
      std::size_t offset = 0;
      for (const std::uint32_t other : placed_) {
        if (offsets_[other] >= offset + sizes_[buffer]) break;
        const std::size_t end = offsets_[other] + sizes_[other];
        if (end > offset && Together(buffer, other)) offset = end;
      }
      offsets_[buffer] = offset;
      bytes = std::max(bytes, offset + sizes_[buffer]);
      const auto at =
          std::upper_bound(placed_.begin(), placed_.end(), offset,
                           [this](std::size_t wanted, std::uint32_t other) { return wanted < offsets_[other]; });
      placed_.insert(at, buffer);
    }
    return bytes;
  }

  const std::vector<std::size_t>& offsets() const { return offsets_; }  // of the last order
  std::size_t Top(std::uint32_t buffer) const { return offsets_[buffer] + sizes_[buffer]; }
  std::size_t size(std::uint32_t buffer) const { return sizes_[buffer]; }

  // Bytes of those that it may not share with.
  double Crowd(std::uint32_t buffer) const {
    double crowd = 0;
    for (std::uint32_t other = 0; other < sizes_.size(); ++other) {
      if (other != buffer && Together(buffer, other)) crowd += static_cast<double>(sizes_[other]);
    }
    return crowd;
  }

 private:
  bool Together(std::uint32_t a, std::uint32_t b) const {
    return together_.empty() ? InUseTogether(buffers_[a], buffers_[b]) : together_[a * sizes_.size() + b] != 0;
  }

  const std::vector<BufferLife>& buffers_;
  std::vector<std::size_t> sizes_, offsets_;
  std::vector<char> together_;         // by pair; empty: not remembered
  std::vector<std::uint32_t> placed_;  // by offset
};

Order LargestFirst(std::size_t count, const std::function<double(std::uint32_t)>& key) {
  std::vector<double> keys;
  keys.reserve(count);
  for (std::uint32_t buffer = 0; buffer < count; ++buffer) keys.push_back(key(buffer));
  Order order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&keys](std::uint32_t a, std::uint32_t b) { return keys[a] > keys[b]; });
  return order;
}

// Steps of all workers between its first touch and its last.
double LengthOf(const BufferLife& life) {
  double length = 0;
  for (std::size_t worker = 0; worker < life.dead.size(); ++worker)
    length += static_cast<double>(life.dead[worker]) - static_cast<double>(life.born[worker]);
  return life.kept ? std::numeric_limits<double>::infinity() : std::max(1.0, length);
}

// A better order than the one given, where there is one to be found.
void Improve(Placer& placer, std::size_t least, Order& order, std::size_t& bytes) {
  const auto count = static_cast<std::int64_t>(order.size());
  const std::int64_t rounds = kMostLooks / std::max<std::int64_t>(1, count * count);
  Random random(kSeed);
  Order now = order, next;
  std::size_t now_bytes = bytes;
  std::vector<std::size_t> tops;
  for (std::int64_t round = 0; round<rounds&& static_cast<double>(bytes)> kGoodEnough * static_cast<double>(least);
       ++round) {
    if (round == 0 || next == now) {
      placer.Place(now);
      tops.clear();
      for (std::size_t place = 0; place < now.size(); ++place) {
        if (placer.Top(now[place]) == now_bytes) tops.push_back(place);
      }
    }
    const std::size_t from = random.Below(4) == 0 ? random.Below(now.size()) : tops[random.Below(tops.size())];
    const std::size_t to = random.Below(8) == 0 || from == 0 ? random.Below(now.size()) : random.Below(from);
    next = now;
    const auto begin = next.begin();
    const auto at = [begin](std::size_t place) { return begin + static_cast<std::ptrdiff_t>(place); };
    if (to < from) {
      std::rotate(at(to), at(from), at(from + 1));
    } else {
      std::rotate(at(from), at(from + 1), at(to + 1));
    }
    const std::size_t next_bytes = placer.Place(next);
    if (next_bytes > now_bytes) continue;
    now = next;
    now_bytes = next_bytes;
    if (now_bytes < bytes) {
      order = now;
      bytes = now_bytes;
    }
  }
}

}  // namespace

bool InUseTogether(const BufferLife& a, const BufferLife& b) {
  return a.kept || b.kept || !(EndsBefore(a, b) || EndsBefore(b, a));
}

// Lives that overlap in the steps of one worker, or in those of all of them counted together, are not one before the
// other; and where any two of several intervals overlap, all of them share a moment.
std::size_t LeastBytes(const std::vector<BufferLife>& buffers) {
  std::size_t kept = 0;
  std::size_t workers = 0;
  for (const BufferLife& buffer : buffers) {
    if (buffer.kept) kept += SizeOf(buffer);
    workers = std::max(workers, buffer.dead.size());
  }
  std::size_t most = 0;
  std::vector<std::pair<std::uint64_t, std::int64_t>> changes;  // what is freed at a step comes first
  for (std::size_t line = 0; line <= workers; ++line) {
    changes.clear();
    for (const BufferLife& buffer : buffers) {
      if (buffer.kept) continue;
      const auto along = [line, workers](const VectorClock& clock) {
        return line < workers ? std::uint64_t{clock[line]}
                              : std::accumulate(clock.begin(), clock.end(), std::uint64_t{0});
      };
      if (along(buffer.born) >= along(buffer.dead)) continue;
      changes.emplace_back(along(buffer.born), static_cast<std::int64_t>(SizeOf(buffer)));
      changes.emplace_back(along(buffer.dead), -static_cast<std::int64_t>(SizeOf(buffer)));
    }
    std::sort(changes.begin(), changes.end());
    std::int64_t held = 0;
    for (const auto& [step, bytes] : changes) {
      held += bytes;
      most = std::max(most, static_cast<std::size_t>(held));
    }
  }
  return kept + most;
}

MemoryLayout PlanMemory(const std::vector<BufferLife>& buffers) {
  Placer placer(buffers);
  const std::size_t count = buffers.size();
  const auto size = [&placer](std::uint32_t buffer) { return static_cast<double>(placer.size(buffer)); };
  Order best = LargestFirst(count, size);
  MemoryLayout layout;
  layout.bytes = placer.Place(best);
  layout.offsets = placer.offsets();
  const std::size_t least = LeastBytes(buffers);
  const auto good = [&] { return static_cast<double>(layout.bytes) <= kGoodEnough * static_cast<double>(least); };
  if (good() || count > kMostBuffersToSearch) return layout;
  placer.RememberPairs();
  const auto length = [&buffers](std::uint32_t buffer) { return LengthOf(buffers[buffer]); };
  const std::function<double(std::uint32_t)> keys[] = {
      [&](std::uint32_t buffer) { return size(buffer) * length(buffer); }, length,
      [&](std::uint32_t buffer) { return placer.Crowd(buffer); },
      [&](std::uint32_t buffer) { return placer.Crowd(buffer) * size(buffer); }};
  for (const auto& key : keys) {
    Order order = LargestFirst(count, key);
    const std::size_t bytes = placer.Place(order);
    if (bytes >= layout.bytes) continue;
    layout.bytes = bytes;
    best = std::move(order);
  }
  Improve(placer, least, best, layout.bytes);
  layout.bytes = placer.Place(best);
  layout.offsets = placer.offsets();
  return layout;
}

}  // namespace millrace

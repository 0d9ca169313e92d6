// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/priced_bound.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/graph/index.h"
#include "millrace/simulate/bounds.h"

namespace millrace {
namespace {

constexpr double kOpen = std::numeric_limits<double>::infinity();

constexpr std::size_t kPath = 0;  // units follow

// What is looked for.
struct Prices {
  std::vector<double> weights;   // of the path and the units
  std::vector<double> memories;  // seconds per byte
};

// What all groups make of prices, each for itself: the bound, and where that puts time and bytes.
struct Answer {
  double bound = 0;
  std::vector<double> seconds;  // on the path and of the units
  std::vector<double> bytes;    // by memory
};

class Groups {
 public:
  explicit Groups(const CostedGraph& costed)
      : costed_(costed), devices_(Index(costed.num_devices)), seconds_(costed.seconds), bytes_(costed.weight_bytes) {
    ShareColocatedBytes();
    all_bytes_ = std::accumulate(bytes_.begin(), bytes_.end(), 0.0);
    for (std::size_t at = 0; at < seconds_.size(); ++at) {
      if (bytes_[at / devices_] > Capacity(MemoryOf(at % devices_))) seconds_[at] = kOpen;
    }
  }

  bool AllFitAnywhere() const {
    const std::vector<double>& most = costed_.topology.memory_bytes;
    return all_bytes_ <= *std::min_element(most.begin(), most.end());
  }

  // Some group's weights fit nowhere.
  bool Impossible() const {
    for (std::size_t group = 0; group < bytes_.size(); ++group) {
      const double* row = seconds_.data() + group * devices_;
      if (*std::min_element(row, row + devices_) == kOpen) return true;
    }
    return false;
  }

  Answer AnswerTo(const Prices& prices) const {
    std::vector<double> off = UnitWeights(prices), on = off;  // by device: what a second costs off and on the path
    for (double& weight : on) weight += prices.weights[kPath];
    std::vector<double> finish(bytes_.size(), 0.0);
    std::vector<std::int32_t> before(bytes_.size(), kNobody);
    Answer answer{0, std::vector<double>(prices.weights.size(), 0.0), std::vector<double>(prices.memories.size(), 0.0)};
    double aside_together = 0;
    std::int32_t last = costed_.topological_order.front();
    for (const std::int32_t group : costed_.topological_order) {
      double start = 0;
      for (const GroupEdge& edge : costed_.Predecessors(group)) {
        if (finish[Index(edge.group)] <= start) continue;
        start = finish[Index(edge.group)];
        before[Index(group)] = edge.group;
      }
      const double aside = Least(Index(group), off, prices);
      aside_together += aside;
      finish[Index(group)] = start + Least(Index(group), on, prices) - aside;
      if (finish[Index(group)] > finish[Index(last)]) last = group;
    }
    // Sums of many terms are off by a few parts in 1e12, and a bound must not be above the best plan for that.
    constexpr double kOff = 1e-11;
    const double cost = aside_together + finish[Index(last)], worth = Worth(prices);
    answer.bound = cost - worth - kOff * (cost + worth);
    std::vector<char> on_path(bytes_.size(), 0);
    for (; last != kNobody; last = before[Index(last)]) on_path[Index(last)] = 1;
    for (std::size_t group = 0; group < bytes_.size(); ++group)
      Place(group, on_path[group] != 0, on_path[group] != 0 ? on : off, prices, answer);
    return answer;
  }

  // Bytes above the memory's capacity; 0 where it has none.
  double Excess(std::size_t memory, const Answer& answer) const {
    return Capacity(memory) == kOpen ? 0 : answer.bytes[memory] - Capacity(memory);
  }

  double all_bytes() const { return all_bytes_; }

 private:
  static constexpr std::int32_t kNobody = -1;

  std::size_t MemoryOf(std::size_t device) const { return Index(costed_.topology.memory_of[device]); }

  // A plan fits but for rounding (peak_memory.h), so that capacities count a little larger.
  double Capacity(std::size_t memory) const {
    constexpr double kLarger = 1 + 1e-9;
    return costed_.topology.memory_bytes[memory] * kLarger;
  }

  double Worth(const Prices& prices) const {
    double sum = 0;
    for (std::size_t memory = 0; memory < prices.memories.size(); ++memory) {
      if (prices.memories[memory] > 0) sum += prices.memories[memory] * Capacity(memory);
    }
    return sum;
  }

  std::vector<double> UnitWeights(const Prices& prices) const {
    std::vector<double> weights(devices_, 0.0);
    for (int device = 0; device < costed_.num_devices; ++device) {
      for (const std::int32_t unit : costed_.topology.UnitsAt(device))
        weights[Index(device)] += prices.weights[kPath + 1 + Index(unit)];
    }
    return weights;
  }

  double Cost(std::size_t group, std::size_t device, const std::vector<double>& weights, const Prices& prices) const {
    const double seconds = seconds_[group * devices_ + device];
    return seconds == kOpen ? kOpen : weights[device] * seconds + prices.memories[MemoryOf(device)] * bytes_[group];
  }

  double Least(std::size_t group, const std::vector<double>& weights, const Prices& prices) const {
    double least = kOpen;
    for (std::size_t device = 0; device < devices_; ++device)
      least = std::min(least, Cost(group, device, weights, prices));
    return least;
  }

  // Adds the group to the devices where it costs least, in equal parts, so that like devices keep like prices.
  void Place(std::size_t group, bool on_path, const std::vector<double>& weights, const Prices& prices,
             Answer& answer) const {
    const double least = Least(group, weights, prices);
    int many = 0;
    for (std::size_t device = 0; device < devices_; ++device)
      many += Cost(group, device, weights, prices) == least ? 1 : 0;
    for (std::size_t device = 0; device < devices_; ++device) {
      if (Cost(group, device, weights, prices) != least) continue;
      const double seconds = seconds_[group * devices_ + device] / many;
      answer.bytes[MemoryOf(device)] += bytes_[group] / many;
      if (on_path) answer.seconds[kPath] += seconds;
      for (const std::int32_t unit : costed_.topology.UnitsAt(static_cast<int>(device)))
        answer.seconds[kPath + 1 + Index(unit)] += seconds;
    }
  }

  // A colocation's bytes lie where its groups run, so they may count at any of them: by their least seconds, which puts
  // them on a path that has the work.
  void ShareColocatedBytes() {
    std::vector<double> bytes(Index(costed_.num_colocations), 0.0), seconds = bytes;
    for (std::size_t group = 0; group < bytes_.size(); ++group) {
      if (costed_.colocation[group] < 0) continue;
      bytes[Index(costed_.colocation[group])] += bytes_[group];
      seconds[Index(costed_.colocation[group])] += costed_.fastest_seconds[group];
    }
    for (std::size_t group = 0; group < bytes_.size(); ++group) {
      if (costed_.colocation[group] < 0) continue;
      const auto colocation = Index(costed_.colocation[group]);
      if (seconds[colocation] > 0)
        bytes_[group] = bytes[colocation] * (costed_.fastest_seconds[group] / seconds[colocation]);
    }
  }

  const CostedGraph& costed_;
  std::size_t devices_;
  std::vector<double> seconds_;  // by group * devices + device; infinity: not there, or its weights do not fit
  std::vector<double> bytes_;    // by group
  double all_bytes_ = 0;
};

// The nearest weights that are none below 0 and 1 together. Held, Wolfe and Crowder, "Validation of subgradient
// optimization", 1974.
void MakeWeights(std::vector<double>& weights) {
  std::vector<double> falling = weights;
  std::sort(falling.begin(), falling.end(), std::greater<>());
  double sum = 0, less = 0;
  for (std::size_t i = 0; i < falling.size(); ++i) {
    sum += falling[i];
    const double each = (sum - 1) / static_cast<double>(i + 1);
    if (falling[i] > each) less = each;
  }
  for (double& weight : weights) weight = std::max(0.0, weight - less);
}

// Steps uphill, as long as the hoped-for bound is far, along the sum of the slopes met so far, old ones counting less.
class Ascent {
 public:
  // `known`: a bound that holds already, which says how large steps may be.
  Ascent(const Groups& groups, std::vector<double> weights, std::size_t memories, double known)
      : groups_(&groups),
        known_(known),
        prices_{std::move(weights), std::vector<double>(memories, 0.0)},
        best_prices_(prices_) {
    Forget();
  }

  double best() const { return best_; }

  // Prices of memories alone, or weights as well.
  void Climb(std::int64_t rounds, bool weights) {
    hope_ = 1;
    for (std::int64_t round = 0; round < rounds; ++round) Step(weights);
    prices_ = best_prices_;
    Forget();
  }

 private:
  void Forget() {
    along_.weights.assign(prices_.weights.size(), 0.0);
    along_.memories.assign(prices_.memories.size(), 0.0);
  }

  void Step(bool weights) {
    const Answer answer = groups_->AnswerTo(prices_);
    constexpr double kGain = 1e-2;
    waited_ = answer.bound > best_ + kGain * hope_ * std::max(known_, best_) ? 0 : waited_ + 1;
    if (answer.bound > best_) {
      best_ = answer.bound;
      best_prices_ = prices_;
    }
    constexpr int kPatience = 3;
    if (waited_ == kPatience) {
      HopeForLess();
      return;
    }
    // Prices of memory in shares of the bound per share of all bytes, so that their slopes are seconds, too.
    const double known = std::max(known_, best_);
    const double unit = known / groups_->all_bytes();
    const double square = Slope(answer, unit, weights);
    if (!(square > 0)) return;
    const double step = (known * (1 + hope_) - answer.bound) / square;
    for (std::size_t i = 0; i < prices_.weights.size(); ++i) prices_.weights[i] += step * along_.weights[i];
    if (weights) MakeWeights(prices_.weights);
    for (std::size_t i = 0; i < prices_.memories.size(); ++i)
      prices_.memories[i] = std::max(0.0, prices_.memories[i] + step * along_.memories[i] * unit);
  }

  void HopeForLess() {
    constexpr double kLess = 0.7;
    constexpr double kLeast = 1e-4, kAgain = 0.3;
    hope_ *= kLess;
    if (hope_ < kLeast) hope_ = kAgain;
    waited_ = 0;
    prices_ = best_prices_;
    Forget();
  }

  // Seconds, but for the constant that all weights may lose together. Returns the square of its length.
  double Slope(const Answer& answer, double unit, bool weights) {
    constexpr double kOld = 0.7;
    double mean = 0, square = 0;
    for (const double seconds : answer.seconds) mean += seconds / static_cast<double>(answer.seconds.size());
    for (std::size_t i = 0; weights && i < answer.seconds.size(); ++i) {
      along_.weights[i] = kOld * along_.weights[i] + answer.seconds[i] - mean;
      square += along_.weights[i] * along_.weights[i];
    }
    for (std::size_t memory = 0; memory < answer.bytes.size(); ++memory) {
      const double excess = groups_->Excess(memory, answer) * unit;
      along_.memories[memory] =
          kOld * along_.memories[memory] + (excess > 0 || prices_.memories[memory] > 0 ? excess : 0);
      square += along_.memories[memory] * along_.memories[memory];
    }
    return square;
  }

  const Groups* groups_;
  double known_;
  Prices prices_, best_prices_, along_;
  double best_ = -kOpen;
  double hope_ = 1;  // the largest bound is thought to be this share above the best
  int waited_ = 0;
};

bool Alike(const CostedGraph& costed, int a, int b) {
  const std::vector<std::int32_t>& memory_of = costed.topology.memory_of;
  const std::vector<double>& capacity = costed.topology.memory_bytes;
  if (costed.topology.UnitsOf(a) != costed.topology.UnitsOf(b) ||
      capacity[Index(memory_of[Index(a)])] != capacity[Index(memory_of[Index(b)])])
    return false;
  for (int group = 0; group < costed.num_groups; ++group) {
    if (costed.Seconds(group, a) != costed.Seconds(group, b)) return false;
  }
  return true;
}

// Where the ascent may begin: the path, and the units of each kind of device. From elsewhere the way to the best is a
// ridge: prices of memory must rise while the weight of a fast device falls.
std::vector<std::vector<double>> FirstWeights(const CostedGraph& costed) {
  constexpr std::size_t kMost = 8;
  const std::vector<double> none(kPath + 1 + Index(costed.topology.num_units), 0.0);
  std::vector<std::vector<double>> all(1, none);
  all[0][kPath] = 1;
  std::vector<int> kinds;  // the first device of each, whose weights are one further on
  for (int device = 0; device < costed.num_devices; ++device) {
    auto kind = std::find_if(kinds.begin(), kinds.end(), [&](int first) { return Alike(costed, first, device); });
    if (kind == kinds.end()) {
      if (all.size() == kMost) continue;
      kind = kinds.insert(kind, device);
      all.push_back(none);
    }
    for (const std::int32_t unit : costed.topology.UnitsAt(device))
      all[Index(kind - kinds.begin()) + 1][kPath + 1 + Index(unit)] = 1;
  }
  for (std::vector<double>& weights : all) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& weight : weights) weight /= sum;
  }
  return all;
}

}  // namespace

double PricedBound(const CostedGraph& costed) {
  constexpr std::int64_t kMostLooks = 20'000'000;  // at groups x devices
  constexpr std::int64_t kMostRounds = 300;
  if (costed.num_groups == 0 || !costed.limited_memory) return 0;
  const Groups groups(costed);
  if (groups.AllFitAnywhere() || groups.Impossible()) return 0;
  const double known = LowerBound(costed);
  const std::int64_t rounds = std::min(kMostRounds, kMostLooks / static_cast<std::int64_t>(costed.seconds.size()));
  const std::vector<std::vector<double>> starts = FirstWeights(costed);
  std::optional<Ascent> best;
  for (const std::vector<double>& weights : starts) {
    Ascent ascent(groups, weights, Index(costed.topology.num_memories), known);
    ascent.Climb(rounds / 2 / static_cast<std::int64_t>(starts.size()), false);
    if (!best || ascent.best() > best->best()) best = std::move(ascent);
  }
  best->Climb(rounds / 2, true);
  return std::max(0.0, best->best());
}

}  // namespace millrace

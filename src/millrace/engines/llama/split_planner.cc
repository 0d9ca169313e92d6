// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/llama/split_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>

#include "millrace/engines/llama/tensor_split.h"
#include "millrace/errors/errors.h"

namespace millrace {
namespace {

// A way to place the first parts: what it adds whatever follows, what the slowest stage decides, how it came about.
struct Partial {
  double sum = 0;
  double slowest = 0;
  int host = -1;
  int begin = 0;
  std::int32_t before = -1;  // its predecessor's place in the front it came from
};

using Front = std::vector<Partial>;  // none beats another in both: sums rise, slowest stages get faster

void Keep(Front& front, const Partial& partial) {
  auto at = std::upper_bound(front.begin(), front.end(), partial.sum,
                             [](double sum, const Partial& other) { return sum < other.sum; });
  if (at != front.begin()) {
    const Partial& before = *std::prev(at);
    if (before.slowest <= partial.slowest) return;
    if (before.sum == partial.sum) --at;
  }
  const auto beaten =
      std::find_if(at, front.end(), [&partial](const Partial& other) { return other.slowest < partial.slowest; });
  if (beaten == at) {
    front.insert(at, partial);
  } else {
    *at = partial;
    front.erase(std::next(at), beaten);
  }
}

class Search {
 public:
  explicit Search(const SplitProblem& problem)
      : problem_(problem),
        parts_(static_cast<int>(problem.parts.size())),
        hosts_(static_cast<int>(problem.hosts.size())),
        fronts_((std::size_t{1} << problem.hosts.size()) * (problem.parts.size() + 1)) {
    bytes_.push_back(0);
    decode_.push_back(0);
    flops_.push_back(0);
    for (const SplitPart& part : problem.parts) {
      bytes_.push_back(bytes_.back() + part.memory_bytes);
      decode_.push_back(decode_.back() + part.decode_bytes);
      flops_.push_back(flops_.back() + part.prefill_flops);
    }
  }

  std::vector<PlannedSplit> Run() {
    At(0, 0).push_back({});
    const std::size_t sets = std::size_t{1} << hosts_;
    for (std::size_t set = 0; set < sets; ++set) {
      for (int begin = 0; begin < parts_; ++begin) Extend(set, begin);
    }
    std::vector<PlannedSplit> best;
    for (std::size_t set = 1; set < sets; ++set) {
      const Front& front = At(set, parts_);
      if (front.empty()) continue;
      std::size_t least = 0;
      for (std::size_t i = 1; i < front.size(); ++i) {
        if (front[i].sum + front[i].slowest < front[least].sum + front[least].slowest) least = i;
      }
      PlannedSplit planned;
      planned.split = SplitOf(set, least);
      planned.times = TimesOf(problem_, planned.split);
      best.push_back(std::move(planned));
    }
    std::stable_sort(best.begin(), best.end(), [](const PlannedSplit& a, const PlannedSplit& b) {
      return std::pair(a.times.request, a.split.size()) < std::pair(b.times.request, b.split.size());
    });
    return best;
  }

 private:
  Front& At(std::size_t set, int parts) {
    return fronts_[set * (static_cast<std::size_t>(parts_) + 1) + static_cast<std::size_t>(parts)];
  }

  // Another host takes the parts from `begin` on, one more at a time until they do not fit.
  void Extend(std::size_t set, int begin) {
    const Front& from = At(set, begin);
    if (from.empty()) return;
    for (int host = 0; host < hosts_; ++host) {
      const std::size_t bit = std::size_t{1} << host;
      if ((set & bit) != 0) continue;
      for (int end = begin + 1; end <= parts_; ++end) {
        const SplitStage stage{host, begin, end};
        if (!Holds(stage)) break;
        const auto [sum, slowest] = CostOf(stage);
        Front& to = At(set | bit, end);
        for (std::size_t i = 0; i < from.size(); ++i) {
          if (i > 0 && from[i - 1].slowest <= slowest) break;  // the rest are slower and gain nothing here
          Keep(to, {from[i].sum + sum, std::max(from[i].slowest, slowest), host, begin, static_cast<std::int32_t>(i)});
        }
      }
    }
  }

  bool Holds(const SplitStage& stage) const {
    const auto of = [&stage](const std::vector<double>& sums) {
      return sums[static_cast<std::size_t>(stage.end)] - sums[static_cast<std::size_t>(stage.begin)];
    };
    // The sums' rounding must not decide: near the limit the parts are added up one by one.
    const double limit = problem_.hosts[static_cast<std::size_t>(stage.host)].memory_bytes;
    const double held = problem_.working_bytes + of(bytes_);
    constexpr double kNear = 1e-9;
    if (held < limit * (1 - kNear)) return true;
    if (held > limit * (1 + kNear)) return false;
    return StageBytes(problem_, stage) <= limit;
  }

  std::pair<double, double> CostOf(const SplitStage& stage) const {
    double sum = problem_.generated_tokens > 0 ? problem_.generated_tokens * DecodeSecondsOf(stage) : 0;
    double slowest = 0;
    if (problem_.micro_batches > 0) {
      const double prefill = PrefillSecondsOf(stage);
      sum += problem_.pipelined ? prefill : problem_.micro_batches * prefill;
      if (problem_.pipelined) slowest = (problem_.micro_batches - 1) * prefill;
    }
    return {sum, slowest};
  }

  // As DecodeSeconds and PrefillSeconds, by differences of sums.
  double DecodeSecondsOf(const SplitStage& stage) const { return Rest(stage, true) + Work(stage, decode_, true); }
  double PrefillSecondsOf(const SplitStage& stage) const { return Rest(stage, false) + Work(stage, flops_, false); }

  double Work(const SplitStage& stage, const std::vector<double>& sums, bool decode) const {
    const SplitHost& host = problem_.hosts[static_cast<std::size_t>(stage.host)];
    return (decode ? host.seconds_per_byte : host.seconds_per_flop) *
           (sums[static_cast<std::size_t>(stage.end)] - sums[static_cast<std::size_t>(stage.begin)]);
  }

  // The hand-over alone: that of a stage without parts in the same place.
  double Rest(const SplitStage& stage, bool decode) const {
    const SplitStage none{stage.host, stage.end, stage.end};
    return decode ? DecodeSeconds(problem_, none) : PrefillSeconds(problem_, none);
  }

  LayerSplit SplitOf(std::size_t set, std::size_t place) {
    LayerSplit split;
    int end = parts_;
    while (end > 0) {
      const Partial& partial = At(set, end)[place];
      split.push_back({partial.host, partial.begin, end});
      set ^= std::size_t{1} << partial.host;
      end = partial.begin;
      place = static_cast<std::size_t>(partial.before);
    }
    std::reverse(split.begin(), split.end());
    return split;
  }

  const SplitProblem& problem_;
  int parts_, hosts_;
  std::vector<double> bytes_, decode_, flops_;  // of the first so many parts
  std::vector<Front> fronts_;                   // by set of hosts and number of parts taken
};

}  // namespace

std::vector<PlannedSplit> BestSplits(const SplitProblem& problem) {
  if (problem.hosts.size() > static_cast<std::size_t>(kMostSplitHosts)) {
    throw InvalidInput(fmt::format("{} hosts are more than can be planned for exactly; give at most {}",
                                   problem.hosts.size(), kMostSplitHosts));
  }
  return Search(problem).Run();
}

std::vector<LayerSplit> NeighboursOf(const SplitProblem& problem, const LayerSplit& split) {
  std::vector<LayerSplit> neighbours;
  const auto offer = [&](LayerSplit changed) {
    if (Fits(problem, changed)) neighbours.push_back(std::move(changed));
  };
  for (std::size_t i = 0; i + 1 < split.size(); ++i) {
    for (const int step : {-1, 1}) {
      LayerSplit moved = split;
      moved[i].end += step;
      moved[i + 1].begin += step;
      if (moved[i].begin < moved[i].end && moved[i + 1].begin < moved[i + 1].end) offer(std::move(moved));
    }
    LayerSplit exchanged = split;
    std::swap(exchanged[i].host, exchanged[i + 1].host);
    const int boundary = split[i].begin + split[i + 1].end - split[i + 1].begin;
    exchanged[i].end = exchanged[i + 1].begin = boundary;
    offer(std::move(exchanged));
  }
  return neighbours;
}

LayerSplit ProportionalSplit(const SplitProblem& problem, const std::vector<double>& weights) {
  std::vector<float> shares;
  shares.reserve(weights.size());
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (const double weight : weights) shares.push_back(static_cast<float>(all > 0 ? weight / all : 1));
  const std::vector<int> counts = PartsPerDevice(shares, static_cast<int>(problem.parts.size()));
  LayerSplit split;
  int begin = 0;
  for (std::size_t host = 0; host < counts.size(); ++host) {
    if (counts[host] > 0) split.push_back({static_cast<int>(host), begin, begin + counts[host]});
    begin += counts[host];
  }
  return split;
}

}  // namespace millrace

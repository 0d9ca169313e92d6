// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/energy_bound.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "millrace/graph/index.h"

namespace millrace {
namespace {

constexpr double kNowhere = std::numeric_limits<double>::infinity();

class Windows {
 public:
  Windows(const CostedGraph& costed, const PathBounds& paths) : units_(costed.topology.num_units) {
    const auto devices = Index(costed.num_devices);
    for (std::size_t group = 0; group < Index(costed.num_groups); ++group) {
      ways_of_.push_back(ways_.size());
      double head = kNowhere;
      double tail = kNowhere;
      for (std::size_t device = 0; device < devices; ++device) {
        const std::size_t at = group * devices + device;
        if (costed.seconds[at] == kCannotRun || paths.head[at] == kNowhere || paths.tail[at] == kNowhere) continue;
        const Way way{paths.head[at], costed.seconds[at], paths.tail[at],
                      static_cast<double>(costed.topology.UnitsOf(static_cast<int>(device)))};
        head = std::min(head, way.head);
        tail = std::min(tail, way.tail);
        const auto same = [&way](const Way& other) { return way.Numbers() == other.Numbers(); };
        if (std::none_of(ways_.begin() + static_cast<std::ptrdiff_t>(ways_of_.back()), ways_.end(), same))
          ways_.push_back(way);
      }
      begins_.push_back(head);
      tails_.push_back(tail);
    }
    ways_of_.push_back(ways_.size());
    Thin(begins_);
    Thin(tails_);
  }

  // Is there a window with too much to do in a plan of so many seconds?
  bool TooMuch(double seconds) const {
    for (const double begin : begins_) {
      for (const double tail : tails_) {
        const double end = seconds - tail;
        if (end > begin && NeededWithin(begin, end, seconds) > units_ * (end - begin) * (1 + kRounding)) return true;
      }
    }
    return false;
  }

 private:
  static constexpr double kRounding = 1e-9;

  // A group on a device, and on all devices like it.
  struct Way {
    double head = 0;
    double seconds = 0;
    double tail = 0;
    double units = 0;
    std::tuple<double, double, double, double> Numbers() const { return {head, seconds, tail, units}; }
  };

  // Ascending and different; at most so many that a look at all windows takes a tenth of a second or so.
  void Thin(std::vector<double>& times) const {
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    constexpr double kMostLooks = 2e6;
    const auto most = static_cast<std::size_t>(
        std::max(4.0, std::sqrt(kMostLooks / std::max(1.0, static_cast<double>(ways_.size())))));
    if (times.size() <= most) return;
    std::vector<double> kept;
    for (std::size_t i = 0; i < most; ++i) kept.push_back(times[i * times.size() / most]);
    times = std::move(kept);
  }

  double NeededWithin(double begin, double end, double seconds) const {
    double needed = 0;
    for (std::size_t group = 0; group + 1 < ways_of_.size(); ++group) {
      double least = kNowhere;
      for (std::size_t at = ways_of_[group]; at < ways_of_[group + 1]; ++at) {
        const Way& way = ways_[at];
        const double earliest_finish = way.head + way.seconds;
        const double latest_start = seconds - way.tail - way.seconds;
        if (latest_start < way.head) continue;  // not there in a plan so short
        const double inside = std::min({way.seconds, end - begin, earliest_finish - begin, end - latest_start});
        least = std::min(least, std::max(0.0, inside) * way.units);
      }
      if (least == kNowhere) return kNowhere;
      needed += least;
    }
    return needed;
  }

  double units_;
  std::vector<Way> ways_;
  std::vector<std::size_t> ways_of_;  // by group: its first way
  std::vector<double> begins_;        // of windows
  std::vector<double> tails_;         // a window ends so long before the plan does
};

}  // namespace

double EnergyBound(const CostedGraph& costed, const PathBounds& paths, double known) {
  if (costed.num_groups == 0 || !(known > 0)) return known;
  const Windows windows(costed, paths);
  constexpr double kFirstStep = 1e-6;  // of the bound: less is not worth the search
  if (!windows.TooMuch(known * (1 + kFirstStep))) return known;
  double too_little = known * (1 + kFirstStep);
  double step = 0.01 * known;
  constexpr int kMostSteps = 40;
  for (int i = 0; i < kMostSteps && windows.TooMuch(too_little + step); ++i) {
    too_little += step;
    step *= 2;
  }
  constexpr int kHalvings = 16;
  for (int i = 0; i < kHalvings; ++i) {
    step /= 2;
    if (windows.TooMuch(too_little + step)) too_little += step;
  }
  return too_little;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/narrowed.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "millrace/graph/index.h"

namespace millrace {
namespace {

constexpr double kClosed = std::numeric_limits<double>::infinity();

void SetApart(ApartGroups& apart, int groups, int a, int b) {
  apart.resize(Index(groups) * Index(groups), 0);
  apart[Index(a) * Index(groups) + Index(b)] = apart[Index(b) * Index(groups) + Index(a)] = 1;
}

void SetTied(CostedGraph& costed, int a, int b) {
  std::vector<std::int32_t>& colocation = costed.colocation;
  if (colocation[Index(a)] < 0) colocation[Index(a)] = costed.num_colocations++;
  const std::int32_t kept = colocation[Index(a)];
  const std::int32_t other = colocation[Index(b)];
  colocation[Index(b)] = kept;
  if (other >= 0) std::replace(colocation.begin(), colocation.end(), other, kept);
}

class Narrowing {
 public:
  Narrowing(CostedGraph costed, double limit, ApartGroups apart) : limit_(limit) {
    narrowed_.costed = std::move(costed);
    narrowed_.apart = std::move(apart);
  }

  Narrowed Run() {
    bool changed = true;
    while (changed && narrowed_.possible) {
      narrowed_.paths = MakePathBounds(narrowed_.costed, narrowed_.apart);
      changed = CloseDevices();
      changed = TieGroups() || changed;
      changed = CloseToTied() || changed;
      changed = PartGroups() || changed;
      narrowed_.possible = narrowed_.possible && EveryGroupCanRun();
    }
    return std::move(narrowed_);
  }

 private:
  double& Seconds(int group, int device) {
    return narrowed_.costed.seconds[Index(group) * Index(narrowed_.costed.num_devices) + Index(device)];
  }
  double Head(int group, int device) const { return narrowed_.paths.head[At(group, device)]; }
  double Tail(int group, int device) const { return narrowed_.paths.tail[At(group, device)]; }
  std::size_t At(int group, int device) const {
    return Index(group) * Index(narrowed_.costed.num_devices) + Index(device);
  }

  bool CloseDevices() {
    bool changed = false;
    for (int group = 0; group < narrowed_.costed.num_groups; ++group) {
      for (int device = 0; device < narrowed_.costed.num_devices; ++device) {
        double& seconds = Seconds(group, device);
        if (seconds == kClosed || Head(group, device) + seconds + Tail(group, device) < limit_) continue;
        seconds = kClosed;
        changed = true;
      }
    }
    return changed;
  }

  bool MayPart(int from, const GroupEdge& edge) {
    for (int a = 0; a < narrowed_.costed.num_devices; ++a) {
      const double finish = Seconds(from, a) == kClosed ? kClosed : Head(from, a) + Seconds(from, a);
      if (!(finish < limit_)) continue;
      for (int b = 0; b < narrowed_.costed.num_devices; ++b) {
        if (a == b || Seconds(edge.group, b) == kClosed) continue;
        const double start = std::max(finish + narrowed_.costed.TransferSeconds(edge.bytes, a, b), Head(edge.group, b));
        if (start + Seconds(edge.group, b) + Tail(edge.group, b) < limit_) return true;
      }
    }
    return false;
  }

  bool TieGroups() {
    bool changed = false;
    for (int group = 0; group < narrowed_.costed.num_groups; ++group) {
      for (const GroupEdge& edge : narrowed_.costed.Successors(group)) {
        const std::int32_t own = narrowed_.costed.colocation[Index(group)];
        if ((own >= 0 && own == narrowed_.costed.colocation[Index(edge.group)]) || Apart(group, edge.group) ||
            MayPart(group, edge))
          continue;
        SetTied(narrowed_.costed, group, edge.group);
        changed = true;
      }
    }
    return changed;
  }

  bool Apart(int a, int b) const {
    return !narrowed_.apart.empty() && narrowed_.apart[Index(a) * Index(narrowed_.costed.num_groups) + Index(b)] != 0;
  }

  // Those tied to the group, and itself.
  void AddTied(int group, std::vector<int>& tied) const {
    const std::vector<std::int32_t>& colocation = narrowed_.costed.colocation;
    for (int other = 0; other < narrowed_.costed.num_groups; ++other) {
      if (other == group || (colocation[Index(group)] >= 0 && colocation[Index(other)] == colocation[Index(group)]))
        tied.push_back(other);
    }
  }

  // Groups joined by a transfer that cannot share a device, nor those tied to them.
  bool PartGroups() {
    bool changed = false;
    std::vector<int> both, own, theirs;
    for (int group = 0; group < narrowed_.costed.num_groups; ++group) {
      for (const GroupEdge& edge : narrowed_.costed.Successors(group)) {
        const std::int32_t colocation = narrowed_.costed.colocation[Index(group)];
        const bool tied = colocation >= 0 && colocation == narrowed_.costed.colocation[Index(edge.group)];
        if (Apart(group, edge.group)) {
          if (tied) narrowed_.possible = false;
          continue;
        }
        if (tied) continue;
        own.clear();
        theirs.clear();
        AddTied(group, own);
        AddTied(edge.group, theirs);
        both = own;
        both.insert(both.end(), theirs.begin(), theirs.end());
        bool may_share = true;
        for (const int a : own) {
          for (const int b : theirs) may_share = may_share && !Apart(a, b);
        }
        bool on_some = false;
        for (int device = 0; may_share && !on_some && device < narrowed_.costed.num_devices; ++device)
          on_some = TogetherInTime(both, device);
        if (may_share && on_some) continue;
        SetApart(narrowed_.apart, narrowed_.costed.num_groups, group, edge.group);
        changed = true;
      }
    }
    return changed;
  }

  // A device closed to one group is closed to those tied to it, and to all of them where together they take too long.
  bool CloseToTied() {
    bool changed = false;
    std::vector<int> tied;
    for (std::int32_t colocation = 0; colocation < narrowed_.costed.num_colocations; ++colocation) {
      tied.clear();
      for (int group = 0; group < narrowed_.costed.num_groups; ++group) {
        if (narrowed_.costed.colocation[Index(group)] == colocation) tied.push_back(group);
      }
      for (int device = 0; device < narrowed_.costed.num_devices; ++device) {
        if (TogetherInTime(tied, device)) continue;
        for (const int group : tied) {
          changed = changed || Seconds(group, device) != kClosed;
          Seconds(group, device) = kClosed;
        }
      }
    }
    return changed;
  }

  // Can these groups, one after the other on the device, end below the limit? By heads, then by tails.
  bool TogetherInTime(std::vector<int>& tied, int device) {
    for (const int group : tied) {
      if (Seconds(group, device) == kClosed) return false;
    }
    const auto ends = [&](const std::vector<double>& first, const std::vector<double>& last) {
      std::sort(tied.begin(), tied.end(), [&](int a, int b) { return first[At(a, device)] < first[At(b, device)]; });
      for (std::size_t begin = 0; begin < tied.size(); ++begin) {
        double end = first[At(tied[begin], device)];
        double least = kClosed;
        for (std::size_t i = begin; i < tied.size(); ++i) {
          end += Seconds(tied[i], device);
          least = std::min(least, last[At(tied[i], device)]);
        }
        if (end + least >= limit_) return false;
      }
      return true;
    };
    return ends(narrowed_.paths.head, narrowed_.paths.tail) && ends(narrowed_.paths.tail, narrowed_.paths.head);
  }

  bool EveryGroupCanRun() {
    for (int group = 0; group < narrowed_.costed.num_groups; ++group) {
      bool can = false;
      for (int device = 0; device < narrowed_.costed.num_devices; ++device)
        can = can || Seconds(group, device) != kClosed;
      if (!can) return false;
    }
    return true;
  }

  Narrowed narrowed_;
  double limit_;
};

}  // namespace

Narrowed NarrowBelow(CostedGraph costed, double limit, ApartGroups apart) {
  return Narrowing(std::move(costed), limit, std::move(apart)).Run();
}

Narrowed NarrowTied(const Narrowed& narrowed, double limit, int a, int b) {
  CostedGraph costed = narrowed.costed;
  SetTied(costed, a, b);
  return NarrowBelow(std::move(costed), limit, narrowed.apart);
}

Narrowed NarrowApart(const Narrowed& narrowed, double limit, int a, int b) {
  ApartGroups apart = narrowed.apart;
  SetApart(apart, narrowed.costed.num_groups, a, b);
  return NarrowBelow(narrowed.costed, limit, std::move(apart));
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/peak_memory.h"

#include <algorithm>
#include <limits>

namespace millrace {
namespace {

struct Change {
  double time;
  double bytes;  // < 0: freed
};

class Ledger {
 public:
  explicit Ledger(int memories)
      : changes_(static_cast<std::size_t>(memories)), always_(static_cast<std::size_t>(memories)) {}

  void Hold(int memory, double from, double to, double bytes) {
    if (!(from < to) || bytes == 0) return;
    changes_[static_cast<std::size_t>(memory)].push_back({from, bytes});
    changes_[static_cast<std::size_t>(memory)].push_back({to, -bytes});
  }

  void HoldAlways(int memory, double bytes) { always_[static_cast<std::size_t>(memory)] += bytes; }

  double Peak(int memory) {
    double peak = always_[static_cast<std::size_t>(memory)];
    Walk(memory, [&peak](double, double held) { peak = std::max(peak, held); });
    return peak;
  }

  MemoryUse Use(int memory) {
    MemoryUse use{{0}, {always_[static_cast<std::size_t>(memory)]}};
    Walk(memory, [&use](double time, double held) {
      if (time > use.times.back()) {
        use.times.push_back(time);
        use.bytes.push_back(held);
      } else {
        use.bytes.back() = held;
      }
    });
    return use;
  }

 private:
  // Calls with every change's time and what is held from then on.
  template <typename Step>
  void Walk(int memory, const Step& step) {
    std::vector<Change>& changes = changes_[static_cast<std::size_t>(memory)];
    std::sort(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.time != b.time ? a.time < b.time : a.bytes < b.bytes; });
    // Wider than double, so that what rounding leaves behind does not add up over many changes.
    long double held = always_[static_cast<std::size_t>(memory)];
    for (const Change& change : changes) {
      held += change.bytes;
      step(change.time, static_cast<double>(held));
    }
  }

  std::vector<std::vector<Change>> changes_;
  std::vector<double> always_;
};

Ledger LedgerOf(const CostedGraph& costed, const Assignment& assignment, const Timeline& timeline) {
  const Topology& topology = costed.topology;
  const auto memory_of_group = [&](int group) {
    return topology.memory_of[static_cast<std::size_t>(assignment.placement[static_cast<std::size_t>(group)])];
  };
  Ledger ledger(topology.num_memories);
  for (int group = 0; group < costed.num_groups; ++group)
    ledger.HoldAlways(memory_of_group(group), costed.weight_bytes[static_cast<std::size_t>(group)]);
  constexpr double kNever = -1;
  std::vector<double> last_reader(static_cast<std::size_t>(topology.num_memories), kNever);
  for (const GroupTensor& tensor : costed.tensors) {
    std::fill(last_reader.begin(), last_reader.end(), kNever);
    for (const std::int32_t reader : costed.Readers(tensor)) {
      double& last = last_reader[static_cast<std::size_t>(memory_of_group(reader))];
      last = std::max(last, timeline.finish[static_cast<std::size_t>(reader)]);
    }
    const bool input = tensor.producer < 0;
    const double made = input ? 0.0 : timeline.finish[static_cast<std::size_t>(tensor.producer)];
    const int home = input ? -1 : memory_of_group(tensor.producer);
    if (!input) {
      const double start = timeline.start[static_cast<std::size_t>(tensor.producer)];
      const double end =
          tensor.output ? timeline.makespan : std::max(made, last_reader[static_cast<std::size_t>(home)]);
      ledger.Hold(home, start, end, tensor.bytes);
    }
    for (int memory = 0; memory < topology.num_memories; ++memory) {
      if (memory == home || last_reader[static_cast<std::size_t>(memory)] == kNever) continue;
      ledger.Hold(memory, made, last_reader[static_cast<std::size_t>(memory)], tensor.bytes);
    }
  }
  return ledger;
}

}  // namespace

std::vector<double> PeakMemory(const CostedGraph& costed, const Assignment& assignment, const Timeline& timeline) {
  Ledger ledger = LedgerOf(costed, assignment, timeline);
  std::vector<double> peaks;
  for (int memory = 0; memory < costed.topology.num_memories; ++memory) peaks.push_back(ledger.Peak(memory));
  return peaks;
}

std::vector<MemoryUse> MemoryOverTime(const CostedGraph& costed, const Assignment& assignment,
                                      const Timeline& timeline) {
  Ledger ledger = LedgerOf(costed, assignment, timeline);
  std::vector<MemoryUse> uses;
  for (int memory = 0; memory < costed.topology.num_memories; ++memory) uses.push_back(ledger.Use(memory));
  return uses;
}

bool Fits(const CostedGraph& costed, const std::vector<double>& peaks) {
  // A sum of fractions of bytes is known to rounding only.
  constexpr double kRounding = 1 + 1e-12;
  for (std::size_t memory = 0; memory < peaks.size(); ++memory) {
    if (peaks[memory] > costed.topology.memory_bytes[memory] * kRounding) return false;
  }
  return true;
}

bool FitsInMemory(const CostedGraph& costed, const Assignment& assignment) {
  if (!costed.limited_memory) return true;
  return Fits(costed, PeakMemory(costed, assignment, MakeTimeline(costed, assignment)));
}

}  // namespace millrace

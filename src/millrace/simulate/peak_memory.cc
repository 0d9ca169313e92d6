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
  explicit Ledger(int memories) : changes_(static_cast<std::size_t>(memories)) {}

  void Hold(int memory, double from, double to, double bytes) {
    if (!(from < to) || bytes == 0) return;
    changes_[static_cast<std::size_t>(memory)].push_back({from, bytes});
    changes_[static_cast<std::size_t>(memory)].push_back({to, -bytes});
  }

  double Peak(int memory, double always) {
    std::vector<Change>& changes = changes_[static_cast<std::size_t>(memory)];
    std::sort(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.time != b.time ? a.time < b.time : a.bytes < b.bytes; });
    // Wider than double, so that what rounding leaves behind does not add up over many changes.
    long double held = always;
    double peak = always;
    for (const Change& change : changes) {
      held += change.bytes;
      peak = std::max(peak, static_cast<double>(held));
    }
    return peak;
  }

 private:
  std::vector<std::vector<Change>> changes_;
};

}  // namespace

std::vector<double> PeakMemory(const CostedGraph& costed, const Assignment& assignment, const Timeline& timeline) {
  const Topology& topology = costed.topology;
  const auto memory_of_group = [&](int group) {
    return topology.memory_of[static_cast<std::size_t>(assignment.placement[static_cast<std::size_t>(group)])];
  };
  Ledger ledger(topology.num_memories);
  std::vector<double> weights(static_cast<std::size_t>(topology.num_memories), 0.0);
  for (int group = 0; group < costed.num_groups; ++group) {
    weights[static_cast<std::size_t>(memory_of_group(group))] += costed.weight_bytes[static_cast<std::size_t>(group)];
  }
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
  std::vector<double> peaks;
  for (int memory = 0; memory < topology.num_memories; ++memory)
    peaks.push_back(ledger.Peak(memory, weights[static_cast<std::size_t>(memory)]));
  return peaks;
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

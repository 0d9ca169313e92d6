// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/peak_memory.h"

#include <algorithm>

#include "millrace/graph/index.h"

namespace millrace {
namespace {

// A sum of fractions of bytes is known to rounding only.
bool Within(double peak, double capacity) { return peak <= capacity * (1 + 1e-12); }

}  // namespace

// What comes onto each memory and goes again, for one plan after another.
class PeakMemoryMeter::Ledger {
 public:
  explicit Ledger(const CostedGraph& costed)
      : costed_(costed),
        changes_(Index(costed.topology.num_memories)),
        always_(changes_.size()),
        last_reader_(changes_.size()) {}

  // What comes and goes on the memories that are measured.
  void Fill(std::span<const char> measured, const Assignment& assignment, const Timeline& timeline);

  double Peak(int memory) {
    double peak = always_[Index(memory)];
    Walk(memory, [&peak](double, double held) { peak = std::max(peak, held); });
    return peak;
  }

  MemoryUse Use(int memory) {
    MemoryUse use{{0}, {always_[Index(memory)]}};
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
  struct Change {
    double time;
    double bytes;  // < 0: freed
  };

  void Hold(int memory, double from, double to, double bytes) {
    if (!(from < to) || bytes == 0) return;
    changes_[Index(memory)].push_back({from, bytes});
    changes_[Index(memory)].push_back({to, -bytes});
  }

  // Calls with every change's time and what is held from then on.
  template <typename Step>
  void Walk(int memory, const Step& step) {
    std::vector<Change>& changes = changes_[Index(memory)];
    std::sort(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.time != b.time ? a.time < b.time : a.bytes < b.bytes; });
    // Wider than double, so that what rounding leaves behind does not add up over many changes.
    long double held = always_[Index(memory)];
    for (const Change& change : changes) {
      held += change.bytes;
      step(change.time, static_cast<double>(held));
    }
  }

  const CostedGraph& costed_;
  std::vector<std::vector<Change>> changes_;  // by memory
  std::vector<double> always_;                // by memory
  std::vector<double> last_reader_;           // by memory, of one tensor
};

void PeakMemoryMeter::Ledger::Fill(std::span<const char> measured, const Assignment& assignment,
                                   const Timeline& timeline) {
  constexpr double kNever = -1;
  const Topology& topology = costed_.topology;
  const auto memory_of_group = [&](int group) { return topology.memory_of[Index(assignment.placement[Index(group)])]; };
  for (std::vector<Change>& changes : changes_) changes.clear();
  std::fill(always_.begin(), always_.end(), 0.0);
  for (int group = 0; group < costed_.num_groups; ++group)
    always_[Index(memory_of_group(group))] += costed_.weight_bytes[Index(group)];
  for (const GroupTensor& tensor : costed_.tensors) {
    std::fill(last_reader_.begin(), last_reader_.end(), kNever);
    for (const std::int32_t reader : costed_.Readers(tensor)) {
      double& last = last_reader_[Index(memory_of_group(reader))];
      last = std::max(last, timeline.finish[Index(reader)]);
    }
    const bool input = tensor.producer < 0;
    const double made = input ? 0.0 : timeline.finish[Index(tensor.producer)];
    const int home = input ? -1 : memory_of_group(tensor.producer);
    if (!input && measured[Index(home)] != 0) {
      const double end = tensor.output ? timeline.makespan : std::max(made, last_reader_[Index(home)]);
      Hold(home, timeline.start[Index(tensor.producer)], end, tensor.bytes);
    }
    for (int memory = 0; memory < topology.num_memories; ++memory) {
      if (memory != home && measured[Index(memory)] != 0 && last_reader_[Index(memory)] != kNever)
        Hold(memory, made, last_reader_[Index(memory)], tensor.bytes);
    }
  }
}

PeakMemoryMeter::PeakMemoryMeter(const CostedGraph& costed)
    : costed_(costed),
      ledger_(std::make_unique<Ledger>(costed)),
      peaks_(Index(costed.topology.num_memories)),
      all_(peaks_.size(), 1) {}

PeakMemoryMeter::~PeakMemoryMeter() = default;

std::span<const double> PeakMemoryMeter::Measure(const Assignment& assignment, const Timeline& timeline) {
  ledger_->Fill(all_, assignment, timeline);
  for (int memory = 0; memory < costed_.topology.num_memories; ++memory) peaks_[Index(memory)] = ledger_->Peak(memory);
  return peaks_;
}

std::vector<MemoryUse> PeakMemoryMeter::OverTime(const Assignment& assignment, const Timeline& timeline) {
  ledger_->Fill(all_, assignment, timeline);
  std::vector<MemoryUse> uses;
  uses.reserve(peaks_.size());
  for (int memory = 0; memory < costed_.topology.num_memories; ++memory) uses.push_back(ledger_->Use(memory));
  return uses;
}

bool PeakMemoryMeter::FitIn(std::span<const char> measured, const Assignment& assignment, const Timeline& timeline) {
  ledger_->Fill(measured, assignment, timeline);
  for (int memory = 0; memory < costed_.topology.num_memories; ++memory) {
    if (measured[Index(memory)] != 0 && !Within(ledger_->Peak(memory), costed_.topology.memory_bytes[Index(memory)]))
      return false;
  }
  return true;
}

std::vector<double> PeakMemory(const CostedGraph& costed, const Assignment& assignment, const Timeline& timeline) {
  PeakMemoryMeter meter(costed);
  const std::span<const double> peaks = meter.Measure(assignment, timeline);
  return {peaks.begin(), peaks.end()};
}

std::vector<MemoryUse> MemoryOverTime(const CostedGraph& costed, const Assignment& assignment,
                                      const Timeline& timeline) {
  return PeakMemoryMeter(costed).OverTime(assignment, timeline);
}

bool Fits(const CostedGraph& costed, std::span<const double> peaks) {
  for (std::size_t memory = 0; memory < peaks.size(); ++memory) {
    if (!Within(peaks[memory], costed.topology.memory_bytes[memory])) return false;
  }
  return true;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/memory/repair.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "millrace/cost/colocation_members.h"
#include "millrace/graph/index.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

class Repair {
 public:
  Repair(const CostedGraph& costed, Assignment start)
      : costed_(costed), simulator_(costed), plan_(std::move(start)), members_(ColocationMembers(costed)) {
    overflow_ = Simulate();
    culprits_ = Culprits();
  }

  bool fits() const { return fits_; }
  bool stuck() const { return culprits_.empty(); }
  Assignment Finish() { return std::move(plan_); }

  void TryMove(Random& random) {
    const GroupTensor& tensor = costed_.tensors[Index(culprits_[random.Below(culprits_.size())])];
    const std::span<const std::int32_t> readers = costed_.Readers(tensor);
    const bool home = tensor.producer >= 0 && MemoryOf(tensor.producer) == overfull_;
    undo_.clear();
    // Half the time a copy's readers join its maker, and a maker the first of its readers that is elsewhere.
    int to = static_cast<int>(random.Below(Index(costed_.num_devices)));
    const bool join = random.Below(2) == 0;
    if (home) {
      for (const std::int32_t reader : readers) {
        if (join && MemoryOf(reader) != overfull_) to = plan_.placement[Index(reader)];
      }
      Move(tensor.producer, to);
    }
    if (!home || random.Below(2) == 0) {
      if (!home && join && tensor.producer >= 0) to = plan_.placement[Index(tensor.producer)];
      for (const std::int32_t reader : readers) {
        if (MemoryOf(reader) == overfull_) Move(reader, to);
      }
    }
    if (undo_.empty()) return;
    const double before = overflow_;
    const double now = Simulate();
    if (now <= before) {
      overflow_ = now;
      if (!fits_) culprits_ = Culprits();
      return;
    }
    for (auto change = undo_.rbegin(); change != undo_.rend(); ++change)
      plan_.placement[Index(change->first)] = change->second;
  }

 private:
  int MemoryOf(int group) const { return costed_.topology.memory_of[Index(plan_.placement[Index(group)])]; }

  void Move(int group, int device) {
    const std::int32_t colocation = costed_.colocation[Index(group)];
    const std::vector<int> alone{group};
    const std::vector<int>& together = colocation >= 0 ? members_[Index(colocation)] : alone;
    for (const int member : together) {
      if (!std::isfinite(costed_.Seconds(member, device))) return;
    }
    for (const int member : together) {
      int& placed = plan_.placement[Index(member)];
      if (placed == device) continue;
      undo_.emplace_back(member, placed);
      placed = device;
    }
  }

  // The sum of shares by which memories are overfull.
  double Simulate() {
    simulator_.Run(plan_, timeline_);
    const std::vector<double> peaks = PeakMemory(costed_, plan_, timeline_);
    fits_ = Fits(costed_, peaks);
    double overflow = 0;
    double most = 0;
    for (std::size_t memory = 0; memory < peaks.size(); ++memory) {
      const double over = peaks[memory] / costed_.topology.memory_bytes[memory] - 1;
      overflow += std::max(0.0, over);
      if (over > most) {
        most = over;
        fullest_ = static_cast<int>(memory);
      }
    }
    return overflow;
  }

  // When the tensor lies on the fullest memory; from = to where it does not.
  std::pair<double, double> Stay(const GroupTensor& tensor) const {
    double last = -1;
    for (const std::int32_t reader : costed_.Readers(tensor)) {
      if (MemoryOf(reader) == overfull_) last = std::max(last, timeline_.finish[Index(reader)]);
    }
    const double made = tensor.producer < 0 ? 0.0 : timeline_.finish[Index(tensor.producer)];
    if (tensor.producer < 0 || MemoryOf(tensor.producer) != overfull_) return {made, std::max(made, last)};
    return {timeline_.start[Index(tensor.producer)], tensor.output ? timeline_.makespan : std::max(made, last)};
  }

  // The tensors that lie on the fullest memory when most does.
  std::vector<std::int32_t> Culprits() {
    overfull_ = fullest_;
    std::vector<std::pair<double, double>> changes;  // time, bytes; what leaves comes first
    for (const GroupTensor& tensor : costed_.tensors) {
      const auto [from, to] = Stay(tensor);
      if (!(from < to) || tensor.bytes == 0) continue;
      changes.emplace_back(from, tensor.bytes);
      changes.emplace_back(to, -tensor.bytes);
    }
    std::sort(changes.begin(), changes.end());
    double held = 0;
    double most = 0;
    double moment = 0;
    for (const auto& [time, bytes] : changes) {
      held += bytes;
      if (held <= most) continue;
      most = held;
      moment = time;
    }
    std::vector<std::int32_t> there;
    for (std::size_t t = 0; t < costed_.tensors.size(); ++t) {
      const auto [from, to] = Stay(costed_.tensors[t]);
      if (from <= moment && moment < to && costed_.tensors[t].bytes > 0) there.push_back(static_cast<std::int32_t>(t));
    }
    return there;
  }

  const CostedGraph& costed_;
  Simulator simulator_;
  Assignment plan_;
  Timeline timeline_;
  std::vector<std::vector<int>> members_;  // groups of each colocation
  std::vector<std::pair<int, int>> undo_;  // group and the device it had
  std::vector<std::int32_t> culprits_;
  int fullest_ = 0;   // memory of the plan last simulated
  int overfull_ = 0;  // memory the culprits lie on
  double overflow_ = 0;
  bool fits_ = false;
};

}  // namespace

std::optional<Assignment> MoveUntilItFits(const CostedGraph& costed, Assignment start, std::int64_t moves,
                                          const std::function<bool()>& stop, Random& random) {
  Repair repair(costed, std::move(start));
  for (std::int64_t move = 0; move < moves && !repair.fits() && !repair.stuck() && !stop(); ++move)
    repair.TryMove(random);
  if (!repair.fits()) return std::nullopt;
  return repair.Finish();
}

}  // namespace millrace

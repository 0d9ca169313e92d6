// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/move_features.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "millrace/graph/index.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/network/squash.h"

namespace millrace {
namespace {

// A block is a small part of an even share of the work; so are its transfers.
constexpr double kPartsOfShare = 8;

// Control dependencies, of 0 bytes, count a little, too.
double Counted(double bytes) { return bytes + 1.0; }

class BlockObserver {
 public:
  BlockObserver(const GoProblem& problem, const Decisions& placed, const GoBlocks& blocks,
                DecisionObservation& observation)
      : problem_(problem), costed_(problem.costed()), blocks_(blocks), observation_(observation) {
    placement_.resize(Index(problem.num_rows()));
    block_of_.resize(placement_.size());
    for (std::int32_t row = 0; row < problem.num_rows(); ++row) {
      const std::size_t op = Index(problem.order()[Index(row)]);
      placement_[op] = placed.device[Index(problem.ColocationOf(row))];
      block_of_[op] = Index(blocks.block_of[Index(problem.ColocationOf(row))]);
    }
  }

  void Observe() {
    SumBlocks();
    DescribeBlocks();
    DescribeTimes();
  }

 private:
  // By block and device.
  void SumBlocks() {
    const auto devices = Index(problem_.num_devices());
    const std::size_t cells = Index(blocks_.count()) * devices;
    for (std::vector<double>* table : {&in_, &out_, &transfers_, &own_, &whole_}) table->assign(cells, 0.0);
    load_.assign(devices, 0.0);
    mean_.assign(Index(blocks_.count()), 0.0);
    for (std::size_t op = 0; op < placement_.size(); ++op) {
      const std::size_t block = block_of_[op];
      const auto here = Index(placement_[op]);
      const double seconds = costed_.Seconds(static_cast<int>(op), placement_[op]);
      own_[block * devices + here] += seconds;
      load_[here] += seconds;
      mean_[block] += problem_.mean_seconds()[op];
      for (std::size_t d = 0; d < devices; ++d) {
        const double there = costed_.Seconds(static_cast<int>(op), static_cast<int>(d));
        whole_[block * devices + d] += std::isfinite(there) ? there : seconds;
      }
      for (const GroupEdge& edge : costed_.Predecessors(static_cast<int>(op))) {
        const std::size_t maker = block_of_[Index(edge.group)];
        if (maker == block) continue;
        const int from = placement_[Index(edge.group)];
        in_[block * devices + Index(from)] += Counted(edge.bytes);
        out_[maker * devices + here] += Counted(edge.bytes);
        for (std::size_t d = 0; d < devices; ++d) {
          transfers_[block * devices + d] += costed_.TransferSeconds(edge.bytes, from, static_cast<int>(d));
          transfers_[maker * devices + d] += costed_.TransferSeconds(edge.bytes, static_cast<int>(d), placement_[op]);
        }
      }
    }
  }

  void DescribeBlocks() {
    const auto devices = Index(problem_.num_devices());
    const double even = std::accumulate(load_.begin(), load_.end(), 0.0) / static_cast<double>(devices);
    const double unit = even > 0 ? even : 1;
    const auto of_block = [devices](const std::vector<double>& table, std::size_t block) {
      return std::span(table).subspan(block * devices, devices);
    };
    const auto share = [&](const std::vector<double>& table, std::size_t block, std::size_t device) {
      const std::span<const double> of = of_block(table, block);
      const double all = std::accumulate(of.begin(), of.end(), 0.0);
      return all > 0 ? static_cast<float>(of[device] / all) : 0.0f;
    };
    for (std::int32_t row = 0; row < problem_.num_rows(); ++row) {
      const std::size_t block = block_of_[Index(problem_.order()[Index(row)])];
      const std::span<const double> transfers = of_block(transfers_, block);
      const double least = *std::min_element(transfers.begin(), transfers.end());
      for (std::size_t d = 0; d < devices; ++d) {
        const std::size_t at = Index(row) * devices + d;
        if (!std::isfinite(problem_.Seconds(row, static_cast<int>(d)))) continue;
        const FeatureRow<MovePlaceFeature> f = RowAt<MovePlaceFeature>(observation_.places, at);
        f[MovePlaceFeature::kBlockInput] = share(in_, block, d);
        f[MovePlaceFeature::kBlockOutput] = share(out_, block, d);
        const double work = load_[d] - own_[block * devices + d] + whole_[block * devices + d];
        f[MovePlaceFeature::kBlockLoad] = SquashCutOff(work / unit - 1);
        f[MovePlaceFeature::kBlockTransfers] = SquashCutOff(kPartsOfShare * (transfers[d] - least) / unit);
      }
      RowAt<MoveRowFeature>(observation_.decisions, Index(row))[MoveRowFeature::kBlockWork] =
          SquashCutOff(kPartsOfShare * mean_[block] / unit);
    }
  }

  // By op: by when it must finish so that nothing else becomes later.
  std::vector<double> LatestFinishes(const PlacedSchedule& schedule) const {
    std::vector<double> latest(placement_.size(), schedule.timeline.makespan);
    std::vector<double> unit_latest(Index(costed_.topology.num_units), schedule.timeline.makespan);
    for (auto at = schedule.assignment.sequence.rbegin(); at != schedule.assignment.sequence.rend(); ++at) {
      const int op = *at;
      const int device = placement_[Index(op)];
      double& finish = latest[Index(op)];
      for (const std::int32_t unit : costed_.topology.UnitsAt(device))
        finish = std::min(finish, unit_latest[Index(unit)]);
      const double start = finish - costed_.Seconds(op, device);
      for (const std::int32_t unit : costed_.topology.UnitsAt(device)) unit_latest[Index(unit)] = start;
      for (const GroupEdge& edge : costed_.Predecessors(op)) {
        double& sent = latest[Index(edge.group)];
        sent = std::min(sent, start - costed_.TransferSeconds(edge.bytes, placement_[Index(edge.group)], device));
      }
    }
    return latest;
  }

  void DescribeTimes() {
    const PlacedSchedule schedule = SchedulePlaced(costed_, placement_, {});
    const Timeline& timeline = schedule.timeline;
    if (!(timeline.makespan > 0)) return;
    const std::vector<double> latest = LatestFinishes(schedule);
    for (std::int32_t row = 0; row < problem_.num_rows(); ++row) {
      const OpId op = problem_.order()[Index(row)];
      double arrival = 0;
      for (const GroupEdge& edge : costed_.Predecessors(op)) {
        const int from = placement_[Index(edge.group)];
        arrival = std::max(arrival, timeline.finish[Index(edge.group)] +
                                        costed_.TransferSeconds(edge.bytes, from, placement_[Index(op)]));
      }
      const FeatureRow<MoveRowFeature> f = RowAt<MoveRowFeature>(observation_.decisions, Index(row));
      f[MoveRowFeature::kStart] = static_cast<float>(timeline.start[Index(op)] / timeline.makespan);
      const double slack = std::max(0.0, latest[Index(op)] - timeline.finish[Index(op)]);
      f[MoveRowFeature::kSlack] = static_cast<float>(slack / timeline.makespan);
      f[MoveRowFeature::kWait] = SquashCutOff((timeline.start[Index(op)] - arrival) / problem_.scale());
    }
  }

  const GoProblem& problem_;
  const CostedGraph& costed_;
  const GoBlocks& blocks_;
  DecisionObservation& observation_;
  std::vector<int> placement_;         // by op
  std::vector<std::size_t> block_of_;  // by op
  std::vector<double> in_, out_;       // bytes from and to other blocks that are there
  std::vector<double> transfers_;      // seconds, were the block there
  std::vector<double> own_, whole_;    // seconds of the block's work that is there now, and were it all there
  std::vector<double> load_, mean_;    // by device: work placed there; by block: mean seconds
};

}  // namespace

void ObserveMoves(const GoProblem& problem, const Decisions& placed, const GoBlocks& blocks,
                  DecisionObservation& observation) {
  ObserveDecisions(problem, placed, observation);
  BlockObserver(problem, placed, blocks, observation).Observe();
}

}  // namespace millrace

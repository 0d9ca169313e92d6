// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/move_features.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "millrace/go/block_paths.h"
#include "millrace/graph/index.h"
#include "millrace/network/squash.h"

namespace millrace {
namespace {

// A block is a small part of an even share of the work; so are its transfers.
constexpr double kPartsOfShare = 8;

// Paths are told in these parts of a makespan, as a prior no more of them than kMostUnits.
constexpr double kUnits = 50;
constexpr double kMostUnits = 2;

// Control dependencies, of 0 bytes, count a little, too.
double Counted(double bytes) { return bytes + 1.0; }

class BlockObserver {
 public:
  BlockObserver(const GoProblem& problem, const Decisions& placed, const CostedGraph& fused, const Assignment& plan,
                const GoBlocks& blocks, DecisionObservation& observation)
      : problem_(problem),
        costed_(problem.costed()),
        fused_(fused),
        plan_(plan),
        blocks_(blocks),
        placed_(placed),
        observation_(observation),
        paths_(fused, plan) {
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

  void DescribeTimes() {
    const Timeline& timeline = paths_.timeline();
    if (!(timeline.makespan > 0)) return;
    for (int group = 0; group < fused_.num_groups; ++group) {
      const std::size_t g = Index(group);
      double arrival = 0;
      for (const GroupEdge& edge : fused_.Predecessors(group)) {
        const std::size_t maker = Index(edge.group);
        const double takes = fused_.TransferSeconds(edge.bytes, plan_.placement[maker], plan_.placement[g]);
        arrival = std::max(arrival, timeline.finish[maker] + takes);
      }
      for (const OpId op : fused_.groups[g]) {
        const FeatureRow<MoveRowFeature> f = RowAt<MoveRowFeature>(observation_.decisions, Index(problem_.RowOf(op)));
        f[MoveRowFeature::kStart] = static_cast<float>(timeline.start[g] / timeline.makespan);
        f[MoveRowFeature::kSlack] = static_cast<float>(paths_.Slack(group) / timeline.makespan);
        f[MoveRowFeature::kWait] = SquashCutOff((timeline.start[g] - arrival) / problem_.scale());
      }
    }
    DescribePaths(timeline.makespan);
  }

  void DescribePaths(double makespan) {
    std::vector<std::int32_t> block_of;  // by group
    block_of.reserve(fused_.groups.size());
    for (const std::vector<OpId>& group : fused_.groups)
      block_of.push_back(static_cast<std::int32_t>(block_of_[Index(group.front())]));
    std::vector<std::vector<std::int32_t>> groups(Index(blocks_.count()));  // by block, in the order of the plan
    for (const int group : plan_.sequence) groups[Index(block_of[Index(group)])].push_back(group);
    const std::vector<double> room = paths_.Room(block_of, blocks_.count(), kMostUnits / kUnits * makespan);
    const std::vector<int> now = DevicesOfBlocks(problem_, blocks_, placed_.device);
    for (std::int32_t block = 0; block < blocks_.count(); ++block) {
      const std::vector<std::int32_t>& own = groups[Index(block)];
      if (!own.empty()) DescribePathsOf(block, own, now[Index(block)], kUnits * room[Index(block)] / makespan);
    }
  }

  // `could`: what the plan could save by the block at most, in units.
  void DescribePathsOf(std::int32_t block, std::span<const std::int32_t> groups, int now, double could) {
    constexpr double kLate = 0.01;  // of the makespan
    const double makespan = paths_.timeline().makespan;
    double slack = makespan;
    for (const std::int32_t group : groups) slack = std::min(slack, paths_.Slack(group));
    const double late = std::exp(-slack / (kLate * makespan));
    const std::vector<std::int32_t> rows = RowsOf(block);
    for (const std::int32_t row : rows)
      RowAt<MoveRowFeature>(observation_.decisions, Index(row))[MoveRowFeature::kBlockRoom] =
          static_cast<float>(could / kMostUnits);
    const double here = PathOf(groups, now);
    for (int d = 0; d < problem_.num_devices(); ++d) {
      const double path = d == now ? here : PathOf(groups, d);
      if (!std::isfinite(path)) continue;
      const double above = kUnits * (path / makespan - 1);
      const double grows = std::isfinite(here) ? kUnits * (path - here) / makespan : 0;
      // A block that is not on a longest path can make the plan longer and hardly shorter.
      const double likely = d == now ? 0 : above < 0 ? -std::min(-above * late, could) : above;
      for (const std::int32_t row : rows) {
        if (!std::isfinite(problem_.Seconds(row, d))) continue;
        const std::size_t at = Index(row) * Index(problem_.num_devices()) + Index(d);
        const FeatureRow<MovePlaceFeature> f = RowAt<MovePlaceFeature>(observation_.places, at);
        f[MovePlaceFeature::kBlockPath] = SquashCutOff(above);
        f[MovePlaceFeature::kBlockPathGrows] = SquashCutOff(grows);
        RowAt<MovePrior>(observation_.place_priors, at)[MovePrior::kBlockPath] =
            -static_cast<float>(std::clamp(likely, -kMostUnits, kMostUnits));
      }
    }
  }

  std::vector<std::int32_t> RowsOf(std::int32_t block) const {
    std::vector<std::int32_t> rows;
    for (const std::int32_t colocation : blocks_.ColocationsOf(block)) {
      const std::span<const std::int32_t> own = problem_.RowsOf(colocation);
      rows.insert(rows.end(), own.begin(), own.end());
    }
    return rows;
  }

  // Infinity where a group cannot run there.
  double PathOf(std::span<const std::int32_t> groups, int device) {
    for (const std::int32_t group : groups) {
      if (!std::isfinite(fused_.Seconds(group, device))) return kCannotRun;
    }
    return paths_.Longest(groups, device);
  }

  const GoProblem& problem_;
  const CostedGraph& costed_;
  const CostedGraph& fused_;
  const Assignment& plan_;
  const GoBlocks& blocks_;
  const Decisions& placed_;
  DecisionObservation& observation_;
  BlockPaths paths_;
  std::vector<int> placement_;         // by op
  std::vector<std::size_t> block_of_;  // by op
  std::vector<double> in_, out_;       // bytes from and to other blocks that are there
  std::vector<double> transfers_;      // seconds, were the block there
  std::vector<double> own_, whole_;    // seconds of the block's work that is there now, and were it all there
  std::vector<double> load_, mean_;    // by device: work placed there; by block: mean seconds
};

}  // namespace

void ObserveMoves(const GoProblem& problem, const Decisions& placed, const CostedGraph& fused, const Assignment& plan,
                  const GoBlocks& blocks, DecisionObservation& observation) {
  ObserveDecisions(problem, placed, observation);
  BlockObserver(problem, placed, fused, plan, blocks, observation).Observe();
}

}  // namespace millrace

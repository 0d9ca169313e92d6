// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/heuristics/upward_rank.h"

// One graph on one machine as a one-shot policy sees it: every op single, in one order, with what schedulers know of
// each. Nothing of any finished plan. Seconds, bytes.
//
// Ops are counted as rows: row r is op order()[r]. That order is topological and goes depth first, the highest upward
// rank of what has just become ready before the rest, so that ops near each other in the graph are near each other in
// it, however they are numbered.
namespace millrace {

// Immutable once made, so threads may share it. The model must outlive it; its graph has at least one op.
class OneShotProblem {
 public:
  // Throws WorkFailed where an op, or the ops that must share a device, can run nowhere.
  explicit OneShotProblem(const CostModel& model);

  const CostModel& model() const { return model_; }
  const ComputationGraph& graph() const { return model_.graph(); }
  const CostedGraph& costed() const { return costed_; }  // group i is op i
  int num_rows() const { return costed_.num_groups; }
  int num_devices() const { return costed_.num_devices; }

  std::span<const OpId> order() const { return order_; }  // by row
  std::int32_t RowOf(OpId op) const { return rows_[static_cast<std::size_t>(op)]; }

  // Rows that must share a device are one tie; any other row is a tie of its own. Ties are numbered by first row.
  int num_ties() const { return static_cast<int>(tie_offsets_.size()) - 1; }
  std::int32_t TieOf(std::int32_t row) const { return ties_[static_cast<std::size_t>(row)]; }
  std::span<const std::int32_t> ties() const { return ties_; }  // by row
  std::span<const std::int32_t> RowsOf(std::int32_t tie) const {
    const auto begin = static_cast<std::size_t>(tie_offsets_[static_cast<std::size_t>(tie)]);
    const auto end = static_cast<std::size_t>(tie_offsets_[static_cast<std::size_t>(tie) + 1]);
    return std::span(tie_rows_).subspan(begin, end - begin);
  }

  // Of a row on a device; infinity where it, or a row of its tie, cannot run there.
  double Seconds(std::int32_t row, int device) const {
    return costed_.Seconds(order_[static_cast<std::size_t>(row)], device);
  }

  // What a second is compared with: the mean over ops of their mean seconds; 1 where all are 0.
  double scale() const { return scale_; }
  const MeanTransfer& mean_transfer() const { return mean_transfer_; }

  // By op: over the devices that can run it; ranks count mean transfers.
  std::span<const double> mean_seconds() const { return mean_seconds_; }
  std::span<const double> upward_ranks() const { return upward_ranks_; }
  std::span<const double> downward_ranks() const { return downward_ranks_; }
  double critical_path() const { return critical_path_; }

  // By row, in 0..1: how much of the work lies before its middle in order().
  std::span<const double> work_before() const { return work_before_; }

  // By row, in 0..1: the same with the model's layers one after the other, all ops of a layer counting as its middle.
  // An op that states none belongs to that of the maker of its largest input, or else of a reader. work_before() where
  // the graph states no layers at all. Blocks of equal work along it are what people place by hand.
  std::span<const double> progress() const { return progress_; }
  bool has_layers() const { return has_layers_; }

  // By row: may the op be merged with one of its producers (plan/fusion_table.h), its neighbours allowing?
  std::span<const char> fusible() const { return fusible_; }

  // By row, in 0..1, equal ones alike: where its upward rank stands among all, the highest near 1; and, of fusible
  // rows, where the largest tensor that merging saves stands among theirs, 0 for other rows.
  std::span<const double> urgency() const { return urgency_; }
  std::span<const double> saving() const { return saving_; }

 private:
  void Order();
  void Tie();
  void MeasureProgress();
  void FindFusible();
  void RankRows();

  const CostModel& model_;
  CostedGraph costed_;
  double scale_ = 1;
  double critical_path_ = 0;
  MeanTransfer mean_transfer_;
  std::vector<double> mean_seconds_, upward_ranks_, downward_ranks_;
  std::vector<OpId> order_;
  std::vector<std::int32_t> rows_;
  std::vector<std::int32_t> ties_, tie_offsets_, tie_rows_;
  std::vector<double> work_before_, progress_;
  bool has_layers_ = false;
  std::vector<char> fusible_;
  std::vector<double> urgency_, saving_;
};

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/heuristics/upward_rank.h"

// One graph on one machine as GO's policy sees it: every op single, in one order, with what schedulers know of each.
// Nothing in it depends on a plan. Seconds, bytes.
//
// Ops are counted as rows: row r is op order()[r]. The order is topological and goes depth first: of the ops that have
// just become ready, the one of the highest upward rank comes next, before all that were ready earlier. So ops that
// are near each other in the graph are near each other in the order, however they are numbered.
namespace millrace {

// Immutable once made, so threads may share it. The model must outlive it; its graph has at least one op.
class GoProblem {
 public:
  // Throws WorkFailed where an op, or the ops that must share a device, can run nowhere.
  explicit GoProblem(const CostModel& model);

  const CostModel& model() const { return model_; }
  const ComputationGraph& graph() const { return model_.graph(); }
  const CostedGraph& costed() const { return costed_; }  // group i is op i
  int num_rows() const { return costed_.num_groups; }
  int num_devices() const { return costed_.num_devices; }

  std::span<const OpId> order() const { return order_; }  // by row
  std::int32_t RowOf(OpId op) const { return rows_[static_cast<std::size_t>(op)]; }

  // Rows that must share a device are one colocation; any other row is a colocation of its own. Colocations are
  // numbered by their first row.
  int num_colocations() const { return static_cast<int>(colocation_offsets_.size()) - 1; }
  std::int32_t ColocationOf(std::int32_t row) const { return colocations_[static_cast<std::size_t>(row)]; }
  std::span<const std::int32_t> colocations() const { return colocations_; }  // by row
  std::span<const std::int32_t> RowsOf(std::int32_t colocation) const {
    const auto begin = static_cast<std::size_t>(colocation_offsets_[static_cast<std::size_t>(colocation)]);
    const auto end = static_cast<std::size_t>(colocation_offsets_[static_cast<std::size_t>(colocation) + 1]);
    return std::span(colocation_rows_).subspan(begin, end - begin);
  }

  // Seconds of a row on a device; infinity where it, or a row of its colocation, cannot run there.
  double Seconds(std::int32_t row, int device) const {
    return costed_.Seconds(order_[static_cast<std::size_t>(row)], device);
  }

  // The unit of time in features: the mean over ops of their mean seconds; 1 where all are 0.
  double scale() const { return scale_; }
  const MeanTransfer& mean_transfer() const { return mean_transfer_; }

  // By op. Means are over the devices that can run it; ranks count mean transfers.
  std::span<const double> mean_seconds() const { return mean_seconds_; }
  std::span<const double> upward_ranks() const { return upward_ranks_; }
  std::span<const double> downward_ranks() const { return downward_ranks_; }
  double critical_path() const { return critical_path_; }  // the largest upward rank

  // By row, in 0..1: the share of all work that lies before its middle in order().
  std::span<const double> work_before() const { return work_before_; }

  // By row, in 0..1: the same with the model's layers one after the other, where all ops of a layer stand at its
  // middle. An op without a layer takes that of the maker of its largest input, else of the reader of its largest
  // output. Without layers in the graph this is work_before(). People who place by hand cut it into blocks of equal
  // work.
  std::span<const double> progress() const { return progress_; }
  bool has_layers() const { return has_layers_; }

  // By row: 1 where the fusion table (plan/fusion_table.h) lets the op join one of its producers.
  std::span<const char> fusible() const { return fusible_; }

  // By row, in 0..1. urgency() is where its upward rank stands among all, the highest near 1. saving() is where its
  // largest input stands among those of all fusible rows, and 0 for other rows. Equal ones stand at the same place.
  std::span<const double> urgency() const { return urgency_; }
  std::span<const double> saving() const { return saving_; }

 private:
  void Order();
  void Colocate();
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
  std::vector<std::int32_t> colocations_, colocation_offsets_, colocation_rows_;
  std::vector<double> work_before_, progress_;
  bool has_layers_ = false;
  std::vector<char> fusible_;
  std::vector<double> urgency_, saving_;
};

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "millrace/go/policy.h"
#include "millrace/network/linear_layer.h"
#include "millrace/network/weights.h"
#include "millrace/vector/lanes.h"

// layer(h; N) of network.h: attention of each segment of rows to itself and the segment before, then a feed-forward
// network, both modulated by the condition.
namespace millrace {

// Memory for calls on graphs of up to `rows` rows. It may be used again, by one call at a time.
struct SegmentWorkspace {
  explicit SegmentWorkspace(std::size_t rows);

  LaneArray queries;  // rows x kWidth
  LaneArray keys;     // by segment, head and block of kLanes rows: kAttention x kLanes
  LaneArray values;   // by head and row: kAttention
};

// A LayerNorm followed by the factor 1 + super c.
class ModulatedNorm {
 public:
  // Takes the weights NAME.norm.PLACE and NAME.super.PLACE.
  ModulatedNorm(const Weights& weights, const std::string& name, const std::string& place);

  // 1 + super c, of size kWidth; `condition` is c.
  LaneArray Factor(const LaneArray& condition) const;
  void Apply(const float* input, std::size_t rows, const LaneArray& factor, float* output) const;

 private:
  LaneArray weight_, bias_;
  LinearLayer super_;
};

// Immutable, so threads may share it.
class SegmentLayer {
 public:
  SegmentLayer(const Weights& weights, const std::string& name);

  // Changes `states`, rows x kWidth, in place. `condition` has size kCondition. Throws Interrupted.
  void Apply(const LaneArray& condition, std::size_t rows, SegmentWorkspace& workspace, const ParallelLoop& loop,
             LaneArray& states) const;

 private:
  struct Call;
  void Project(const Call& call, std::size_t first_segment, std::size_t end_segment) const;
  void Attend(const Call& call, std::size_t first_segment, std::size_t end_segment) const;

  ModulatedNorm before_attention_, before_feed_;
  LinearLayer query_, key_, value_, join_, first_, out_;
};

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "millrace/policy/linear_layer.h"
#include "millrace/policy/one_shot_policy.h"
#include "millrace/policy/weights.h"
#include "millrace/vector/lanes.h"

// layer(h; N) of sage.h: attention of each segment of rows to itself and the one before, then a feed-forward network,
// both modulated by the condition.
namespace millrace {

// What calls on graphs of up to so many rows work with, to be used again; for one call at a time.
struct SegmentWorkspace {
  explicit SegmentWorkspace(std::size_t rows);

  LaneArray queries;  // rows x kWidth
  LaneArray keys;     // by segment, head and block of kLanes rows: kAttention x kLanes
  LaneArray values;   // by head and row: kAttention
};

// A LayerNorm followed by the factor 1 + super c.
class ModulatedNorm {
 public:
  // Takes NAME.norm.PLACE and NAME.super.PLACE.
  ModulatedNorm(const Weights& weights, const std::string& name, const std::string& place);

  // kWidth: 1 + super c, `condition` being c.
  LaneArray Factor(const LaneArray& condition) const;
  void Apply(const float* input, std::size_t rows, const LaneArray& factor, float* output) const;

 private:
  LaneArray weight_, bias_;
  LinearLayer super_;
};

// Immutable and shared between threads.
class SegmentLayer {
 public:
  SegmentLayer(const Weights& weights, const std::string& name);

  // `rows` x kWidth in place. `condition` is kCondition. Throws Interrupted.
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

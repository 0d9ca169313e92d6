// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/broadcast.h"

#include "millrace/errors/errors.h"

namespace millrace {

std::int64_t StepShape::elements() const { return ElementsOf(dims); }

bool StepShape::full(std::size_t operand) const {
  std::int64_t expected = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (dims[d] != 1 && strides[operand][d] != expected) return false;
    expected *= dims[d];
  }
  return true;
}

Broadcast::Broadcast(const StepShape& shape, std::span<const std::size_t> operands, bool lanes)
    : operands_(operands.size()) {
  std::vector<std::int64_t> dims;
  std::vector<std::vector<std::int64_t>> strides(operands_);
  for (std::size_t d = 0; d < shape.dims.size(); ++d) {
    if (shape.dims[d] == 1) continue;
    bool merges = !dims.empty();
    for (std::size_t i = 0; i < operands_ && merges; ++i)
      merges = strides[i].back() == shape.strides[operands[i]][d] * shape.dims[d];
    if (merges) {
      dims.back() *= shape.dims[d];
      for (std::size_t i = 0; i < operands_; ++i) strides[i].back() = shape.strides[operands[i]][d];
    } else {
      dims.push_back(shape.dims[d]);
      for (std::size_t i = 0; i < operands_; ++i) strides[i].push_back(shape.strides[operands[i]][d]);
    }
  }
  if (dims.size() > kMaximalRank) throw InvalidInput("an elementwise op on more than 16 dimensions cannot be executed");
  outer_ = dims.empty() ? 0 : dims.size() - 1;
  row_length_ = dims.empty() ? 1 : dims.back();
  bool by_lanes = lanes && dims.size() >= 2 && dims.back() == 16;
  for (std::size_t i = 0; i < operands_; ++i) {
    full_[i] = shape.full(operands[i]);
    paces_[i] = !dims.empty() && strides[i].back() == 0 ? Pace::kOne : Pace::kEach;
    if (dims.size() >= 2) {
      const std::int64_t above = strides[i][dims.size() - 2];
      by_lanes = by_lanes && strides[i].back() == 1 && (above == 0 || above == 16);
    }
  }
  if (by_lanes) {
    --outer_;
    row_length_ = dims[dims.size() - 2] * 16;
    for (std::size_t i = 0; i < operands_; ++i)
      if (strides[i][dims.size() - 2] == 0) paces_[i] = Pace::kLanes;
  }
  for (std::size_t d = 0; d < outer_; ++d) {
    dims_[d] = dims[d];
    for (std::size_t i = 0; i < operands_; ++i) strides_[i][d] = strides[i][d];
  }
}

}  // namespace millrace

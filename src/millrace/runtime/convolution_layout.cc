// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/convolution_layout.h"

#include "millrace/runtime/reorder.h"

namespace millrace {
namespace {

// Images of one worker, from which on a worker more or less does not matter.
constexpr std::int64_t kManyImages = 4;

// The largest share of the rows, as a multiple of an even one.
constexpr double kMostUneven = 1.15;

// A tensor is turned over for a saving of so many times the bytes, no less: neighbours in a network read it, too.
constexpr double kWorthTurning = 6;

}  // namespace

bool AreImagesShared(const Shape& shape, int workers) {
  return shape[0] % workers == 0 || shape[0] >= kManyImages * workers;
}

bool AreRowsShared(const Shape& shape, int workers) {
  if (workers == 1 || !CanHaveChannelsLast(DataType::kFloat32, shape) || AreImagesShared(shape, workers)) return false;
  const std::int64_t rows = shape[0] * shape[2];
  const std::int64_t largest = (rows + workers - 1) / workers;
  return static_cast<double>(largest * workers) <= kMostUneven * static_cast<double>(rows);
}

Layout ConvolutionLayout(const KernelRequest& request, int source, std::int64_t weight_bytes, const Shape& result) {
  if (!CanHaveChannelsLast(DataType::kFloat32, result)) return Layout::kBlocked;
  const Layout at_hand = request.available[static_cast<std::size_t>(source)];
  if (request.workers == 1) return at_hand == Layout::kChannelsLast ? at_hand : Layout::kBlocked;
  if (!AreRowsShared(result, request.workers)) return Layout::kBlocked;
  const auto source_bytes = static_cast<double>(
      TensorSpec{DataType::kFloat32, request.model->values[static_cast<std::size_t>(source)].shape}.bytes());
  const double worth_it = at_hand == Layout::kChannelsLast ? kWorthTurning
                          : at_hand == Layout::kBlocked    ? 1 / kWorthTurning
                                                           : 1;
  return static_cast<double>(weight_bytes) <= worth_it * source_bytes ? Layout::kChannelsLast : Layout::kBlocked;
}

}  // namespace millrace

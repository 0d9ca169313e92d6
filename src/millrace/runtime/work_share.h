// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

// Dividing work over the workers of a kernel.
namespace millrace {

struct Share {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
};

// Worker `worker`'s part of `total` items, in whole grains: contiguous, as even as grains allow, maybe empty.
inline Share ShareOf(std::int64_t total, int workers, int worker, std::int64_t grain = 1) {
  const std::int64_t grains = (total + grain - 1) / grain;
  const std::int64_t each = grains / workers;
  const std::int64_t more = grains % workers;
  const std::int64_t first = each * worker + std::min<std::int64_t>(worker, more);
  const std::int64_t last = first + each + (worker < more ? 1 : 0);
  return {std::min(first * grain, total), std::min(last * grain, total)};
}

// Worker `worker`'s part of the rows of all images: calls use(image, rows) for each image that some of them are in.
template <typename Use>
void ForOwnRows(std::int64_t images, std::int64_t rows, int workers, int worker, const Use& use) {
  const Share lines = ShareOf(images * rows, workers, worker);
  for (std::int64_t line = lines.begin; line < lines.end;) {
    const std::int64_t image = line / rows;
    const Share own{line % rows, std::min(rows, lines.end - image * rows)};
    use(image, own);
    line += own.size();
  }
}

}  // namespace millrace

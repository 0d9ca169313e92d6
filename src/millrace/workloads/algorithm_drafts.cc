// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "millrace/workloads/task_families.h"

namespace millrace {
namespace {

using Grid = std::vector<std::vector<OpId>>;

constexpr std::int64_t kMontageSingles = 6;  // ops that a montage has once

std::int64_t GridColumns(std::int64_t images) {
  return static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(images))));
}

// How many Overlaps there are.
std::int64_t CountOverlaps(std::int64_t images) {
  const std::int64_t columns = GridColumns(images);
  const std::int64_t rows = images / columns;
  const std::int64_t rest = images % columns;
  const std::int64_t beside = rows * (columns - 1) + std::max<std::int64_t>(0, rest - 1);
  const std::int64_t below = images - columns;
  const std::int64_t squares = (rows - 1) * (columns - 1) + std::max<std::int64_t>(0, rest - 1);
  return beside + below + squares;
}

// Pairs of neighbours on a nearly square grid that n images fill row by row: in rows and columns first, then one
// diagonal of each square, in random order.
std::vector<std::pair<std::int64_t, std::int64_t>> Overlaps(std::int64_t n, Random& random) {
  const std::int64_t columns = GridColumns(n);
  std::vector<std::pair<std::int64_t, std::int64_t>> sides, diagonals;
  for (std::int64_t cell = 0; cell < n; ++cell) {
    const bool has_right = (cell + 1) % columns != 0;
    if (has_right && cell + 1 < n) sides.emplace_back(cell, cell + 1);
    if (cell + columns < n) sides.emplace_back(cell, cell + columns);
    if (has_right && cell + columns + 1 < n) {
      const bool falling = random.Below(2) == 0;
      diagonals.emplace_back(falling ? cell : cell + 1, falling ? cell + columns + 1 : cell + columns);
    }
  }
  for (std::size_t i = diagonals.size(); i > 1; --i) std::swap(diagonals[i - 1], diagonals[random.Below(i)]);
  sides.insert(sides.end(), diagonals.begin(), diagonals.end());
  return sides;
}

}  // namespace

void DraftFft(std::int64_t ops, TaskDraft& draft) {
  const auto points_of = [](std::int64_t levels) { return std::int64_t{1} << levels; };
  const std::int64_t levels =
      NearestSize(ops, 0, [&](std::int64_t k) { return 2 * points_of(k) - 1 + points_of(k) * k; });
  std::vector<OpId> row = {draft.Add("Halve", 0, 1)};
  int layer = 0;
  for (std::int64_t level = 0; level < levels; ++level) {
    ++layer;
    std::vector<OpId> halves;
    for (const OpId parent : row) {
      for (int half = 0; half < 2; ++half) {
        halves.push_back(draft.Add("Halve", layer, 1));
        draft.Link(parent, halves.back());
      }
    }
    row = std::move(halves);
  }
  for (std::int64_t level = 0; level < levels; ++level) {
    ++layer;
    std::vector<OpId> next;
    const std::size_t partner = std::size_t{1} << level;
    for (std::size_t i = 0; i < row.size(); ++i) {
      next.push_back(draft.Add("Butterfly", layer, 1));
      draft.Link(row[i], next.back());
      draft.Link(row[i ^ partner], next.back());
    }
    row = std::move(next);
  }
}

void DraftGaussianElimination(std::int64_t ops, TaskDraft& draft) {
  const std::int64_t size = NearestSize(ops, 2, [](std::int64_t m) { return (m * m + m - 2) / 2; });
  std::vector<OpId> column(static_cast<std::size_t>(size), -1);  // who made it last
  for (std::int64_t k = 0; k + 1 < size; ++k) {
    const auto rows = static_cast<double>(size - k);
    const auto add = [&](const char* type, double work, std::int64_t j) {
      const OpId op = draft.Add(type, static_cast<int>(k), work, rows);
      OpId& last = column[static_cast<std::size_t>(j)];
      if (last >= 0) draft.Link(last, op);
      return last = op;
    };
    const OpId pivot = add("Pivot", rows, k);
    for (std::int64_t j = k + 1; j < size; ++j) draft.Link(pivot, add("Update", 2 * (rows - 1), j));
  }
}

void DraftLu(std::int64_t ops, TaskDraft& draft) {
  const std::int64_t size = NearestSize(ops, 1, [](std::int64_t t) { return t * (t + 1) * (2 * t + 1) / 6; });
  const auto tiles = static_cast<std::size_t>(size);
  Grid last(tiles, std::vector<OpId>(tiles, -1));
  for (std::size_t k = 0; k < tiles; ++k) {
    const auto add = [&](const char* type, double work, std::size_t row, std::size_t column) {
      const OpId op = draft.Add(type, static_cast<int>(k), work);
      if (last[row][column] >= 0) draft.Link(last[row][column], op);
      return last[row][column] = op;
    };
    const OpId corner = add("TileGetrf", 2.0 / 3, k, k);
    for (std::size_t i = k + 1; i < tiles; ++i) {
      draft.Link(corner, add("TileTrsm", 1, k, i));
      draft.Link(corner, add("TileTrsm", 1, i, k));
    }
    for (std::size_t i = k + 1; i < tiles; ++i) {
      for (std::size_t j = k + 1; j < tiles; ++j) {
        const OpId gemm = add("TileGemm", 2, i, j);
        draft.Link(last[i][k], gemm);
        draft.Link(last[k][j], gemm);
      }
    }
  }
}

void DraftMontage(std::int64_t ops, Random& random, TaskDraft& draft) {
  const auto largest = [](std::int64_t images) { return kMontageSingles + 2 * images + CountOverlaps(images); };
  const auto smallest = [](std::int64_t images) { return kMontageSingles + 3 * images - 1; };
  std::int64_t n = 1;
  while (largest(n) < ops) ++n;
  if (n > 1 && ops - largest(n - 1) <= smallest(n) - ops) --n;
  std::vector<std::pair<std::int64_t, std::int64_t>> overlaps = Overlaps(n, random);
  const std::int64_t wanted = std::clamp(ops, smallest(n), largest(n)) - kMontageSingles - 2 * n;
  overlaps.resize(static_cast<std::size_t>(wanted));
  std::sort(overlaps.begin(), overlaps.end());

  const auto images = static_cast<double>(n);
  std::vector<OpId> projected;
  for (std::int64_t i = 0; i < n; ++i) projected.push_back(draft.Add("Project", 0, 1.7, 4));
  std::vector<OpId> fits;
  for (const auto& [a, b] : overlaps) {
    fits.push_back(draft.Add("DiffFit", 1, 0.7, 0.1));
    draft.Link(projected[static_cast<std::size_t>(a)], fits.back());
    draft.Link(projected[static_cast<std::size_t>(b)], fits.back());
  }
  const OpId all_fits = draft.Add("ConcatFit", 2, 0.07 * images, 0.1 * images);
  for (const OpId fit : fits) draft.Link(fit, all_fits);
  if (fits.empty()) draft.Link(projected.front(), all_fits);
  const OpId background = draft.Add("BackgroundModel", 3, 0.18 * images, 0.1);
  draft.Link(all_fits, background);
  std::vector<OpId> corrected;
  for (const OpId image : projected) {
    corrected.push_back(draft.Add("Background", 4, 1.7, 4));
    draft.Link(image, corrected.back());
    draft.Link(background, corrected.back());
  }
  const OpId table = draft.Add("ImageTable", 5, 0.02 * images, 0.1);
  const OpId mosaic = draft.Add("Mosaic", 6, 2.3 * images, 4 * images);
  for (const OpId image : corrected) {
    draft.Link(image, table);
    draft.Link(image, mosaic);
  }
  draft.Link(table, mosaic);
  const OpId shrunken = draft.Add("Shrink", 7, 0.5 * images, 0.1 * images);
  draft.Link(mosaic, shrunken);
  draft.Link(shrunken, draft.Add("Picture", 8, 0.6, 0.1 * images));
}

}  // namespace millrace

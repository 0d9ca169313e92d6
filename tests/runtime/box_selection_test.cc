// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/box_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/runtime/executor.h"
#include "millrace/runtime/host_units.h"
#include "tests/runtime/kernel_harness.h"
#include "tests/runtime/random_model.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using testing::ModelMaker;
using testing::RunGroup;
using testing::TensorData;

struct Boxes {
  std::int64_t images, classes, boxes;
  bool by_center, has_score;
  std::vector<float> at, scores;
  std::int64_t most;
  float overlap, least;

  // Edges of a box: low and high of both axes.
  std::vector<double> Edges(std::int64_t image, std::int64_t box) const {
    const float* of = at.data() + (image * boxes + box) * 4;
    if (by_center) return {of[1] - of[3] / 2., of[1] + of[3] / 2., of[0] - of[2] / 2., of[0] + of[2] / 2.};
    return {std::min(of[0], of[2]), std::max(of[0], of[2]), std::min(of[1], of[3]), std::max(of[1], of[3])};
  }
  double Share(std::int64_t image, std::int64_t a, std::int64_t b) const {
    const std::vector<double> one = Edges(image, a), other = Edges(image, b);
    double common = 1, first = 1, second = 1;
    for (std::size_t axis = 0; axis < 4; axis += 2) {
      common *= std::max(0., std::min(one[axis + 1], other[axis + 1]) - std::max(one[axis], other[axis]));
      first *= one[axis + 1] - one[axis];
      second *= other[axis + 1] - other[axis];
    }
    return common / (first + second - common);
  }

  // As the definition says: again and again the best box that is left, and away with what overlaps it.
  std::vector<std::int64_t> Selected() const {
    std::vector<std::int64_t> rows;
    for (std::int64_t pair = 0; pair < images * classes; ++pair) {
      const float* score = scores.data() + pair * boxes;
      std::set<std::int64_t> left;
      for (std::int64_t box = 0; box < boxes; ++box) {
        if (!has_score || score[box] > least) left.insert(box);
      }
      for (std::int64_t chosen = 0; chosen < most && !left.empty(); ++chosen) {
        const std::int64_t best =
            *std::max_element(left.begin(), left.end(), [&](auto a, auto b) { return score[a] < score[b]; });
        rows.insert(rows.end(), {pair / classes, pair % classes, best});
        left.erase(best);
        std::erase_if(left, [&](std::int64_t box) { return Share(pair / classes, best, box) > overlap; });
      }
    }
    return rows;
  }
};

// Sizes and places are multiples of 1/8, so that areas are exact.
Boxes RandomBoxes(Random& random) {
  Boxes made{.images = 1 + static_cast<std::int64_t>(random.Below(3)),
             .classes = 1 + static_cast<std::int64_t>(random.Below(3)),
             .boxes = 1 + static_cast<std::int64_t>(random.Below(40)),
             .by_center = random.Below(2) == 0,
             .has_score = random.Below(2) == 0,
             .at = {},
             .scores = {},
             .most = 1 + static_cast<std::int64_t>(random.Below(40)),
             .overlap = 0.3f,
             .least = 0.5f};
  const auto eighths = [&random](std::uint64_t most) { return static_cast<float>(random.Below(most) + 1) / 8; };
  for (std::int64_t box = 0; box < made.images * made.boxes; ++box) {
    const float a = eighths(40), b = eighths(40), height = eighths(24), width = eighths(24);
    if (made.by_center) made.at.insert(made.at.end(), {a, b, 2 * width, 2 * height});
    // Either diagonal, from either end.
    else if (random.Below(2) == 0)
      made.at.insert(made.at.end(), {a, b, a + height, b + width});
    else
      made.at.insert(made.at.end(), {a + height, b, a, b + width});
  }
  for (std::int64_t i = 0; i < made.images * made.classes * made.boxes; ++i) made.scores.push_back(eighths(16) / 2);
  return made;
}

struct Selection {
  explicit Selection(const Boxes& boxes, std::int64_t rows) {
    const int at = maker.Input({boxes.images, boxes.boxes, 4});
    const int scores = maker.Input({boxes.images, boxes.classes, boxes.boxes});
    given = {{at, ConstantData::Floats({boxes.images, boxes.boxes, 4}, boxes.at)},
             {scores, ConstantData::Floats({boxes.images, boxes.classes, boxes.boxes}, boxes.scores)}};
    std::vector<std::byte> most(sizeof boxes.most);
    std::memcpy(most.data(), &boxes.most, sizeof boxes.most);
    std::vector<int> inputs = {at, scores, maker.Constant(ConstantData::Dense(DataType::kInt64, {}, std::move(most))),
                               maker.Constant(ConstantData::Floats({}, {boxes.overlap}))};
    if (boxes.has_score) inputs.push_back(maker.Constant(ConstantData::Floats({1}, {boxes.least})));
    out = maker.Node("NonMaxSuppression", inputs, {rows, 3}, {{"center_point_box", std::int64_t{boxes.by_center}}},
                     DataType::kInt64);
  }

  ModelMaker maker;
  std::map<int, TensorData> given;
  int out = 0;
};

TEST(BoxSelection, IsWhatTheDefinitionSelectsForAnyNumberOfWorkers) {
  Random random(5);
  int suppressed = 0;
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const Boxes boxes = RandomBoxes(random);
    const std::vector<std::int64_t> expected = boxes.Selected();
    if (expected.empty()) continue;
    const auto rows = static_cast<std::int64_t>(expected.size() / 3);
    suppressed += rows < boxes.images * boxes.classes * std::min(boxes.most, boxes.boxes) && !boxes.has_score;
    Selection selection(boxes, rows);
    for (const int workers : {1, 3}) {
      EXPECT_EQ(
          RunGroup(selection.maker.model(), {0}, selection.given, {.workers = workers}).at(selection.out)->AsInt64s(),
          expected);
    }
  }
  EXPECT_GT(suppressed, 20) << "boxes must overlap for this to mean anything";
}

TEST(BoxSelection, OfAnotherNumberOfBoxesThanTheModelStatesIsAFaultOfTheRun) {
  Random random(6);
  Boxes boxes = RandomBoxes(random);
  boxes.has_score = false;
  const auto rows = static_cast<std::int64_t>(boxes.Selected().size() / 3);
  for (const std::int64_t stated : {rows, rows + 1}) {
    Selection selection(boxes, stated);
    selection.maker.Output(selection.out);
    const Program program =
        CompileProgram(selection.maker.model(), testing::HostMachine(), testing::OneByOne(selection.maker.model()));
    WorkerPool pool(AllowedProcessors());
    Executor executor(program, pool);
    for (std::size_t input = 0; input < 2; ++input)
      selection.given.at(static_cast<int>(input))->CopyTo(executor.input(input).data());
    if (stated == rows) {
      EXPECT_NO_THROW(executor.Run());
      continue;
    }
    try {
      executor.Run();
      FAIL() << "nobody noticed";
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), HasSubstr("'node0' (NonMaxSuppression): the data give " + std::to_string(rows) +
                                          " rows, and the model states " + std::to_string(stated)));
    }
  }
}

}  // namespace
}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/box_selection.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "millrace/runtime/aligned_memory.h"
#include "millrace/runtime/one_node_kernel.h"
#include "millrace/runtime/run_fault.h"

namespace millrace {
namespace {

enum Input { kBoxes, kScores, kMostBoxes, kOverlap, kScore };

struct Box {
  float top, left, bottom, right;

  float Area() const { return (bottom - top) * (right - left); }
};

Box BoxOf(const float* of, bool by_center) {
  if (by_center) {
    const float x = of[0], y = of[1], half_width = of[2] / 2, half_height = of[3] / 2;
    return {y - half_height, x - half_width, y + half_height, x + half_width};
  }
  return {std::min(of[0], of[2]), std::min(of[1], of[3]), std::max(of[0], of[2]), std::max(of[1], of[3])};
}

// Whether the boxes share more than this share of what they cover together.
bool OverlapMoreThan(float share, const Box& a, const Box& b) {
  const Box common{std::max(a.top, b.top), std::max(a.left, b.left), std::min(a.bottom, b.bottom),
                   std::min(a.right, b.right)};
  if (common.bottom <= common.top || common.right <= common.left) return false;
  const float together = a.Area() + b.Area() - common.Area();
  return together > 0 && common.Area() / together > share;
}

class BoxSelection : public OneNodeKernel {
 public:
  explicit BoxSelection(const KernelRequest& request) : OneNodeKernel(request) {
    for (int i = 0; i < static_cast<int>(node_.inputs.size()); ++i) {
      given_[static_cast<std::size_t>(i)] = HasInput(i);
      if (HasInput(i)) ReadInput(i);
    }
    by_center_ = Model::IntOf(node_, "center_point_box", 0) != 0;
    const Shape& scores = InputValue(kScores).shape;
    images_ = scores[0];
    classes_ = scores[1];
    boxes_ = scores[2];
    rows_ = OutputValue(0).shape[0];
    label_ = "node '" + node_.name + "' (" + node_.op_type + ")";
    phases_ = 2;
    const std::int64_t numbers = images_ * classes_ * (1 + boxes_) + workers_ * boxes_;
    scratch_bytes_ = AlignedSize(static_cast<std::size_t>(numbers) * sizeof(std::int32_t));
  }

  void Run(const KernelBuffers& buffers, int phase, int worker) const override {
    auto* const counts = reinterpret_cast<std::int32_t*>(buffers.scratch);
    std::int32_t* const selected = counts + images_ * classes_;
    if (phase == 1) return worker == 0 ? Write(buffers, counts, selected) : void();
    std::int32_t* const order = selected + images_ * classes_ * boxes_ + worker * boxes_;
    const Share share = ShareOf(images_ * classes_, workers_, worker);
    for (std::int64_t pair = share.begin; pair < share.end; ++pair)
      counts[pair] = Select(buffers, pair, order, selected + pair * boxes_);
  }

 private:
  float Threshold(const KernelBuffers& buffers, int input, float otherwise) const {
    if (!given_[static_cast<std::size_t>(input)]) return otherwise;
    float threshold;
    std::memcpy(&threshold, In(buffers, input), sizeof threshold);
    return threshold;
  }

  std::int64_t MostBoxes(const KernelBuffers& buffers) const {
    if (!given_[kMostBoxes]) return 0;
    std::int64_t most;
    std::memcpy(&most, In(buffers, kMostBoxes), sizeof most);
    return std::clamp<std::int64_t>(most, 0, boxes_);
  }

  // Of one image and class, by falling score; returns how many.
  std::int32_t Select(const KernelBuffers& buffers, std::int64_t pair, std::int32_t* order, std::int32_t* to) const {
    const std::int64_t most = MostBoxes(buffers);
    const auto* boxes = reinterpret_cast<const float*>(In(buffers, kBoxes)) + pair / classes_ * boxes_ * 4;
    const auto* scores = reinterpret_cast<const float*>(In(buffers, kScores)) + pair * boxes_;
    const float overlap = Threshold(buffers, kOverlap, 0);
    std::int32_t* end = order + boxes_;
    std::iota(order, end, 0);
    if (given_[kScore]) {
      const float least = Threshold(buffers, kScore, 0);
      end = std::remove_if(order, end, [&](std::int32_t box) { return !(scores[box] > least); });
    } else {
      end = std::remove_if(order, end, [&](std::int32_t box) { return scores[box] != scores[box]; });
    }
    std::sort(order, end, [scores](std::int32_t a, std::int32_t b) {
      return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
    });
    std::int32_t count = 0;
    for (const std::int32_t* next = order; next != end && count < most; ++next) {
      const Box box = BoxOf(boxes + std::int64_t{4} * *next, by_center_);
      const bool covered = std::any_of(to, to + count, [&](std::int32_t better) {
        return OverlapMoreThan(overlap, box, BoxOf(boxes + std::int64_t{4} * better, by_center_));
      });
      if (!covered) to[count++] = *next;
    }
    return count;
  }

  void Write(const KernelBuffers& buffers, const std::int32_t* counts, const std::int32_t* selected) const {
    auto* const out = reinterpret_cast<std::int64_t*>(Out(buffers, 0));
    std::int64_t found = 0;
    for (std::int64_t pair = 0; pair < images_ * classes_; ++pair) {
      for (std::int32_t i = 0; i < counts[pair]; ++i, ++found) {
        if (found >= rows_) continue;
        const std::int64_t row[] = {pair / classes_, pair % classes_, selected[pair * boxes_ + i]};
        std::memcpy(out + 3 * found, row, sizeof row);
      }
    }
    if (found < rows_) std::fill(out + 3 * found, out + 3 * rows_, 0);
    if (found != rows_ && buffers.fault != nullptr) buffers.fault->NoteRows(label_, found, rows_);
  }

  bool given_[5] = {};
  bool by_center_ = false;
  std::int64_t images_ = 0, classes_ = 0, boxes_ = 0, rows_ = 0;
  std::string label_;
};

bool IsOne(const Value* value, DataType type) {
  return value == nullptr || (value->type == type && ElementsOf(value->shape) == 1);
}

}  // namespace

std::unique_ptr<Kernel> MakeBoxSelection(const KernelRequest& request) {
  return std::make_unique<BoxSelection>(request);
}

std::string BoxSelectionUnsupported(const Model& model, int node_id) {
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* boxes = InputOf(model, node, kBoxes);
  const Value* scores = InputOf(model, node, kScores);
  const Value* out = OutputOf(model, node, 0);
  if (boxes == nullptr || scores == nullptr || out == nullptr) return node.op_type + " without its inputs";
  if (boxes->type != DataType::kFloat32 || scores->type != DataType::kFloat32)
    return node.op_type + " on " + NameOf(boxes->type);
  const Shape& b = boxes->shape;
  const Shape& s = scores->shape;
  if (b.size() != 3 || s.size() != 3 || b[0] != s[0] || b[1] != s[2] || b[2] != 4 || out->shape.size() != 2 ||
      out->shape[1] != 3 || ElementsOf(s) == 0 || ElementsOf(out->shape) == 0)
    return node.op_type + " on boxes and scores of other shapes";
  if (!IsOne(InputOf(model, node, kMostBoxes), DataType::kInt64) ||
      !IsOne(InputOf(model, node, kOverlap), DataType::kFloat32) ||
      !IsOne(InputOf(model, node, kScore), DataType::kFloat32))
    return node.op_type + " with limits that are no single numbers";
  return "";
}

}  // namespace millrace

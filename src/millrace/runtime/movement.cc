// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/movement.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/runtime/one_node_kernel.h"
#include "millrace/runtime/resize_coordinates.h"
#include "millrace/runtime/table_copy.h"

namespace millrace {
namespace {

using Tables = std::vector<TableCopy::Table>;
using Ints = std::vector<std::int64_t>;

// What a node's tables cannot be made of; caught here, it becomes the node's unsupported reason.
class Lacking : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

struct Movement {
  const Model& model;
  const Node& node;
  const Shape& in;
  const Shape& out;
  int output;  // which of the node's
};

// A parameter that is an attribute in old opsets and an input in newer ones.
Ints Parameter(const Movement& move, const char* attribute, int input, const Ints& otherwise) {
  if (move.node.attributes.contains(attribute)) return Model::IntsOf(move.node, attribute, otherwise);
  if (InputOf(move.model, move.node, input) == nullptr) return otherwise;
  Ints values;
  if (!ConstantInts(move.model, move.node, input, values))
    throw Lacking(move.node.op_type + " with computed " + attribute);
  return values;
}

Ints FirstInts(std::int64_t count) {
  Ints values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(i);
  return values;
}

Tables StraightTables(const Shape& out, const Ints& strides) {
  Tables tables;
  for (std::size_t d = 0; d < out.size(); ++d) tables.push_back(EvenTable(out[d], 0, strides[d]));
  return tables;
}

Tables TransposeTables(const Movement& move) {
  Ints reversed = FirstInts(static_cast<std::int64_t>(move.in.size()));
  std::reverse(reversed.begin(), reversed.end());
  const Ints order = Model::IntsOf(move.node, "perm", reversed);
  const Ints strides = StridesOf(move.in);
  Ints permuted;
  for (const std::int64_t axis : order)
    permuted.push_back(strides[static_cast<std::size_t>(PositiveAxis(move.node, axis, move.in.size()))]);
  if (permuted.size() != move.out.size()) throw Lacking("Transpose with a perm of another rank");
  return StraightTables(move.out, permuted);
}

Tables SliceTables(const Movement& move) {
  const Ints starts = Parameter(move, "starts", 1, {});
  const Ints axes = Parameter(move, "axes", 3, FirstInts(static_cast<std::int64_t>(starts.size())));
  const Ints steps = Parameter(move, "steps", 4, Ints(starts.size(), 1));
  const Ints strides = StridesOf(move.in);
  Tables tables = StraightTables(move.out, strides);
  if (axes.size() != starts.size() || steps.size() != starts.size())
    throw Lacking("Slice with starts, axes and steps of different lengths");
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto axis = static_cast<std::size_t>(PositiveAxis(move.node, axes[i], move.in.size()));
    const std::int64_t size = move.in[axis];
    std::int64_t start = starts[i] < 0 ? std::max<std::int64_t>(-1, starts[i] + size) : starts[i];
    start = steps[i] < 0 ? std::clamp<std::int64_t>(start, 0, std::max<std::int64_t>(0, size - 1))
                         : std::clamp<std::int64_t>(start, 0, size);
    tables[axis] = EvenTable(move.out[axis], start * strides[axis], steps[i] * strides[axis]);
  }
  return tables;
}

Tables SplitTables(const Movement& move) {
  const auto axis =
      static_cast<std::size_t>(PositiveAxis(move.node, Model::IntOf(move.node, "axis", 0), move.in.size()));
  std::int64_t start = 0;
  for (int i = 0; i < move.output; ++i) {
    const Value* before = OutputOf(move.model, move.node, i);
    if (before == nullptr) throw Lacking("Split with an output left out");
    start += before->shape[axis];
  }
  const Ints strides = StridesOf(move.in);
  Tables tables = StraightTables(move.out, strides);
  tables[axis] = EvenTable(move.out[axis], start * strides[axis], strides[axis]);
  return tables;
}

Tables RepeatTables(const Movement& move) {  // Expand and Tile
  const Ints strides = StridesOf(move.in);
  const std::size_t lead = move.out.size() - move.in.size();
  Tables tables;
  for (std::size_t d = 0; d < move.out.size(); ++d) {
    TableCopy::Table table(static_cast<std::size_t>(move.out[d]), 0);
    if (d >= lead && move.in[d - lead] > 0) {
      for (std::size_t i = 0; i < table.size(); ++i)
        table[i] = static_cast<std::int64_t>(i) % move.in[d - lead] * strides[d - lead];
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

Tables PadTables(const Movement& move) {
  const Ints pads = Parameter(move, move.node.attributes.contains("paddings") ? "paddings" : "pads", 1, {});
  const Ints axes = InputOf(move.model, move.node, 3) == nullptr ? FirstInts(static_cast<std::int64_t>(move.in.size()))
                                                                 : Parameter(move, "axes", 3, {});
  if (pads.size() != 2 * axes.size()) throw Lacking("Pad with pads of another rank");
  Ints before(move.in.size(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i)
    before[static_cast<std::size_t>(PositiveAxis(move.node, axes[i], move.in.size()))] = pads[i];
  const std::string mode = Model::StringOf(move.node, "mode", "constant");
  const Ints strides = StridesOf(move.in);
  Tables tables;
  for (std::size_t d = 0; d < move.in.size(); ++d) {
    const std::int64_t size = move.in[d];
    TableCopy::Table table;
    for (std::int64_t i = 0; i < move.out[d]; ++i) {
      std::int64_t from = i - before[d];
      if (mode == "edge") {
        from = std::clamp<std::int64_t>(from, 0, size - 1);
      } else if (mode == "reflect") {
        const std::int64_t period = std::max<std::int64_t>(1, 2 * (size - 1));
        from = ((from % period) + period) % period;
        from = std::min(from, period - from);
        if (size == 1) from = 0;
      } else if (mode == "wrap" && size > 0) {
        from = ((from % size) + size) % size;
      } else if (mode != "constant") {
        throw Lacking("Pad in mode " + mode);
      }
      table.push_back(from < 0 || from >= size ? TableCopy::kFill : from * strides[d]);
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

// Along every axis whose size changes, the middle of what is there, or zeros on both sides of it.
Tables CenterTables(const Movement& move) {
  const Ints strides = StridesOf(move.in);
  Tables tables;
  for (std::size_t d = 0; d < move.in.size(); ++d) {
    const std::int64_t more = move.out[d] - move.in[d];
    const std::int64_t before = more >= 0 ? more / 2 : -(-more / 2);
    TableCopy::Table table;
    for (std::int64_t i = 0; i < move.out[d]; ++i) {
      const std::int64_t from = i - before;
      table.push_back(from < 0 || from >= move.in[d] ? TableCopy::kFill : from * strides[d]);
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

// Space and depth: as a tensor of six dimensions whose order changes.
Tables SpaceTables(const Movement& move) {
  const std::int64_t block = Model::IntOf(move.node, "blocksize", 1);
  if (move.in.size() != 4 || block < 1) throw Lacking(move.node.op_type + " of another rank than 4");
  const Ints strides = StridesOf(move.in);
  const bool to_space = move.node.op_type == "DepthToSpace";
  const Shape& deep = to_space ? move.in : move.out;
  const std::int64_t channels = deep[1] / (block * block), height = deep[2], width = deep[3];
  if (channels * block * block != deep[1]) throw Lacking(move.node.op_type + " with a block that does not fit");
  const auto table = [](std::int64_t count, std::int64_t step) { return EvenTable(count, 0, step); };
  if (!to_space) {
    return {table(move.in[0], strides[0]), table(block, strides[2]),          table(block, 1),
            table(channels, strides[1]),   table(height, block * strides[2]), table(width, block)};
  }
  const bool channels_first = Model::StringOf(move.node, "mode", "DCR") == "CRD";
  const std::int64_t channel_step = channels_first ? block * block * strides[1] : strides[1];
  const std::int64_t block_step = channels_first ? strides[1] : channels * strides[1];
  return {table(move.in[0], strides[0]),
          table(channels, channel_step),
          table(height, strides[2]),
          table(block, block * block_step),
          table(width, 1),
          table(block, block_step)};
}

Tables NearestTables(const Movement& move) {
  const ResizeCoordinates coordinates(move.model, move.node);
  if (!coordinates.unsupported().empty()) throw Lacking(coordinates.unsupported());
  if (coordinates.mode() != "nearest") throw Lacking(move.node.op_type + " in mode " + coordinates.mode());
  const Ints strides = StridesOf(move.in);
  Tables tables;
  for (std::size_t d = 0; d < move.in.size(); ++d) {
    TableCopy::Table table;
    for (std::int64_t i = 0; i < move.out[d]; ++i) {
      const std::int64_t from = coordinates.Nearest(d, i, move.in[d], move.out[d]);
      table.push_back(from < 0 ? TableCopy::kFill : from * strides[d]);
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

Tables TablesOf(const Movement& move) {
  const std::string& op = move.node.op_type;
  if (op == "Transpose") return TransposeTables(move);
  if (op == "Slice") return SliceTables(move);
  if (op == "Split") return SplitTables(move);
  if (op == "Pad") return PadTables(move);
  if (op == "CenterCropPad") return CenterTables(move);
  if (op == "Expand" || op == "Tile") return RepeatTables(move);
  if (op == "DepthToSpace" || op == "SpaceToDepth") return SpaceTables(move);
  return NearestTables(move);
}

bool RankMayChange(const std::string& op) { return op == "Expand"; }

class MovementKernel : public OneNodeKernel {
 public:
  explicit MovementKernel(const KernelRequest& request) : OneNodeKernel(request) {
    ReadInput(0);
    const std::size_t bytes = BytesOf(InputValue(0).type);
    grain_ = LineElements(InputValue(0).type);
    filler_.resize(8);
    if (node_.op_type == "Pad") {
      if (HasInput(2)) {
        ReadInput(2);
        filler_input_ = true;
      } else if (InputValue(0).type == DataType::kFloat32) {
        const float value = Model::FloatOf(node_, "value", 0.0f);
        std::memcpy(filler_.data(), &value, sizeof value);
      }
    } else if (InputValue(0).type == DataType::kFloat32) {
      const float value = Model::FloatOf(node_, "extrapolation_value", 0.0f);
      std::memcpy(filler_.data(), &value, sizeof value);
    }
    for (int i = 0; i < static_cast<int>(node_.outputs.size()); ++i) {
      if (!HasOutput(i)) continue;
      copies_.emplace_back(i,
                           TableCopy(TablesOf({model_, node_, InputValue(0).shape, OutputValue(i).shape, i}), bytes));
    }
  }

  void Run(const KernelBuffers& buffers, int, int worker) const override {
    const std::byte* filler = filler_input_ ? In(buffers, 2) : filler_.data();
    for (const auto& [output, copy] : copies_) {
      const Share share = ShareOf(copy.elements(), workers_, worker, grain_);
      copy.Copy(In(buffers, 0), Out(buffers, output), filler, share.begin, share.end);
    }
  }

 private:
  std::vector<std::pair<int, TableCopy>> copies_;
  std::vector<std::byte> filler_;
  bool filler_input_ = false;
  std::int64_t grain_ = 1;
};

class CopyKernel : public OneNodeKernel {
 public:
  explicit CopyKernel(const KernelRequest& request) : OneNodeKernel(request) {
    ReadInput(0);
    bytes_ = static_cast<std::int64_t>(SpecOfOutput().bytes());
  }
  void Run(const KernelBuffers& buffers, int, int worker) const override {
    const Share share = ShareOf(bytes_, workers_, worker, 4096);
    if (share.size() > 0)
      std::memcpy(Out(buffers, 0) + share.begin, In(buffers, 0) + share.begin, static_cast<std::size_t>(share.size()));
  }

 private:
  const TensorSpec& SpecOfOutput() const { return output_specs_[0]; }
  std::int64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> MakeMovement(const KernelRequest& request) { return std::make_unique<MovementKernel>(request); }

std::string MovementUnsupported(const Model& model, int node_id) {
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* in = InputOf(model, node, 0);
  if (in == nullptr || in->type == DataType::kString) return node.op_type + " without a tensor of numbers";
  try {
    for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i) {
      const Value* out = OutputOf(model, node, i);
      if (out == nullptr) continue;
      if (RankMayChange(node.op_type) ? out->shape.size() < in->shape.size() : out->shape.size() != in->shape.size()) {
        return node.op_type + " to another rank";
      }
      TablesOf({model, node, in->shape, out->shape, i});
    }
  } catch (const Lacking& lacking) {
    return lacking.what();
  }
  return "";
}

std::unique_ptr<Kernel> MakeCopy(const KernelRequest& request) { return std::make_unique<CopyKernel>(request); }

std::string CopyUnsupported(const Model& model, int node_id) {
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* in = InputOf(model, node, 0);
  const Value* out = OutputOf(model, node, 0);
  if (in == nullptr || out == nullptr || in->type == DataType::kString)
    return node.op_type + " without a tensor of numbers";
  if (ElementsOf(in->shape) != ElementsOf(out->shape)) return node.op_type + " to another number of elements";
  return "";
}

}  // namespace millrace

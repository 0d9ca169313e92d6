// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/concatenation.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "millrace/runtime/aligned_memory.h"
#include "millrace/runtime/blocked_tensor.h"
#include "millrace/runtime/primitive_kernel.h"
#include "millrace/runtime/reorder.h"
#include "millrace/runtime/value_readers.h"

namespace millrace {
namespace {

class Concatenation : public PrimitiveKernel {
 public:
  explicit Concatenation(const KernelRequest& request) : PrimitiveKernel(request) {
    const Model& model = *request.model;
    const Node& node = model.nodes[static_cast<std::size_t>(request.nodes.front())];
    const Shape shape = output_specs_.front().shape;
    const std::int64_t given = Model::IntOf(node, "axis", 1);
    const auto axis = static_cast<std::size_t>(given < 0 ? given + static_cast<std::int64_t>(shape.size()) : given);
    const Layout layout = KeepsBlocks(request, node, axis)   ? Layout::kBlocked
                          : KeepsChannelsLast(request, node) ? Layout::kChannelsLast
                                                             : Layout::kPlain;
    const bool blocked = layout == Layout::kBlocked;
    for (TensorSpec& spec : input_specs_) spec.layout = layout;
    output_specs_.front().layout = layout;
    // In blocks, a tensor is one of more dimensions: images, blocks, rows, columns, and a block of channels as its
    // elements. With the channels innermost it is one of other dimensions.
    const bool innermost = layout == Layout::kChannelsLast;
    const std::size_t place = !innermost || axis == 0 ? axis : axis == 1 ? shape.size() - 1 : axis - 1;
    const auto dimensions = [blocked, innermost](Shape of) {
      if (blocked) of[1] = (of[1] + ChannelBlock() - 1) / ChannelBlock();
      if (innermost) std::rotate(of.begin() + 1, of.begin() + 2, of.end());
      return of;
    };
    const std::size_t element =
        BytesOf(output_specs_.front().type) * static_cast<std::size_t>(blocked ? ChannelBlock() : 1);
    const auto piece_of = [&](const Shape& of) {
      return static_cast<std::size_t>(ElementsFrom(dimensions(of), place)) * element;
    };
    std::int64_t rows = 1;
    for (std::size_t i = 0; i < place; ++i) rows *= dimensions(shape)[i];
    const std::size_t output_piece = piece_of(shape);
    std::size_t at = 0;
    std::set<int> placed;
    for (const int value : node.inputs) {
      const std::size_t piece = piece_of(model.values[static_cast<std::size_t>(value)].shape);
      const bool whole = rows == 1 && piece > 0 && at % kMemoryAlignment == 0;
      if (whole && ConstantOf(model, value) == nullptr && placed.insert(value).second)
        placed_inputs_.push_back({static_cast<int>(InputIndex(value)), at});
      if (piece > 0 && rows > 0) ShareOut(SourceOf(model, value), piece, at, output_piece, rows);
      at += piece;
    }
  }

 private:
  // Whether most inputs have the channels innermost, or of floats some do and most of the others lie in blocks.
  static bool KeepsChannelsLast(const KernelRequest& request, const Node& node) {
    std::size_t innermost = 0, blocked = 0;
    for (const int input : node.inputs) {
      const Value& value = request.model->values[static_cast<std::size_t>(input)];
      if (value.constant != nullptr || !CanHaveChannelsLast(value.type, value.shape)) return false;
      innermost += request.available[static_cast<std::size_t>(input)] == Layout::kChannelsLast;
      blocked += request.available[static_cast<std::size_t>(input)] == Layout::kBlocked;
    }
    return innermost > 0 && 2 * (innermost + blocked) > node.inputs.size();
  }

  // Whether most inputs are blocked and whole blocks can be copied.
  bool KeepsBlocks(const KernelRequest& request, const Node& node, std::size_t axis) const {
    std::size_t blocked = 0;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Value& value = request.model->values[static_cast<std::size_t>(node.inputs[i])];
      if (value.constant != nullptr || !CanBeBlocked(value.type, value.shape)) return false;
      if (axis == 1 && i + 1 < node.inputs.size() && value.shape[1] % ChannelBlock() != 0) return false;
      if (request.available[static_cast<std::size_t>(node.inputs[i])] == Layout::kBlocked) ++blocked;
    }
    return 2 * blocked > node.inputs.size();
  }

  Operand SourceOf(const Model& model, int value) {
    const ConstantData* constant = ConstantOf(model, value);
    if (constant == nullptr) return Operand::Input(InputIndex(value));
    std::vector<float> room((constant->bytes() + sizeof(float) - 1) / sizeof(float));
    constant->CopyTo(reinterpret_cast<std::byte*>(room.data()));
    return KeepFloats(room);
  }

  // One input's pieces, `piece` bytes in each of `rows` rows of the output; few rows are shared out inside.
  void ShareOut(const Operand& source, std::size_t piece, std::size_t at, std::size_t output_piece, std::int64_t rows) {
    for (int worker = 0; worker < workers(); ++worker) {
      const bool by_rows = rows >= std::int64_t{2} * workers();
      const Share own_rows = by_rows ? ShareOf(rows, workers(), worker) : Share{0, rows};
      const auto bytes = static_cast<std::int64_t>(piece);
      const Share own_bytes = by_rows ? Share{0, bytes} : ShareOf(bytes, workers(), worker, 64);
      if (own_rows.size() == 0 || own_bytes.size() == 0) continue;
      AddTask(0, worker, [=](const KernelBuffers& buffers) {
        const std::byte* from = source.Read(buffers) + own_bytes.begin;
        std::byte* to = buffers.outputs[0] + at + own_bytes.begin;
        if (from == to) return;
        for (std::int64_t row = own_rows.begin; row < own_rows.end; ++row) {
          std::memcpy(to + static_cast<std::size_t>(row) * output_piece, from + static_cast<std::size_t>(row) * piece,
                      static_cast<std::size_t>(own_bytes.size()));
        }
      });
    }
  }
};

std::unique_ptr<Kernel> MakeConcatenation(const KernelRequest& request) {
  return std::make_unique<Concatenation>(request);
}

std::string UnsupportedConcatenation(const Model& model, int node) {
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  const Value& output = model.values[static_cast<std::size_t>(of.outputs[0])];
  return output.type == DataType::kString ? "Concat on string" : "";
}

}  // namespace

std::vector<KernelEntry> ConcatenationKernels() { return {{"Concat", MakeConcatenation, UnsupportedConcatenation}}; }

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/generate.h"

#include <algorithm>
#include <cstring>

#include "millrace/runtime/element_types.h"
#include "millrace/runtime/one_node_kernel.h"

namespace millrace {
namespace {

// The elements of the output, or nothing where they cannot be known before a run.
std::vector<std::byte> Generated(const Model& model, const Node& node) {
  const Value* input = InputOf(model, node, 0);
  const Value& out = *OutputOf(model, node, 0);
  std::vector<std::byte> bytes(static_cast<std::size_t>(ElementsOf(out.shape)) * BytesOf(out.type));
  const auto put = [&](std::int64_t at, const auto& value) {
    std::memcpy(bytes.data() + static_cast<std::size_t>(at) * sizeof value, &value, sizeof value);
  };
  if (node.op_type == "Size") {
    put(0, ElementsOf(input->shape));
  } else if (node.op_type == "Shape") {
    const auto rank = static_cast<std::int64_t>(input->shape.size());
    std::int64_t start = Model::IntOf(node, "start", 0);
    start = std::clamp<std::int64_t>(start < 0 ? start + rank : start, 0, rank);
    for (std::int64_t i = 0; i < ElementsOf(out.shape) && start + i < rank; ++i)
      put(i, input->shape[static_cast<std::size_t>(start + i)]);
  } else if (node.op_type == "ConstantOfShape") {
    const auto found = node.attributes.find("value");
    if (found == node.attributes.end()) return bytes;
    const auto* value = std::get_if<std::shared_ptr<const ConstantData>>(&found->second);
    if (value == nullptr || *value == nullptr || (*value)->type() != out.type || ElementsOf((*value)->shape()) != 1)
      return {};
    std::vector<std::byte> one((*value)->bytes());
    (*value)->CopyTo(one.data());
    ConstantData::Filled(out.type, out.shape, one)->CopyTo(bytes.data());
  } else {  // EyeLike
    const std::int64_t diagonal = Model::IntOf(node, "k", 0);
    const std::int64_t rows = out.shape[0], columns = out.shape[1];
    for (std::int64_t row = 0; row < rows; ++row) {
      if (row + diagonal < 0 || row + diagonal >= columns) continue;
      const std::int64_t at = row * columns + row + diagonal;
      if (out.type == DataType::kBool) put(at, std::uint8_t{1});
      ForNumber(out.type, [&](auto tag) { put(at, static_cast<typename decltype(tag)::type>(1)); });
    }
  }
  return bytes;
}

class GeneratorKernel : public OneNodeKernel {
 public:
  explicit GeneratorKernel(const KernelRequest& request) : OneNodeKernel(request), bytes_(Generated(model_, node_)) {}
  void Run(const KernelBuffers& buffers, int, int worker) const override {
    const Share share = ShareOf(static_cast<std::int64_t>(bytes_.size()), workers_, worker, 4096);
    if (share.size() > 0)
      std::memcpy(Out(buffers, 0) + share.begin, bytes_.data() + share.begin, static_cast<std::size_t>(share.size()));
  }

 private:
  std::vector<std::byte> bytes_;
};

using RangeLoop = void (*)(const std::byte* start, const std::byte* step, std::byte* out, Share share);

template <typename T>
void FillRange(const std::byte* start, const std::byte* step, std::byte* out, Share share) {
  const T first = *reinterpret_cast<const T*>(start), each = *reinterpret_cast<const T*>(step);
  for (std::int64_t i = share.begin; i < share.end; ++i)
    reinterpret_cast<T*>(out)[i] = static_cast<T>(first + static_cast<T>(i) * each);
}

RangeLoop RangeLoopFor(DataType type) {
  RangeLoop loop = nullptr;
  ForSignedOrFloat(type, [&](auto tag) { loop = &FillRange<typename decltype(tag)::type>; });
  return loop;
}

class RangeKernel : public OneNodeKernel {
 public:
  explicit RangeKernel(const KernelRequest& request) : OneNodeKernel(request) {
    ReadInput(0);
    ReadInput(2);
    loop_ = RangeLoopFor(OutputValue(0).type);
    elements_ = ElementsOf(OutputValue(0).shape);
  }
  void Run(const KernelBuffers& buffers, int, int worker) const override {
    loop_(In(buffers, 0), In(buffers, 2), Out(buffers, 0), ShareOf(elements_, workers_, worker, 16));
  }

 private:
  RangeLoop loop_ = nullptr;
  std::int64_t elements_ = 0;
};

class TriluKernel : public OneNodeKernel {
 public:
  explicit TriluKernel(const KernelRequest& request) : OneNodeKernel(request) {
    ReadInput(0);
    if (HasInput(1)) ReadInput(1);
    diagonal_given_ = HasInput(1);
    upper_ = Model::IntOf(node_, "upper", 1) != 0;
    const Shape& shape = OutputValue(0).shape;
    columns_ = shape.back();
    height_ = shape[shape.size() - 2];
    rows_ = columns_ == 0 ? 0 : ElementsOf(shape) / columns_;
    bytes_ = BytesOf(OutputValue(0).type);
  }
  void Run(const KernelBuffers& buffers, int, int worker) const override {
    std::int64_t diagonal = 0;
    if (diagonal_given_) std::memcpy(&diagonal, In(buffers, 1), sizeof diagonal);
    const Share share = ShareOf(rows_, workers_, worker);
    const std::size_t row_bytes = static_cast<std::size_t>(columns_) * bytes_;
    for (std::int64_t row = share.begin; row < share.end; ++row) {
      // Columns before `cut` are kept by the lower triangle, those from it on by the upper.
      const std::int64_t limit = std::clamp(diagonal, -height_, columns_ + 1);
      const std::int64_t cut = std::clamp<std::int64_t>(row % height_ + limit + (upper_ ? 0 : 1), 0, columns_);
      const std::size_t cut_bytes = static_cast<std::size_t>(cut) * bytes_;
      const std::byte* from = In(buffers, 0) + static_cast<std::size_t>(row) * row_bytes;
      std::byte* to = Out(buffers, 0) + static_cast<std::size_t>(row) * row_bytes;
      if (upper_) {
        std::memset(to, 0, cut_bytes);
        std::memcpy(to + cut_bytes, from + cut_bytes, row_bytes - cut_bytes);
      } else {
        std::memcpy(to, from, cut_bytes);
        std::memset(to + cut_bytes, 0, row_bytes - cut_bytes);
      }
    }
  }

 private:
  bool diagonal_given_ = false, upper_ = true;
  std::int64_t rows_ = 0, height_ = 1, columns_ = 0;
  std::size_t bytes_ = 4;
};

class MaskedDropoutKernel : public OneNodeKernel {
 public:
  explicit MaskedDropoutKernel(const KernelRequest& request) : OneNodeKernel(request) {
    ReadInput(0);
    elements_ = ElementsOf(InputValue(0).shape);
    bytes_ = static_cast<std::int64_t>(BytesOf(InputValue(0).type));
    if (HasOutput(1)) mask_type_ = OutputValue(1).type;
  }
  void Run(const KernelBuffers& buffers, int, int worker) const override {
    const Share share = ShareOf(elements_, workers_, worker, 64);
    if (share.size() == 0) return;
    if (HasOutput(0)) {
      std::memcpy(Out(buffers, 0) + share.begin * bytes_, In(buffers, 0) + share.begin * bytes_,
                  static_cast<std::size_t>(share.size() * bytes_));
    }
    if (!HasOutput(1)) return;
    if (mask_type_ == DataType::kBool) {
      std::memset(Out(buffers, 1) + share.begin, 1, static_cast<std::size_t>(share.size()));
    } else {
      float* mask = reinterpret_cast<float*>(Out(buffers, 1));
      std::fill(mask + share.begin, mask + share.end, 1.0f);
    }
  }

 private:
  std::int64_t elements_ = 0, bytes_ = 4;
  DataType mask_type_ = DataType::kBool;
};

// Rows of the output above the axis, each made of one stretch of every input.
class AnyConcatKernel : public OneNodeKernel {
 public:
  explicit AnyConcatKernel(const KernelRequest& request) : OneNodeKernel(request) {
    const Shape& out = OutputValue(0).shape;
    const auto axis = static_cast<std::size_t>(PositiveAxis(node_, Model::IntOf(node_, "axis", 1), out.size()));
    std::int64_t inner = static_cast<std::int64_t>(BytesOf(OutputValue(0).type));
    for (std::size_t d = axis + 1; d < out.size(); ++d) inner *= out[d];
    for (std::size_t d = 0; d < axis; ++d) rows_ *= out[d];
    for (int i = 0; i < static_cast<int>(node_.inputs.size()); ++i) {
      ReadInput(i);
      stretches_.push_back(InputValue(i).shape[axis] * inner);
      row_bytes_ += stretches_.back();
    }
  }
  void Run(const KernelBuffers& buffers, int, int worker) const override {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      const std::int64_t stretch = stretches_[i];
      const Share share = ShareOf(rows_ * stretch, workers_, worker, 4096);
      const std::byte* from = In(buffers, static_cast<int>(i));
      for (std::int64_t done = share.begin; done < share.end;) {
        const std::int64_t column = done % stretch, length = std::min(stretch - column, share.end - done);
        std::memcpy(Out(buffers, 0) + done / stretch * row_bytes_ + at + column, from + done,
                    static_cast<std::size_t>(length));
        done += length;
      }
      at += stretch;
    }
  }

 private:
  std::int64_t rows_ = 1, row_bytes_ = 0;
  std::vector<std::int64_t> stretches_;
};

}  // namespace

std::unique_ptr<Kernel> MakeGenerator(const KernelRequest& request) {
  if (request.model->nodes[static_cast<std::size_t>(request.nodes[0])].op_type == "Range")
    return std::make_unique<RangeKernel>(request);
  return std::make_unique<GeneratorKernel>(request);
}

std::string GeneratorUnsupported(const Model& model, int node_id) {
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* out = OutputOf(model, node, 0);
  if (out == nullptr || InputOf(model, node, 0) == nullptr) return node.op_type + " without its input";
  if (node.op_type == "Range") {
    if (InputOf(model, node, 2) == nullptr || RangeLoopFor(out->type) == nullptr)
      return std::string("Range on ") + NameOf(out->type);
    return "";
  }
  if (node.op_type == "EyeLike" && out->shape.size() != 2) return "EyeLike of another rank than 2";
  const bool nothing = ElementsOf(out->shape) == 0;
  if (BytesOf(out->type) == 0 || (!nothing && Generated(model, node).empty()))
    return node.op_type + " of " + NameOf(out->type);
  return "";
}

std::unique_ptr<Kernel> MakeTrilu(const KernelRequest& request) { return std::make_unique<TriluKernel>(request); }

std::string TriluUnsupported(const Model& model, int node_id) {
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* in = InputOf(model, node, 0);
  const Value* diagonal = InputOf(model, node, 1);
  if (in == nullptr || in->shape.size() < 2 || BytesOf(in->type) == 0) return "Trilu without a matrix of numbers";
  if (diagonal != nullptr && (diagonal->type != DataType::kInt64 || ElementsOf(diagonal->shape) != 1))
    return "Trilu with several diagonals";
  return "";
}

std::unique_ptr<Kernel> MakeMaskedDropout(const KernelRequest& request) {
  return std::make_unique<MaskedDropoutKernel>(request);
}

std::string MaskedDropoutUnsupported(const Model& model, int node_id) {
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* in = InputOf(model, node, 0);
  if (in == nullptr || BytesOf(in->type) == 0) return "Dropout without a tensor of numbers";
  std::vector<std::int64_t> training;
  if (InputOf(model, node, 2) != nullptr &&
      (!ConstantInts(model, node, 2, training) || training != std::vector<std::int64_t>{0}))
    return "Dropout while training";
  const Value* mask = OutputOf(model, node, 1);
  if (mask != nullptr && mask->type != DataType::kBool && mask->type != DataType::kFloat32)
    return std::string("Dropout with a mask of ") + NameOf(mask->type);
  return "";
}

std::unique_ptr<Kernel> MakeAnyConcat(const KernelRequest& request) {
  return std::make_unique<AnyConcatKernel>(request);
}

std::string AnyConcatUnsupported(const Model& model, int node_id) {
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* out = OutputOf(model, node, 0);
  if (out == nullptr || BytesOf(out->type) == 0) return "Concat of anything but numbers";
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    const Value* in = InputOf(model, node, i);
    if (in == nullptr || in->type != out->type || in->shape.size() != out->shape.size())
      return "Concat of unlike tensors";
  }
  return out->shape.empty() ? "Concat of scalars" : "";
}

}  // namespace millrace

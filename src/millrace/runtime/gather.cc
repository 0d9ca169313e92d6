// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/gather.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "millrace/runtime/element_types.h"
#include "millrace/runtime/one_node_kernel.h"
#include "millrace/runtime/run_fault.h"

namespace millrace {
namespace {

std::int64_t IndexAt(const std::byte* indices, DataType type, std::int64_t i) {
  switch (type) {
    case DataType::kInt32: {
      std::int32_t index;
      std::memcpy(&index, indices + i * 4, 4);
      return index;
    }
    case DataType::kFloat32: {  // OneHot takes them
      float index;
      std::memcpy(&index, indices + i * 4, 4);
      return static_cast<std::int64_t>(index);
    }
    default: {
      std::int64_t index;
      std::memcpy(&index, indices + i * 8, 8);
      return index;
    }
  }
}

std::int64_t Product(const Shape& shape, std::size_t from, std::size_t to) {
  return ElementsOf(
      Shape(shape.begin() + static_cast<std::ptrdiff_t>(from), shape.begin() + static_cast<std::ptrdiff_t>(to)));
}

class IndexedKernel : public OneNodeKernel {
 protected:
  IndexedKernel(const KernelRequest& request, int indices) : OneNodeKernel(request), indices_(indices) {
    for (int i = 0; i < static_cast<int>(node_.inputs.size()); ++i) ReadInput(i);
    index_type_ = InputValue(indices).type;
    bytes_ = static_cast<std::int64_t>(BytesOf(OutputValue(0).type));
    looked_into_ = InputValue(0).shape;
    has_indices_ = ElementsOf(InputValue(indices).shape) > 0;
    label_ = "node '" + node_.name + "' (" + node_.op_type + ")";
  }
  // Index number `i`, counted from the front; 0 where it lies outside the axis of `size`, which is a fault of the run.
  std::int64_t Index(const KernelBuffers& buffers, std::int64_t i, std::int64_t size) const {
    const std::int64_t index = IndexAt(In(buffers, indices_), index_type_, i);
    if (index >= -size && index < size) return index < 0 ? index + size : index;
    if (buffers.fault != nullptr) buffers.fault->Note(label_, index, size);
    return 0;
  }
  // Are there indices for a tensor without elements? Then the first of them is a fault, and nothing can be moved.
  bool LooksIntoNothing(const KernelBuffers& buffers) const {
    if (ElementsOf(looked_into_) > 0) return false;
    if (has_indices_) Index(buffers, 0, 0);
    return true;
  }
  void Move(const std::byte* from, std::byte* to, std::int64_t elements) const {
    std::memcpy(to, from, static_cast<std::size_t>(elements * bytes_));
  }

  int indices_;
  DataType index_type_;
  std::int64_t bytes_ = 4;

 private:
  std::string label_;
  Shape looked_into_;
  bool has_indices_ = false;
};

class GatherKernel : public IndexedKernel {
 public:
  explicit GatherKernel(const KernelRequest& request) : IndexedKernel(request, 1) {
    const Shape& data = InputValue(0).shape;
    const auto axis = static_cast<std::size_t>(PositiveAxis(node_, Model::IntOf(node_, "axis", 0), data.size()));
    outer_ = Product(data, 0, axis);
    size_ = data[axis];
    inner_ = Product(data, axis + 1, data.size());
    count_ = ElementsOf(InputValue(1).shape);
  }
  void Run(const KernelBuffers& buffers, int, int worker) const override {
    if (LooksIntoNothing(buffers)) return;
    const Share share =
        ShareOf(outer_ * count_, workers_, worker, std::max<std::int64_t>(1, 64 / (inner_ * bytes_ + 1)));
    for (std::int64_t row = share.begin; row < share.end; ++row) {
      const std::int64_t from = row / count_ * size_ + Index(buffers, row % count_, size_);
      Move(In(buffers, 0) + from * inner_ * bytes_, Out(buffers, 0) + row * inner_ * bytes_, inner_);
    }
  }

 private:
  std::int64_t outer_, size_, inner_, count_;
};

// The offset of an element, all but the axis taken from its own position among the indices.
struct ElementPlaces {
  Shape shape;                        // of the indices
  std::vector<std::int64_t> strides;  // of the tensor looked into; 0 along the axis
  std::int64_t size = 1, axis_stride = 1;

  ElementPlaces(const Node& node, const Shape& indices, const Shape& data) : shape(indices), strides(StridesOf(data)) {
    const auto axis = static_cast<std::size_t>(PositiveAxis(node, Model::IntOf(node, "axis", 0), data.size()));
    size = data[axis];
    axis_stride = strides[axis];
    strides[axis] = 0;
  }
  std::int64_t Offset(std::int64_t element) const {
    std::int64_t offset = 0;
    for (std::size_t d = shape.size(); d-- > 0;) {
      offset += element % shape[d] * strides[d];
      element /= shape[d];
    }
    return offset;
  }
};

class GatherElementsKernel : public IndexedKernel {
 public:
  explicit GatherElementsKernel(const KernelRequest& request)
      : IndexedKernel(request, 1), places_(node_, InputValue(1).shape, InputValue(0).shape) {}
  void Run(const KernelBuffers& buffers, int, int worker) const override {
    if (LooksIntoNothing(buffers)) return;
    const Share share = ShareOf(ElementsOf(places_.shape), workers_, worker, 64);
    for (std::int64_t i = share.begin; i < share.end; ++i) {
      const std::int64_t from = places_.Offset(i) + Index(buffers, i, places_.size) * places_.axis_stride;
      Move(In(buffers, 0) + from * bytes_, Out(buffers, 0) + i * bytes_, 1);
    }
  }

 private:
  ElementPlaces places_;
};

// The offset that a tuple of indices names in a tensor.
struct TuplePlaces {
  std::int64_t tuple = 1, tuples = 1, slice = 1;
  Shape sizes;
  std::vector<std::int64_t> strides;

  TuplePlaces(const Shape& indices, const Shape& data, std::size_t batch_dimensions) {
    tuple = indices.back();
    tuples = Product(indices, 0, indices.size() - 1);
    const std::vector<std::int64_t> all = StridesOf(data);
    for (std::size_t d = batch_dimensions; d < batch_dimensions + static_cast<std::size_t>(tuple); ++d) {
      sizes.push_back(data[d]);
      strides.push_back(all[d]);
    }
    slice = Product(data, batch_dimensions + static_cast<std::size_t>(tuple), data.size());
  }
};

class GatherNdKernel : public IndexedKernel {
 public:
  explicit GatherNdKernel(const KernelRequest& request)
      : IndexedKernel(request, 1),
        places_(InputValue(1).shape, InputValue(0).shape, static_cast<std::size_t>(Batch())) {
    const auto batch = static_cast<std::size_t>(Batch());
    batches_ = Product(InputValue(0).shape, 0, batch);
    batch_elements_ = Product(InputValue(0).shape, batch, InputValue(0).shape.size());
  }
  void Run(const KernelBuffers& buffers, int, int worker) const override {
    if (LooksIntoNothing(buffers)) return;
    const Share share = ShareOf(places_.tuples, workers_, worker, 16);
    const std::int64_t each = batches_ > 0 ? std::max<std::int64_t>(1, places_.tuples / batches_) : 1;
    for (std::int64_t i = share.begin; i < share.end; ++i) {
      std::int64_t from = i / each * batch_elements_;
      for (std::size_t d = 0; d < places_.sizes.size(); ++d) {
        from += Index(buffers, i * places_.tuple + static_cast<std::int64_t>(d), places_.sizes[d]) * places_.strides[d];
      }
      Move(In(buffers, 0) + from * bytes_, Out(buffers, 0) + i * places_.slice * bytes_, places_.slice);
    }
  }

 private:
  std::int64_t Batch() const { return Model::IntOf(node_, "batch_dims", 0); }
  TuplePlaces places_;
  std::int64_t batches_ = 1, batch_elements_ = 1;
};

// Combines updates into the data: replaces, adds, multiplies, or keeps the least or most.
using Combine = void (*)(const std::byte* update, std::byte* to, std::int64_t elements);

enum class How { kAdd, kMultiply, kLeast, kMost };

template <typename T, How how>
void CombineAll(const std::byte* update, std::byte* to, std::int64_t elements) {
  const T* from = reinterpret_cast<const T*>(update);
  T* into = reinterpret_cast<T*>(to);
  for (std::int64_t i = 0; i < elements; ++i) {
    if constexpr (how == How::kAdd) into[i] = static_cast<T>(into[i] + from[i]);
    if constexpr (how == How::kMultiply) into[i] = static_cast<T>(into[i] * from[i]);
    if constexpr (how == How::kLeast) into[i] = std::min(into[i], from[i]);
    if constexpr (how == How::kMost) into[i] = std::max(into[i], from[i]);
  }
}

template <typename T>
Combine CombineNumbers(const std::string& how) {
  if (how == "add") return &CombineAll<T, How::kAdd>;
  if (how == "mul") return &CombineAll<T, How::kMultiply>;
  if (how == "min") return &CombineAll<T, How::kLeast>;
  return how == "max" ? &CombineAll<T, How::kMost> : nullptr;
}

Combine CombineOf(const Node& node, DataType type) {
  const std::string how = Model::StringOf(node, "reduction", "none");
  Combine combine = nullptr;
  if (how == "none") {
    ForSize(type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      combine = [](const std::byte* update, std::byte* to, std::int64_t elements) {
        std::memcpy(to, update, static_cast<std::size_t>(elements) * sizeof(T));
      };
    });
  } else {
    ForSignedOrFloat(type, [&](auto tag) { combine = CombineNumbers<typename decltype(tag)::type>(how); });
  }
  return combine;
}

// First everybody copies the data; then one worker updates it, for the same place may be named twice.
class ScatterKernel : public IndexedKernel {
 public:
  explicit ScatterKernel(const KernelRequest& request)
      : IndexedKernel(request, 1), combine_(CombineOf(node_, OutputValue(0).type)) {
    phases_ = 2;
    elements_ = ElementsOf(OutputValue(0).shape);
  }
  void Run(const KernelBuffers& buffers, int phase, int worker) const override {
    if (phase == 0) {
      const Share share = ShareOf(elements_, workers_, worker, 1024);
      if (share.size() > 0)
        Move(In(buffers, 0) + share.begin * bytes_, Out(buffers, 0) + share.begin * bytes_, share.size());
    } else if (worker == 0 && !LooksIntoNothing(buffers)) {
      Update(buffers);
    }
  }

 protected:
  virtual void Update(const KernelBuffers& buffers) const = 0;
  Combine combine_;

 private:
  std::int64_t elements_ = 0;
};

class ScatterElementsKernel : public ScatterKernel {
 public:
  explicit ScatterElementsKernel(const KernelRequest& request)
      : ScatterKernel(request), places_(node_, InputValue(1).shape, InputValue(0).shape) {}

 private:
  void Update(const KernelBuffers& buffers) const override {
    for (std::int64_t i = 0; i < ElementsOf(places_.shape); ++i) {
      const std::int64_t to = places_.Offset(i) + Index(buffers, i, places_.size) * places_.axis_stride;
      combine_(In(buffers, 2) + i * bytes_, Out(buffers, 0) + to * bytes_, 1);
    }
  }
  ElementPlaces places_;
};

class ScatterNdKernel : public ScatterKernel {
 public:
  explicit ScatterNdKernel(const KernelRequest& request)
      : ScatterKernel(request), places_(InputValue(1).shape, InputValue(0).shape, 0) {}

 private:
  void Update(const KernelBuffers& buffers) const override {
    for (std::int64_t i = 0; i < places_.tuples; ++i) {
      std::int64_t to = 0;
      for (std::size_t d = 0; d < places_.sizes.size(); ++d) {
        to += Index(buffers, i * places_.tuple + static_cast<std::int64_t>(d), places_.sizes[d]) * places_.strides[d];
      }
      combine_(In(buffers, 2) + i * places_.slice * bytes_, Out(buffers, 0) + to * bytes_, places_.slice);
    }
  }
  TuplePlaces places_;
};

class OneHotKernel : public IndexedKernel {
 public:
  explicit OneHotKernel(const KernelRequest& request) : IndexedKernel(request, 0) {
    const Shape& out = OutputValue(0).shape;
    const auto axis = static_cast<std::size_t>(PositiveAxis(node_, Model::IntOf(node_, "axis", -1), out.size()));
    depth_ = out[axis];
    inner_ = Product(out, axis + 1, out.size());
    elements_ = ElementsOf(out);
  }
  void Run(const KernelBuffers& buffers, int, int worker) const override {
    const Share share = ShareOf(elements_, workers_, worker, 64);
    for (std::int64_t i = share.begin; i < share.end; ++i) {
      const std::int64_t lane = i / inner_ % depth_;
      const std::int64_t index = IndexAt(In(buffers, 0), index_type_, i / inner_ / depth_ * inner_ + i % inner_);
      const bool hot = (index < 0 ? index + depth_ : index) == lane;
      Move(In(buffers, 2) + (hot ? bytes_ : 0), Out(buffers, 0) + i * bytes_, 1);
    }
  }

 private:
  std::int64_t depth_, inner_, elements_;
};

class ReverseSequenceKernel : public IndexedKernel {
 public:
  explicit ReverseSequenceKernel(const KernelRequest& request) : IndexedKernel(request, 1) {
    const Shape& shape = InputValue(0).shape;
    time_first_ = Model::IntOf(node_, "time_axis", 0) == 0;
    first_ = shape[0];
    second_ = shape[1];
    inner_ = Product(shape, 2, shape.size());
  }
  void Run(const KernelBuffers& buffers, int, int worker) const override {
    const Share share =
        ShareOf(first_ * second_, workers_, worker, std::max<std::int64_t>(1, 64 / (inner_ * bytes_ + 1)));
    for (std::int64_t row = share.begin; row < share.end; ++row) {
      const std::int64_t i = row / second_, j = row % second_;
      const std::int64_t time = time_first_ ? i : j, batch = time_first_ ? j : i;
      const std::int64_t most = time_first_ ? first_ : second_;
      const std::int64_t length = std::clamp<std::int64_t>(IndexAt(In(buffers, 1), index_type_, batch), 0, most);
      const std::int64_t from_time = time < length ? length - 1 - time : time;
      const std::int64_t from = time_first_ ? from_time * second_ + batch : batch * second_ + from_time;
      Move(In(buffers, 0) + from * inner_ * bytes_, Out(buffers, 0) + row * inner_ * bytes_, inner_);
    }
  }

 private:
  bool time_first_ = true;
  std::int64_t first_, second_, inner_;
};

std::string ShapesUnsupported(const Model& model, const Node& node, const Value& data, const Value& indices,
                              const Value& out) {
  const std::string& op = node.op_type;
  const bool elements = op == "GatherElements" || op == "ScatterElements" || op == "Scatter";
  if (elements && indices.shape.size() != data.shape.size()) return op + " with indices of another rank";
  if (op == "GatherND" || op == "ScatterND") {
    const std::int64_t batch = Model::IntOf(node, "batch_dims", 0);
    if (indices.shape.empty() || batch < 0 ||
        batch + indices.shape.back() > static_cast<std::int64_t>(data.shape.size()) ||
        batch >= static_cast<std::int64_t>(indices.shape.size())) {
      return op + " with indices of a wrong shape";
    }
  }
  if (op.starts_with("Scatter")) {
    const Value* updates = InputOf(model, node, 2);
    if (updates == nullptr || updates->type != data.type || CombineOf(node, data.type) == nullptr ||
        out.shape != data.shape)
      return op + " with such updates";
    if (elements && updates->shape != indices.shape) return op + " with updates of another shape";
  }
  if (op == "ReverseSequence" &&
      (data.shape.size() < 2 || Model::IntOf(node, "time_axis", 0) + Model::IntOf(node, "batch_axis", 1) != 1)) {
    return op + " with such axes";
  }
  return "";
}

}  // namespace

std::unique_ptr<Kernel> MakeGather(const KernelRequest& request) {
  const std::string& op = request.model->nodes[static_cast<std::size_t>(request.nodes[0])].op_type;
  if (op == "Gather") return std::make_unique<GatherKernel>(request);
  if (op == "GatherElements") return std::make_unique<GatherElementsKernel>(request);
  if (op == "GatherND") return std::make_unique<GatherNdKernel>(request);
  if (op == "ScatterND") return std::make_unique<ScatterNdKernel>(request);
  if (op == "OneHot") return std::make_unique<OneHotKernel>(request);
  if (op == "ReverseSequence") return std::make_unique<ReverseSequenceKernel>(request);
  return std::make_unique<ScatterElementsKernel>(request);
}

std::string GatherUnsupported(const Model& model, int node_id) {
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* first = InputOf(model, node, 0);
  const Value* second = InputOf(model, node, 1);
  const Value* out = OutputOf(model, node, 0);
  if (first == nullptr || second == nullptr || out == nullptr) return node.op_type + " without its inputs";
  const Value* indices = node.op_type == "OneHot" ? first : second;
  const bool whole = indices->type == DataType::kInt32 || indices->type == DataType::kInt64;
  if (!whole && !(node.op_type == "OneHot" && indices->type == DataType::kFloat32))
    return node.op_type + " with indices of type " + NameOf(indices->type);
  if (BytesOf(out->type) == 0) return node.op_type + " on " + NameOf(out->type);
  if (node.op_type == "OneHot" && InputOf(model, node, 2) == nullptr) return "OneHot without values";
  return ShapesUnsupported(model, node, *first, *indices, *out);
}

}  // namespace millrace

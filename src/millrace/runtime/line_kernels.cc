// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/line_kernels.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "millrace/runtime/element_types.h"
#include "millrace/runtime/one_node_kernel.h"

namespace millrace {
namespace {

// The lines along an axis: `length` elements, `inner` apart.
struct Lines {
  std::int64_t outer = 1, length = 1, inner = 1;
  std::int64_t count() const { return outer * inner; }
};

Lines LinesOf(const Shape& shape, std::int64_t axis) {
  Lines lines;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto at = static_cast<std::int64_t>(d);
    (at < axis ? lines.outer : (at == axis ? lines.length : lines.inner)) *= shape[d];
  }
  return lines;
}

struct LineOptions {
  bool largest = true;
  bool last = false;       // of equal extremes, the last
  bool exclusive = false;  // CumSum
  bool backwards = false;
  std::int64_t kept = 1;  // TopK
};

// One line: `in` and `out` are its first elements, `second` that of the second output; `order` is room for `length`
// positions.
using LineFunction = void (*)(const std::byte* in, std::byte* out, std::byte* second, std::int64_t* order,
                              std::int64_t length, std::int64_t inner, const LineOptions& options);

template <typename T>
std::int64_t PositionOfExtreme(const T* line, std::int64_t length, std::int64_t inner, const LineOptions& options) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < length; ++i) {
    const T value = line[i * inner], champion = line[best * inner];
    if ((options.largest ? value > champion : value < champion) || (options.last && value == champion)) best = i;
  }
  return best;
}

template <typename T>
void ArgLine(const std::byte* in, std::byte* out, std::byte*, std::int64_t*, std::int64_t length, std::int64_t inner,
             const LineOptions& options) {
  *reinterpret_cast<std::int64_t*>(out) = PositionOfExtreme(reinterpret_cast<const T*>(in), length, inner, options);
}

template <typename T>
void HardmaxLine(const std::byte* in, std::byte* out, std::byte*, std::int64_t*, std::int64_t length,
                 std::int64_t inner, const LineOptions& options) {
  const std::int64_t best = PositionOfExtreme(reinterpret_cast<const T*>(in), length, inner, options);
  T* to = reinterpret_cast<T*>(out);
  for (std::int64_t i = 0; i < length; ++i) to[i * inner] = static_cast<T>(i == best);
}

template <typename T>
void CumulativeLine(const std::byte* in, std::byte* out, std::byte*, std::int64_t*, std::int64_t length,
                    std::int64_t inner, const LineOptions& options) {
  const T* from = reinterpret_cast<const T*>(in);
  T* to = reinterpret_cast<T*>(out);
  T sum{};
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t at = (options.backwards ? length - 1 - i : i) * inner;
    const T value = from[at];
    const T after = [&] {
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(value));
      } else {
        return sum + value;
      }
    }();
    to[at] = options.exclusive ? sum : after;
    sum = after;
  }
}

template <typename T>
void TopLine(const std::byte* in, std::byte* out, std::byte* second, std::int64_t* order, std::int64_t length,
             std::int64_t inner, const LineOptions& options) {
  const T* from = reinterpret_cast<const T*>(in);
  for (std::int64_t i = 0; i < length; ++i) order[i] = i;
  std::partial_sort(order, order + options.kept, order + length, [&](std::int64_t a, std::int64_t b) {
    const T left = from[a * inner], right = from[b * inner];
    if (left != right) return options.largest ? left > right : left < right;
    return a < b;
  });
  for (std::int64_t i = 0; i < options.kept; ++i) {
    if (out != nullptr) reinterpret_cast<T*>(out)[i * inner] = from[order[i] * inner];
    if (second != nullptr) reinterpret_cast<std::int64_t*>(second)[i * inner] = order[i];
  }
}

LineFunction FunctionFor(const std::string& op, DataType type) {
  LineFunction function = nullptr;
  if (op == "CumSum") {
    ForNumber(type, [&](auto tag) { function = &CumulativeLine<typename decltype(tag)::type>; });
  } else if (op == "Hardmax") {
    if (type == DataType::kFloat32) function = &HardmaxLine<float>;
  } else {
    ForNumber(type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      function = op == "TopK" ? &TopLine<T> : &ArgLine<T>;
    });
  }
  return function;
}

// The lines of the input; false where the axis is not known.
bool LinesFor(const Model& model, const Node& node, Lines& lines) {
  const Shape& shape = InputOf(model, node, 0)->shape;
  const bool flattens = node.op_type == "Hardmax" && model.opset < 13;
  const std::int64_t usual =
      node.op_type == "TopK" || (node.op_type == "Hardmax" && !flattens) ? -1 : (flattens ? 1 : 0);
  std::int64_t axis = Model::IntOf(node, "axis", usual);
  if (node.op_type == "CumSum") {
    std::vector<std::int64_t> given;
    if (!ConstantInts(model, node, 1, given) || given.size() != 1) return false;
    axis = given[0];
  }
  if (shape.empty()) return true;
  axis = PositiveAxis(node, axis, shape.size());
  lines = LinesOf(shape, axis);
  if (flattens) {
    lines.length *= lines.inner;
    lines.inner = 1;
  }
  return true;
}

class LineKernel : public OneNodeKernel {
 public:
  explicit LineKernel(const KernelRequest& request) : OneNodeKernel(request) {
    ReadInput(0);
    LinesFor(model_, node_, lines_);
    function_ = FunctionFor(node_.op_type, InputValue(0).type);
    const std::string& op = node_.op_type;
    options_.largest = op == "TopK" ? Model::IntOf(node_, "largest", 1) != 0 : op != "ArgMin";
    options_.last = Model::IntOf(node_, "select_last_index", 0) != 0;
    options_.exclusive = Model::IntOf(node_, "exclusive", 0) != 0;
    options_.backwards = Model::IntOf(node_, "reverse", 0) != 0;
    in_bytes_ = BytesOf(InputValue(0).type);
    const bool one = op == "ArgMax" || op == "ArgMin";
    out_bytes_ = one ? sizeof(std::int64_t) : in_bytes_;
    out_length_ = one ? 1 : lines_.length;
    if (op == "TopK") {
      const Value& output = OutputOf(model_, node_, 0) != nullptr ? OutputValue(0) : OutputValue(1);
      const std::int64_t made = ElementsOf(output.shape);
      out_length_ = options_.kept = lines_.count() == 0 ? 0 : std::min(lines_.length, made / lines_.count());
      scratch_bytes_ = static_cast<std::size_t>(lines_.length * workers_) * sizeof(std::int64_t);
    }
  }

  void Run(const KernelBuffers& buffers, int, int worker) const override {
    const Share share = ShareOf(lines_.count(), workers_, worker, 16);
    auto* order = reinterpret_cast<std::int64_t*>(buffers.scratch) + lines_.length * worker;
    std::byte* first = Out(buffers, 0);
    std::byte* second = HasOutput(1) ? Out(buffers, 1) : nullptr;
    for (std::int64_t line = share.begin; line < share.end && lines_.length > 0; ++line) {
      const std::int64_t outer = line / lines_.inner, inner = line % lines_.inner;
      const std::int64_t from = outer * lines_.length * lines_.inner + inner;
      const std::int64_t to = outer * out_length_ * lines_.inner + inner;
      function_(In(buffers, 0) + from * static_cast<std::int64_t>(in_bytes_),
                first == nullptr ? nullptr : first + to * static_cast<std::int64_t>(out_bytes_),
                second == nullptr ? nullptr : second + to * static_cast<std::int64_t>(sizeof(std::int64_t)), order,
                lines_.length, lines_.inner, options_);
    }
  }

 private:
  Lines lines_;
  LineOptions options_;
  LineFunction function_ = nullptr;
  std::size_t in_bytes_ = 0, out_bytes_ = 0;
  std::int64_t out_length_ = 1;
};

}  // namespace

std::unique_ptr<Kernel> MakeLineKernel(const KernelRequest& request) { return std::make_unique<LineKernel>(request); }

std::string LineKernelUnsupported(const Model& model, int node_id) {
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* input = InputOf(model, node, 0);
  if (input == nullptr) return node.op_type + " without an input";
  if (FunctionFor(node.op_type, input->type) == nullptr) return node.op_type + " on " + NameOf(input->type);
  Lines lines;
  if (!LinesFor(model, node, lines)) return node.op_type + " with a computed axis";
  return "";
}

}  // namespace millrace

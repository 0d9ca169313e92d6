// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/reduce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "millrace/runtime/element_types.h"
#include "millrace/runtime/one_node_kernel.h"
#include "millrace/vector/vector_loops.h"

namespace millrace {
namespace {

constexpr std::size_t kMaximalRank = 16;
constexpr std::int64_t kLanes = 16;

// Sizes and strides of the kept and the reduced dimensions, adjacent ones of a kind merged. The innermost dimension of
// all is either `row`, if it is reduced, or `columns`, if it is kept.
struct ReducePlan {
  std::size_t kept = 0, reduced = 0;
  std::array<std::int64_t, kMaximalRank> kept_sizes{}, kept_strides{}, reduced_sizes{}, reduced_strides{};
  std::int64_t rows = 1;     // reduced elements of one output element outside the row
  std::int64_t row = 1;      // contiguous reduced elements
  std::int64_t columns = 1;  // contiguous kept elements
  std::int64_t elements = 1;

  std::int64_t KeptOffset(std::int64_t index) const { return Offset(index, kept, kept_sizes, kept_strides); }
  std::int64_t ReducedOffset(std::int64_t index) const {
    return Offset(index, reduced, reduced_sizes, reduced_strides);
  }

 private:
  static std::int64_t Offset(std::int64_t index, std::size_t rank, const std::array<std::int64_t, kMaximalRank>& sizes,
                             const std::array<std::int64_t, kMaximalRank>& strides) {
    std::int64_t offset = 0;
    for (std::size_t d = rank; d-- > 0;) {
      offset += index % sizes[d] * strides[d];
      index /= sizes[d];
    }
    return offset;
  }
};

ReducePlan PlanOf(const Shape& shape, const std::vector<bool>& is_reduced) {
  struct Part {
    std::int64_t size, stride;
    bool reduced;
  };
  std::vector<Part> parts;
  const std::vector<std::int64_t> strides = StridesOf(shape);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (!parts.empty() && parts.back().reduced == is_reduced[d]) {
      parts.back().size *= shape[d];
      parts.back().stride = strides[d];
    } else {
      parts.push_back({shape[d], strides[d], is_reduced[d]});
    }
  }
  ReducePlan plan;
  for (const Part& part : parts)
    if (!part.reduced) plan.elements *= part.size;
  if (!parts.empty()) {
    (parts.back().reduced ? plan.row : plan.columns) = parts.back().size;
    parts.pop_back();
  }
  for (const Part& part : parts) {
    auto& sizes = part.reduced ? plan.reduced_sizes : plan.kept_sizes;
    auto& into = part.reduced ? plan.reduced_strides : plan.kept_strides;
    std::size_t& rank = part.reduced ? plan.reduced : plan.kept;
    sizes[rank] = part.size;
    into[rank] = part.stride;
    ++rank;
    if (part.reduced) plan.rows *= part.size;
  }
  return plan;
}

// A reduction: T is the element, Sum what is accumulated.
template <typename T>
struct Sum {
  using State = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  static constexpr State kStart = 0;
  static MILLRACE_INLINE void Step(State& state, T x) { state += static_cast<State>(x); }
  static MILLRACE_INLINE void Merge(State& state, State other) { state += other; }
  static T Finish(State state, std::int64_t) { return static_cast<T>(state); }
};
template <typename T>
struct Mean : Sum<T> {
  static T Finish(typename Sum<T>::State state, std::int64_t count) {
    return static_cast<T>(static_cast<T>(state) / static_cast<T>(count));
  }
};
template <typename T>
struct LogSum : Sum<T> {
  static T Finish(T state, std::int64_t) { return std::log(state); }
};
template <typename T>
struct AbsoluteSum : Sum<T> {
  using State = typename Sum<T>::State;
  static MILLRACE_INLINE void Step(State& state, T x) {
    const auto value = static_cast<State>(x);
    state += x < T{} ? State{} - value : value;
  }
};
template <typename T>
struct SquareSum : Sum<T> {
  using State = typename Sum<T>::State;
  static MILLRACE_INLINE void Step(State& state, T x) { state += static_cast<State>(x) * static_cast<State>(x); }
};
template <typename T>
struct Norm : SquareSum<T> {
  static T Finish(typename Sum<T>::State state, std::int64_t) {
    return static_cast<T>(std::sqrt(static_cast<double>(state)));
  }
};
template <typename T>
struct Product {
  using State = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  static constexpr State kStart = 1;
  static MILLRACE_INLINE void Step(State& state, T x) { state *= static_cast<State>(x); }
  static MILLRACE_INLINE void Merge(State& state, State other) { state *= other; }
  static T Finish(State state, std::int64_t) { return static_cast<T>(state); }
};
template <typename T>
struct Largest {
  using State = T;
  static constexpr T kStart =
      std::is_integral_v<T> ? std::numeric_limits<T>::lowest() : -std::numeric_limits<T>::infinity();
  static MILLRACE_INLINE void Step(State& state, T x) { state = state < x ? x : state; }
  static MILLRACE_INLINE void Merge(State& state, State other) { Step(state, other); }
  static T Finish(State state, std::int64_t) { return state; }
};
template <typename T>
struct Smallest {
  using State = T;
  static constexpr T kStart =
      std::is_integral_v<T> ? std::numeric_limits<T>::max() : std::numeric_limits<T>::infinity();
  static MILLRACE_INLINE void Step(State& state, T x) { state = x < state ? x : state; }
  static MILLRACE_INLINE void Merge(State& state, State other) { Step(state, other); }
  static T Finish(State state, std::int64_t) { return state; }
};
// The sum is kept relative to the largest element so far, so that it cannot overflow.
template <typename T>
struct LogSumExp {
  struct State {
    T largest, sum;
  };
  static constexpr State kStart = {-std::numeric_limits<T>::infinity(), 0};
  static void Step(State& state, T x) { Merge(state, {x, 1}); }
  static void Merge(State& state, State other) {
    if (other.sum == 0) return;
    if (other.largest > state.largest) std::swap(state, other);
    if (other.sum != 0) {
      const T shrunk = other.largest == state.largest ? other.sum : other.sum * std::exp(other.largest - state.largest);
      state.sum += shrunk;
    }
  }
  static T Finish(State state, std::int64_t) { return state.largest + std::log(state.sum); }
};

template <typename Reduction, typename T>
MILLRACE_INLINE void ReduceBody(const ReducePlan& plan, const std::byte* in, std::byte* out, std::int64_t begin,
                                std::int64_t end) {
  using State = typename Reduction::State;
  const T* source = reinterpret_cast<const T*>(in);
  T* to = reinterpret_cast<T*>(out);
  const std::int64_t count = plan.rows * plan.row;
  if (plan.columns == 1) {
    for (std::int64_t i = begin; i < end; ++i) {
      State lanes[kLanes];
      std::fill(lanes, lanes + kLanes, Reduction::kStart);
      const T* base = source + plan.KeptOffset(i);
      for (std::int64_t r = 0; r < plan.rows; ++r) {
        const T* row = base + plan.ReducedOffset(r);
        std::int64_t at = 0;
        for (; at + kLanes <= plan.row; at += kLanes)
          for (std::int64_t lane = 0; lane < kLanes; ++lane) Reduction::Step(lanes[lane], row[at + lane]);
        for (; at < plan.row; ++at) Reduction::Step(lanes[0], row[at]);
      }
      for (std::int64_t lane = 1; lane < kLanes; ++lane) Reduction::Merge(lanes[0], lanes[lane]);
      to[i] = Reduction::Finish(lanes[0], count);
    }
    return;
  }
  constexpr std::int64_t kStretch = 256;
  for (std::int64_t i = begin; i < end;) {
    const std::int64_t column = i % plan.columns;
    const std::int64_t length = std::min({kStretch, plan.columns - column, end - i});
    State states[kStretch];
    std::fill(states, states + length, Reduction::kStart);
    const T* base = source + plan.KeptOffset(i / plan.columns) + column;
    for (std::int64_t r = 0; r < plan.rows; ++r) {
      const T* __restrict row = base + plan.ReducedOffset(r);
      for (std::int64_t at = 0; at < length; ++at) Reduction::Step(states[at], row[at]);
    }
    for (std::int64_t at = 0; at < length; ++at) to[i + at] = Reduction::Finish(states[at], count);
    i += length;
  }
}

using Loop = void (*)(const ReducePlan&, const std::byte*, std::byte*, std::int64_t, std::int64_t);

template <template <typename> typename Reduction, typename T>
Loop LoopOf() {
  if constexpr (std::is_same_v<T, float>) {
    return Versions<&ReduceBody<Reduction<T>, T>>::Best();
  } else {
    return [](const ReducePlan& plan, const std::byte* in, std::byte* out, std::int64_t begin, std::int64_t end) {
      ReduceBody<Reduction<T>, T>(plan, in, out, begin, end);
    };
  }
}

template <template <typename> typename Reduction>
Loop ExtremeLoop(DataType type) {
  Loop loop = nullptr;
  const DataType stored = type == DataType::kBool ? DataType::kUint8 : type;
  ForNumber(stored, [&](auto tag) { loop = LoopOf<Reduction, typename decltype(tag)::type>(); });
  return loop;
}

template <template <typename> typename Reduction>
Loop SumLoop(DataType type) {
  Loop loop = nullptr;
  ForSignedOrFloat(type, [&](auto tag) { loop = LoopOf<Reduction, typename decltype(tag)::type>(); });
  return loop;
}

template <template <typename> typename Reduction>
Loop FloatLoop(DataType type) {
  if (type == DataType::kFloat32) return LoopOf<Reduction, float>();
  return type == DataType::kFloat64 ? LoopOf<Reduction, double>() : nullptr;
}

Loop LoopFor(const std::string& op, DataType type) {
  if (op == "ReduceSum") return SumLoop<Sum>(type);
  if (op == "ReduceMean") return SumLoop<Mean>(type);
  if (op == "ReduceL1") return SumLoop<AbsoluteSum>(type);
  if (op == "ReduceL2") return SumLoop<Norm>(type);
  if (op == "ReduceSumSquare") return SumLoop<SquareSum>(type);
  if (op == "ReduceProd") return SumLoop<Product>(type);
  if (op == "ReduceMax") return ExtremeLoop<Largest>(type);
  if (op == "ReduceMin") return ExtremeLoop<Smallest>(type);
  if (op == "ReduceLogSum") return FloatLoop<LogSum>(type);
  return op == "ReduceLogSumExp" ? FloatLoop<LogSumExp>(type) : nullptr;
}

// Which dimensions are reduced; false where only a run could tell.
bool ReducedDimensions(const Model& model, const Node& node, std::vector<bool>& reduced) {
  const Value* input = InputOf(model, node, 0);
  std::vector<std::int64_t> axes = Model::IntsOf(node, "axes", {});
  if (InputOf(model, node, 1) != nullptr && !ConstantInts(model, node, 1, axes)) return false;
  const bool all = axes.empty() && Model::IntOf(node, "noop_with_empty_axes", 0) == 0;
  reduced.assign(input->shape.size(), all);
  for (const std::int64_t axis : axes)
    reduced[static_cast<std::size_t>(PositiveAxis(node, axis, input->shape.size()))] = true;
  return true;
}

class ReduceKernel : public OneNodeKernel {
 public:
  explicit ReduceKernel(const KernelRequest& request) : OneNodeKernel(request) {
    ReadInput(0);
    std::vector<bool> reduced;
    ReducedDimensions(model_, node_, reduced);
    plan_ = PlanOf(InputValue(0).shape, reduced);
    loop_ = LoopFor(node_.op_type, InputValue(0).type);
    grain_ = LineElements(InputValue(0).type);
  }
  void Run(const KernelBuffers& buffers, int, int worker) const override {
    const Share share = ShareOf(plan_.elements, workers_, worker, grain_);
    loop_(plan_, In(buffers, 0), Out(buffers, 0), share.begin, share.end);
  }

 private:
  ReducePlan plan_;
  Loop loop_ = nullptr;
  std::int64_t grain_ = 1;
};

}  // namespace

std::unique_ptr<Kernel> MakeReduce(const KernelRequest& request) { return std::make_unique<ReduceKernel>(request); }

std::string ReduceUnsupported(const Model& model, int node_id) {
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* input = InputOf(model, node, 0);
  if (input == nullptr || OutputOf(model, node, 0) == nullptr) return node.op_type + " without input or output";
  if (LoopFor(node.op_type, input->type) == nullptr) return node.op_type + " on " + NameOf(input->type);
  if (input->shape.size() > kMaximalRank) return node.op_type + " of more than 16 dimensions";
  std::vector<bool> reduced;
  if (!ReducedDimensions(model, node, reduced)) return node.op_type + " with computed axes";
  return "";
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/dynamic_quantize.h"

#include <algorithm>
#include <cstdint>

#include "millrace/runtime/aligned_memory.h"
#include "millrace/runtime/one_node_kernel.h"
#include "millrace/runtime/quantization.h"
#include "millrace/vector/vector_loops.h"

namespace millrace {
namespace {

constexpr float kHighest = 255;

struct Extremes {
  float low = 0;
  float high = 0;
};

MILLRACE_INLINE void Widen(const float* in, std::int64_t count, Extremes* extremes) {
  float low = extremes->low, high = extremes->high;
  for (std::int64_t i = 0; i < count; ++i) {
    low = in[i] < low ? in[i] : low;
    high = in[i] > high ? in[i] : high;
  }
  *extremes = {low, high};
}

class DynamicQuantize : public OneNodeKernel {
 public:
  explicit DynamicQuantize(const KernelRequest& request) : OneNodeKernel(request) {
    ReadInput(0);
    elements_ = ElementsOf(InputValue(0).shape);
    phases_ = 2;
    scratch_bytes_ = static_cast<std::size_t>(workers_) * kMemoryAlignment;
  }

  void Run(const KernelBuffers& buffers, int phase, int worker) const override {
    const Share share = ShareOf(elements_, workers_, worker, LineElements(DataType::kUint8));
    const auto* from = reinterpret_cast<const float*>(In(buffers, 0)) + share.begin;
    if (phase == 0) {
      Extremes extremes;
      widen_(from, share.size(), &extremes);
      *ExtremesOf(buffers, worker) = extremes;
      return;
    }
    Extremes all;
    for (int other = 0; other < workers_; ++other) {
      all.low = std::min(all.low, ExtremesOf(buffers, other)->low);
      all.high = std::max(all.high, ExtremesOf(buffers, other)->high);
    }
    const float scale = all.low == all.high ? 1.0f : (all.high - all.low) / kHighest;
    const float zero_point = RoundedWithin(-all.low / scale, 0, kHighest);
    if (HasOutput(0)) {
      auto* to = reinterpret_cast<std::uint8_t*>(Out(buffers, 0)) + share.begin;
      store_(from, to, share.size(), scale, zero_point);
    }
    if (worker != 0) return;
    if (HasOutput(1)) *reinterpret_cast<float*>(Out(buffers, 1)) = scale;
    if (HasOutput(2)) *reinterpret_cast<std::uint8_t*>(Out(buffers, 2)) = static_cast<std::uint8_t>(zero_point);
  }

 private:
  static Extremes* ExtremesOf(const KernelBuffers& buffers, int worker) {
    return reinterpret_cast<Extremes*>(buffers.scratch + static_cast<std::size_t>(worker) * kMemoryAlignment);
  }

  std::int64_t elements_ = 0;
  decltype(Versions<&Widen>::Best()) widen_ = Versions<&Widen>::Best();
  decltype(Versions<&Quantize<std::uint8_t>>::Best()) store_ = Versions<&Quantize<std::uint8_t>>::Best();
};

}  // namespace

std::unique_ptr<Kernel> MakeDynamicQuantize(const KernelRequest& request) {
  return std::make_unique<DynamicQuantize>(request);
}

std::string DynamicQuantizeUnsupported(const Model& model, int node) {
  const Value* input = InputOf(model, model.nodes[static_cast<std::size_t>(node)], 0);
  if (input == nullptr || input->type != DataType::kFloat32) return "DynamicQuantizeLinear of other than float32";
  return "";
}

}  // namespace millrace

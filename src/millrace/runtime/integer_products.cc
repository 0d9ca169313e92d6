// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/integer_products.h"

#include <algorithm>
#include <cmath>

#include "millrace/runtime/one_node_kernel.h"

namespace millrace {
namespace {

// 255 x (a + b) fits in 16 bits with a sign.
constexpr float kMostOfTwo = 128;

bool AddsInWords() {
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  return isa == dnnl::cpu_isa::avx512_core_vnni || isa == dnnl::cpu_isa::avx512_core_bf16 ||
         isa == dnnl::cpu_isa::avx512_core_amx || isa == dnnl::cpu_isa::avx2_vnni;
}

}  // namespace

dnnl::memory::data_type ByteTypeOf(DataType type) {
  return type == DataType::kInt8 ? dnnl::memory::data_type::s8 : dnnl::memory::data_type::u8;
}

dnnl::memory::desc PlainOf(const Shape& shape, dnnl::memory::data_type type) { return {shape, type, StridesOf(shape)}; }

dnnl::memory::desc ChannelsLastOf(const Shape& shape, dnnl::memory::data_type type) {
  Shape strides(shape.size());
  std::int64_t stride = shape[1];
  strides[1] = 1;
  for (std::size_t d = shape.size(); d-- > 2;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  strides[0] = stride;
  return {shape, type, strides};
}

bool SumsAreExact(const std::vector<float>& weights, std::size_t per_row, DataType source) {
  if (AddsInWords()) return true;
  if (source != DataType::kUint8) return false;
  for (std::size_t row = 0; row < weights.size(); row += per_row) {
    float largest = 0, second = 0;
    for (std::size_t i = row; i < std::min(row + per_row, weights.size()); ++i) {
      const float size = std::abs(weights[i]);
      if (size > largest) {
        second = largest;
        largest = size;
      } else {
        second = std::max(second, size);
      }
    }
    if (largest + second > kMostOfTwo) return false;
  }
  return true;
}

}  // namespace millrace

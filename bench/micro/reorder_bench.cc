// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/reorder.h"

#include <benchmark/benchmark.h>

#include "millrace/runtime/aligned_memory.h"

// Changes of layout by one worker; the counter says bytes of the tensor per second.
namespace millrace {
namespace {

// Arguments: channels, side of the image, layout before and after (0: plain, 1: blocks, 2: channels innermost).
void BM_Reorder(benchmark::State& state) {
  TensorSpec from{DataType::kFloat32, {1, state.range(0), state.range(1), state.range(1)}, Layout::kPlain};
  TensorSpec to = from;
  from.layout = static_cast<Layout>(state.range(2));
  to.layout = static_cast<Layout>(state.range(3));
  if (to.layout == Layout::kChannelsLast && !CanHaveChannelsLast(to.type, to.shape)) {
    state.SkipWithError("no AVX-512 here");
    return;
  }
  const std::shared_ptr<std::byte> source = AllocateAligned(from.bytes()), made = AllocateAligned(to.bytes());
  for (auto _ : state) Reorder(from, source.get(), to.layout, made.get(), 1, 0);
  state.SetBytesProcessed(state.iterations() * ElementsOf(from.shape) * static_cast<std::int64_t>(sizeof(float)));
}
BENCHMARK(BM_Reorder)
    ->ArgNames({"channels", "side", "from", "to"})
    ->Args({3, 224, 0, 2})
    ->Args({64, 56, 0, 1})
    ->Args({64, 56, 1, 0})
    ->Args({64, 56, 0, 2})
    ->Args({64, 56, 2, 0})
    ->Args({64, 56, 1, 2})
    ->Args({64, 56, 2, 1})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace millrace

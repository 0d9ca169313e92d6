// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Numbers scattered over all 64-bit values: what seeds generators, and hashes whose sums and chains should be equal
// only by chance.
//
// Source: the generator SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014): its
// state grows by kSplitMixStep, and Scattered(state) is what it draws.
namespace millrace {

inline constexpr std::uint64_t kSplitMixStep = 0x9e3779b97f4a7c15;

// One to one. Numbers in a row have nothing visible in common.
inline std::uint64_t Scattered(std::uint64_t number) {
  std::uint64_t mixed = number + kSplitMixStep;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

}  // namespace millrace

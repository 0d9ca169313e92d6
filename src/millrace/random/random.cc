// SPDX-License-Identifier: Apache-2.0
#include "millrace/random/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "millrace/random/split_mix.h"

namespace millrace {
namespace {

std::uint64_t SplitMix(std::uint64_t& state) {
  const std::uint64_t drawn = Scattered(state);
  state += kSplitMixStep;
  return drawn;
}

std::uint64_t RotateLeft(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

}  // namespace

Random::Random(std::uint64_t seed) : seed_(seed) {
  for (std::uint64_t& word : state_) word = SplitMix(seed);
}

Random Random::Fork(std::uint64_t stream) const {
  std::uint64_t mixed = seed_;
  std::uint64_t first = SplitMix(mixed);
  std::uint64_t second = stream ^ 0xd1b54a32d192ed03ULL;
  return Random(first ^ SplitMix(second));
}

std::uint64_t Random::Next() {
  const std::uint64_t result = RotateLeft(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = RotateLeft(state_[3], 45);
  return result;
}

double Random::Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

double Random::Uniform(double low, double high) { return low + (high - low) * Uniform(); }

std::uint64_t Random::Below(std::uint64_t bound) {
  const std::uint64_t rejected = -bound % bound;
  std::uint64_t draw = Next();
  while (draw < rejected) draw = Next();
  return draw % bound;
}

double Random::Normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * Uniform());
}

double Random::LogNormal(double mean, double deviation) { return std::exp(mean + deviation * Normal()); }

double Random::Gumbel() {
  constexpr double kLeast = 1e-300;
  return -std::log(-std::log(std::max(kLeast, Uniform())));
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The one source of randomness: a seedable generator that is passed in wherever chance is needed.
//
// The stream is xoshiro256** seeded through splitmix64 (Blackman and Vigna, "Scrambled linear pseudorandom number
// generators", 2018). The distributions are written here because those of the standard library may differ from one
// implementation to the next, and the same seed has to give the same plans everywhere.
namespace millrace {

class Random {
 public:
  explicit Random(std::uint64_t seed);

  // An independent generator for the given stream number: the same (seed, stream) always gives the same generator,
  // whichever thread asks and in whatever order.
  Random Fork(std::uint64_t stream) const;

  std::uint64_t Next();
  double Uniform();                                 // in [0, 1)
  double Uniform(double low, double high);          // in [low, high)
  std::uint64_t Below(std::uint64_t bound);         // in 0..bound-1, without bias; bound > 0
  double Normal();                                  // mean 0, standard deviation 1
  double LogNormal(double mean, double deviation);  // exp(mean + deviation * Normal())

  // Gumbel's distribution: of logits with such noise each, the largest is a draw from their softmax.
  double Gumbel();

 private:
  std::uint64_t seed_;
  std::uint64_t state_[4];
};

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "millrace/random/random.h"
#include "millrace/train/hdp/features.h"

// The two networks of the hierarchical placer, for one graph and one machine. Nothing of libtorch shows here.
//
// The grouper is a feed-forward net that gives every unit a distribution over groups. The placer reads what each group
// is made of, in the order of the groups, with a long short-term memory, and a second one with attention over what the
// first has read names a device per group, told the one it named before.
//
// Source: Mirhoseini et al., "A Hierarchical Model for Device Placement", 2018.
namespace millrace {

struct HdpSizes {
  int groups = 64;
  int devices = 1;
  int grouper_width = 64;
  int placer_width = 96;
};

struct HdpSample {
  std::vector<std::int32_t> group_of_unit;
  std::vector<std::int32_t> device_of_group;  // of empty groups too, which say nothing
};

class HdpNetwork {
 public:
  // `features` must outlive it.
  HdpNetwork(const HdpFeatures& features, const HdpSizes& sizes, int torch_threads, const Random& random);
  ~HdpNetwork();

  // Keeps what Reinforce needs.
  std::vector<HdpSample> Sample(int count, Random& random);

  // One step of Adam towards samples of the last call with advantages > 0 and away from the others, and towards
  // entropy. Throws WorkFailed where the gradient is not finite.
  void Reinforce(const std::vector<double>& advantages, double entropy_bonus, double learning_rate);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace

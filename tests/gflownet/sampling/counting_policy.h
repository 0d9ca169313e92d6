// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "millrace/gflownet/policy/policy.h"

// A uniform policy that counts how often it is asked, on one thread.
namespace millrace::testing {

struct Looks {
  std::int64_t groups = 0;   // choices of a group
  std::int64_t devices = 0;  // choices of a device for one
};

class CountingPolicy final : public Policy {
 public:
  explicit CountingPolicy(Looks& looks) : looks_(looks) {}
  std::string name() const override { return "counting"; }
  std::unique_ptr<PreparedPolicy> Prepare(const Environment&, double) const override {
    return std::make_unique<Prepared>(looks_);
  }

 private:
  class Prepared final : public PreparedPolicy {
   public:
    explicit Prepared(Looks& looks) : looks_(looks) {}
    void ScoreGroups(const State&, const Observation&, std::span<float> logits) override {
      ++looks_.groups;
      std::fill(logits.begin(), logits.end(), 0.0F);
    }
    void ScoreDevices(const State&, int, const Observation&, std::span<float> logits) override {
      ++looks_.devices;
      std::fill(logits.begin(), logits.end(), 0.0F);
    }
    std::unique_ptr<PreparedPolicy> Clone() const override { return std::make_unique<Prepared>(looks_); }

   private:
    Looks& looks_;
  };

  Looks& looks_;
};

}  // namespace millrace::testing

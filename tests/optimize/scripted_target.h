// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "millrace/target/target.h"

// A target that says what it is told to: for tests of what the pipeline makes of measurements.
namespace millrace::testing {

// Plans of one group; it runs for all of the time where the target tells when groups run.
enum class Tells { kTimesAlone, kTimelines };

// `time(plan, run)` is the time of the plan's run number `run`, counted from 0; it may throw MeasurementFailed.
class ScriptedTarget final : public Target {
 public:
  using Script = std::function<double(const Plan&, int)>;
  explicit ScriptedTarget(Script script, bool is_deterministic = false, Tells tells = Tells::kTimesAlone)
      : script_(std::move(script)), deterministic_(is_deterministic), tells_(tells) {}

  std::string name() const override { return "scripted"; }
  bool deterministic() const override { return deterministic_; }
  std::unique_ptr<LoadedPlan> Load(const Plan& plan) override { return std::make_unique<Loaded>(*this, plan); }
  int runs() const { return runs_; }

 private:
  class Loaded final : public LoadedPlan {
   public:
    Loaded(ScriptedTarget& target, Plan plan) : target_(target), plan_(std::move(plan)) {}
    double Run() override {
      ++target_.runs_;
      return target_.script_(plan_, run_++);
    }
    std::optional<TimedRun> RunTimed() override {
      if (target_.tells_ == Tells::kTimesAlone) return std::nullopt;
      const double seconds = Run();
      return TimedRun{seconds, {{0}, {seconds}, seconds}};
    }

   private:
    ScriptedTarget& target_;
    Plan plan_;
    int run_ = 0;
  };

  Script script_;
  bool deterministic_;
  Tells tells_;
  int runs_ = 0;
};

}  // namespace millrace::testing

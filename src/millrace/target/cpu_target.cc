// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/cpu_target.h"

#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/runtime/executor.h"
#include "millrace/runtime/host_units.h"
#include "millrace/target/measured_timeline.h"
#include "millrace/target/random_inputs.h"
#include "millrace/target/settled_run.h"

namespace millrace {
namespace {

// What all plans of one target share.
struct SharedRuntime {
  explicit SharedRuntime(const Machine& machine) : pool(UnitsOf(machine)) {}

  WorkerPool pool;
  WeightCache weights;
};

class LoadedProgram : public LoadedPlan {
 public:
  LoadedProgram(std::shared_ptr<SharedRuntime> shared, const TargetContext& context, const Plan& plan)
      : shared_(std::move(shared)),
        program_(CompileProgram(*context.model, *context.machine, plan, &shared_->weights)),
        executor_(program_, shared_->pool, OnFault::kIgnore),
        num_groups_(plan.groups.size()) {
    const Random random(context.seed);
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      Random of_input = random.Fork(i);
      FillRandomly(*context.model, program_.inputs[i].value, of_input, executor_.input(i));
    }
    last_seconds_ = executor_.Run();
  }

  double Run() override {
    return SettledRun(last_seconds_, [this] { return last_seconds_ = executor_.Run(); });
  }

  std::optional<TimedRun> RunTimed() override {
    TimedRun run;
    run.seconds = SettledRun(last_seconds_, [this] { return last_seconds_ = executor_.RunTraced(&steps_); });
    run.timeline = TimelineOf(steps_, num_groups_);
    return run;
  }

 private:
  std::shared_ptr<SharedRuntime> shared_;
  Program program_;
  Executor executor_;
  std::size_t num_groups_;
  std::vector<StepTime> steps_;  // of the last timed run
  double last_seconds_ = 0;
};

class CpuTarget : public Target {
 public:
  explicit CpuTarget(const TargetContext& context) : context_(context) {
    if (context.model == nullptr) {
      throw InvalidInput("target cpu executes the model, and this graph has none: give an ONNX file, or a sim: target");
    }
    CheckExecutable(*context.model);
    CheckRunsHere(*context.machine);
    shared_ = std::make_shared<SharedRuntime>(*context.machine);
  }

  std::string name() const override { return "cpu"; }
  bool deterministic() const override { return false; }
  bool runs_on_our_units() const override { return true; }
  std::optional<GroupTiming> group_timing() const override { return GroupTiming{ProfileGroup, {}}; }

  std::unique_ptr<LoadedPlan> Load(const Plan& plan) override {
    try {
      return std::make_unique<LoadedProgram>(shared_, context_, plan);
    } catch (const Interrupted&) {
      throw;
    } catch (const WorkFailed& error) {
      throw MeasurementFailed(error.what());
    }
  }

 private:
  TargetContext context_;
  std::shared_ptr<SharedRuntime> shared_;
};

}  // namespace

std::unique_ptr<Target> MakeCpuTarget(const TargetContext& context) { return std::make_unique<CpuTarget>(context); }

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/formats/model.h"
#include "millrace/plan/plan.h"
#include "millrace/simulate/timeline.h"
#include "millrace/target/profile_groups.h"

// What a plan is measured on: the truth the proxy only guesses at. Seconds.
namespace millrace {

namespace mpi {
class Leader;
}

// One measurement went wrong: a timeout, a crash, an answer that is no time. The plan is recorded as failed and never
// wins; the run goes on.
class MeasurementFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One run of a plan in detail.
struct TimedRun {
  double seconds = 0;  // as Run tells it
  // Since the run began, by group: from when the first of its units set to work, its inputs there, to when the last one
  // was done. What the target does for a group alone, such as changes of layout, is in it.
  Timeline timeline;
};

// A plan made ready on a target (kernels prepared, files written), to be run as often as wanted.
class LoadedPlan {
 public:
  virtual ~LoadedPlan() = default;

  // Runs the plan once; the seconds it took. Throws MeasurementFailed.
  virtual double Run() = 0;

  // Runs the plan once and tells when each group ran; nothing, and no run, where the target cannot tell. Throws
  // MeasurementFailed.
  virtual std::optional<TimedRun> RunTimed() { return std::nullopt; }
};

// A way in which a target runs the whole model by itself that is no plan of ours.
struct OwnMode {
  std::string name;     // "ort-parallel"
  std::string meaning;  // one line for people
  std::unique_ptr<LoadedPlan> plan;
};

class Target {
 public:
  virtual ~Target() = default;

  // As the user named it: "cpu", "sim:noise", "cmd:./board-run".
  virtual std::string name() const = 0;

  // True where every run of a plan takes the same time, so one is enough.
  virtual bool deterministic() const = 0;

  // True where it runs plans on this host's processors, which the machine's units are: who else used them matters.
  virtual bool runs_on_our_units() const { return false; }

  // The baseline (optimize/baselines.h) that is what the target does by itself, to be preferred to a plan that is not
  // surely faster; empty where there is none.
  virtual std::string usual_baseline() const { return ""; }

  // How groups are timed for the proxy, where the target can tell.
  virtual std::optional<GroupTiming> group_timing() const { return std::nullopt; }

  // True where no group takes less than the context's cost model says: then no plan beats that model's lower bounds.
  virtual bool keeps_bounds() const { return false; }

  // The proxy's times are known better now; the model outlives the target. Those that build on the proxy while it is
  // being learnt go by it from here on.
  virtual void Reprice(const CostModel& /*cost*/) {}

  // The plan must be valid for the target's graph and machine. Throws MeasurementFailed.
  virtual std::unique_ptr<LoadedPlan> Load(const Plan& plan) = 0;

  // What plans are measured beside in the end; by itself none. Throws MeasurementFailed.
  virtual std::vector<OwnMode> LoadOwnModes() { return {}; }
};

// What a target may need to know; all of it outlives the target.
struct TargetContext {
  const ComputationGraph* graph = nullptr;
  const Machine* machine = nullptr;
  const CostModel* cost = nullptr;  // the proxy's, on which simulated targets build
  const Model* model = nullptr;     // set where there is something to execute
  std::uint64_t seed = 0;
  mpi::Leader* ranks = nullptr;  // of target mpi
};

// The target that `words` name: cpu | ort[,library=PATH] | sim:NAME[,key=value...][+NAME...] |
// cmd[,timeout=SECONDS]:WORDS | cmd-sh[,timeout=SECONDS]:LINE | mpi[,emulate][,links=given]. Throws InvalidInput for an
// unknown name or parameter, and for `cpu` and `ort` without a model or with ops they lack.
std::unique_ptr<Target> MakeTarget(std::string_view words, const TargetContext& context);

}  // namespace millrace

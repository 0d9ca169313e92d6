// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/simulated_target.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/cost/perturbed_cost.h"
#include "millrace/engines/simgrid/flow_timeline.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/text_lines.h"
#include "millrace/simulate/greedy.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

constexpr double kNoiseSigma = 0.3;
constexpr double kTransferToDuration = 2;
constexpr double kLatencyShareOfBandwidth = 0.1;

constexpr double kMostSigma = 30;  // with more of it durations are no numbers

// What the words ask for, before the means are known.
struct Wanted {
  std::optional<double> noise_sigma;
  std::uint64_t noise_seed = 0;
  bool bandwidth = false;
  std::optional<double> bandwidth_a;
  bool latency = false;
  std::optional<double> latency_a, latency_b;
  bool contention = false;
  bool greedy = false;
  bool simgrid = false;
};

// The parts between separators. A `+` inside a number such as 1e+3 separates nothing: names start with a letter.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != separator) continue;
    const bool in_number = separator == '+' && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9';
    if (in_number) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

template <typename Number>
Number ParseNumber(std::string_view text, std::string_view where, std::string_view what) {
  if (const auto value = NumberIn<Number>(text)) return *value;
  throw InvalidInput(fmt::format("target sim:{}: {} needs {}, not '{}'", where, what,
                                 std::is_integral_v<Number> ? "a whole number >= 0" : "a number", text));
}

class WantedParser {
 public:
  explicit WantedParser(std::string_view words) : words_(words) {}

  Wanted Parse(std::uint64_t default_seed) {
    wanted_.noise_seed = default_seed;
    for (const std::string_view part : Split(words_, '+')) ParsePart(part);
    if (wanted_.simgrid && (wanted_.contention || wanted_.greedy)) {
      throw InvalidInput(
          fmt::format("target sim:{}: simgrid is a network of its own, and keeps the plan's order; leave {} out",
                      words_, wanted_.contention ? "contention" : "greedy"));
    }
    return wanted_;
  }

 private:
  void ParsePart(std::string_view part) {
    const std::vector<std::string_view> pieces = Split(part, ',');
    const std::string name(pieces[0]);
    if (seen_[name]++ != 0) throw InvalidInput(fmt::format("target sim:{}: '{}' is named twice", words_, name));
    if (name == "noise") {
      wanted_.noise_sigma = kNoiseSigma;
    } else if (name == "bandwidth") {
      wanted_.bandwidth = true;
    } else if (name == "latency") {
      wanted_.latency = true;
    } else if (name == "contention") {
      wanted_.contention = true;
    } else if (name == "greedy") {
      wanted_.greedy = true;
    } else if (name == "simgrid") {
      wanted_.simgrid = true;
    } else {
      throw InvalidInput(
          fmt::format("target sim:{}: there is no simulated target '{}'; there are noise, bandwidth, latency, "
                      "contention, greedy, simgrid",
                      words_, name));
    }
    for (std::size_t i = 1; i < pieces.size(); ++i) ParseParameter(name, pieces[i]);
  }

  void ParseParameter(const std::string& name, std::string_view piece) {
    const std::size_t equals = piece.find('=');
    const std::string_view key = piece.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? std::string_view() : piece.substr(equals + 1);
    if (name == "noise" && key == "seed") {
      wanted_.noise_seed = ParseNumber<std::uint64_t>(value, words_, key);
    } else if (name == "noise" && key == "sigma") {
      wanted_.noise_sigma = Cost(value, key);
      if (*wanted_.noise_sigma > kMostSigma)
        throw InvalidInput(fmt::format("target sim:{}: sigma must be at most {:g}", words_, kMostSigma));
    } else if (name == "bandwidth" && key == "a") {
      wanted_.bandwidth_a = Cost(value, key);
    } else if (name == "latency" && key == "a") {
      wanted_.latency_a = Cost(value, key);
    } else if (name == "latency" && key == "b") {
      wanted_.latency_b = Cost(value, key);
    } else {
      throw InvalidInput(fmt::format("target sim:{}: '{}' has no parameter '{}'; {}", words_, name, key, Takes(name)));
    }
  }

  static std::string_view Takes(const std::string& name) {
    if (name == "noise") return "it takes sigma and seed";
    if (name == "bandwidth") return "it takes a";
    if (name == "latency") return "it takes a and b";
    return "it takes none";
  }

  double Cost(std::string_view text, std::string_view key) const {
    const auto value = ParseNumber<double>(text, words_, key);
    if (!std::isfinite(value) || value < 0)
      throw InvalidInput(fmt::format("target sim:{}: {} must be a finite number >= 0", words_, key));
    return value;
  }

  std::string_view words_;
  std::map<std::string, int> seen_;
  Wanted wanted_;
};

struct Means {
  double duration = 0;  // seconds
  double bytes = 0;     // of a transfer
};

Means MeansOf(const CostModel& cost) {
  const ComputationGraph& graph = cost.graph();
  double seconds = 0;
  double durations = 0;
  for (OpId op = 0; op < graph.num_ops(); ++op) {
    for (int device = 0; device < cost.topology().num_devices; ++device) {
      const double here = cost.GroupSeconds(std::span(&op, 1), device);
      if (here == std::numeric_limits<double>::infinity()) continue;
      seconds += here;
      ++durations;
    }
  }
  double bytes = 0;
  double transfers = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.producer < 0 || tensor.bytes == 0) continue;
    bytes += tensor.bytes * static_cast<double>(tensor.consumers.size());
    transfers += static_cast<double>(tensor.consumers.size());
  }
  Means means;
  if (durations > 0) means.duration = seconds / durations;
  if (transfers > 0) means.bytes = bytes / transfers;
  return means;
}

class SimulatedPlan final : public LoadedPlan {
 public:
  explicit SimulatedPlan(Timeline timeline) : timeline_(std::move(timeline)) {}
  double Run() override { return timeline_.makespan; }
  std::optional<TimedRun> RunTimed() override { return TimedRun{timeline_.makespan, timeline_}; }

 private:
  Timeline timeline_;
};

std::unique_ptr<CostModel> MakeTruth(const Wanted& wanted, const CostModel& base, const Machine& machine) {
  Perturbation perturbation;
  perturbation.noise_sigma = wanted.noise_sigma.value_or(0.0);
  perturbation.seed = wanted.noise_seed;
  Perturbation::LinearTransfer transfer;
  if (wanted.bandwidth || wanted.latency) {
    const Means means = MeansOf(base);
    const double a = means.bytes > 0 ? kTransferToDuration * means.duration / means.bytes : 0.0;
    if (wanted.bandwidth) transfer.seconds_per_byte += wanted.bandwidth_a.value_or(a);
    if (wanted.latency) {
      transfer.seconds += wanted.latency_b.value_or(kTransferToDuration * means.duration);
      transfer.seconds_per_byte += wanted.latency_a.value_or(kLatencyShareOfBandwidth * a);
    }
    perturbation.transfer = &transfer;
  }
  return MakePerturbedCostModel(base, machine, perturbation);
}

class SimulatedTarget final : public Target {
 public:
  SimulatedTarget(std::string_view words, const TargetContext& context)
      : name_("sim:" + std::string(words)),
        proxy_(context.cost == nullptr ? MakeAnalyticCostModel(*context.graph, *context.machine) : nullptr) {
    const Wanted wanted = WantedParser(words).Parse(context.seed);
    contention_ = wanted.contention;
    greedy_ = wanted.greedy;
    simgrid_ = wanted.simgrid;
    if (simgrid_ && !HasSimGrid()) {
      throw InvalidInput("target " + name_ +
                         ": there is no SimGrid here; install libsimgrid-dev and build again, or name another target");
    }
    keeps_bounds_ = wanted.noise_sigma.value_or(0) == 0;
    truth_ = MakeTruth(wanted, context.cost == nullptr ? *proxy_ : *context.cost, *context.machine);
  }

  std::string name() const override { return name_; }
  bool deterministic() const override { return true; }
  bool keeps_bounds() const override { return keeps_bounds_; }

  std::unique_ptr<LoadedPlan> Load(const Plan& plan) override {
    const CostedGraph& costed = Priced(plan.groups);
    const Assignment assignment{plan.placement, plan.sequence};
    Timeline timeline = greedy_ ? GreedyTimeline(costed, assignment) : MakeTimeline(costed, assignment);
    if (simgrid_ && std::isfinite(timeline.makespan)) timeline = SimGridTimeline(costed, assignment);
    if (!std::isfinite(timeline.makespan))
      throw MeasurementFailed(name_ + ": a group of the plan cannot run on the device it is placed on");
    return std::make_unique<SimulatedPlan>(std::move(timeline));
  }

 private:
  // Plans come one after the other, mostly of the same groups. Pricing a large graph takes seconds.
  const CostedGraph& Priced(const FusionGroups& groups) {
    if (!priced_ || priced_->groups != groups) {
      priced_.reset();
      priced_.emplace(MakeCostedGraph(*truth_, groups));
      priced_->topology.proxy = contention_ ? Proxy::kContended : Proxy::kLinear;
    }
    return *priced_;
  }

  static Timeline SimGridTimeline(const CostedGraph& costed, const Assignment& assignment) {
    try {
      return FlowTimeline(costed, assignment);
    } catch (const Interrupted&) {
      throw;
    } catch (const WorkFailed& error) {
      throw MeasurementFailed(error.what());
    }
  }

  std::string name_;
  std::unique_ptr<CostModel> proxy_;  // where the context has none
  std::unique_ptr<CostModel> truth_;
  std::optional<CostedGraph> priced_;  // the last plan's groups
  bool contention_ = false;
  bool greedy_ = false;
  bool simgrid_ = false;
  bool keeps_bounds_ = false;
};

}  // namespace

std::unique_ptr<Target> MakeSimulatedTarget(std::string_view words, const TargetContext& context) {
  if (context.graph == nullptr || context.machine == nullptr)
    throw InvalidInput("a simulated target needs a graph and a machine");
  return std::make_unique<SimulatedTarget>(words, context);
}

std::unique_ptr<CostModel> MakeSimulatedCostModel(std::string_view words, const TargetContext& context) {
  if (context.cost == nullptr || context.machine == nullptr)
    throw InvalidInput("a simulated cost model needs a cost model and a machine");
  return MakeTruth(WantedParser(words).Parse(context.seed), *context.cost, *context.machine);
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/duration_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "millrace/optimize/candidate_list.h"
#include "millrace/plan/chain_graph.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

constexpr double kPriorDeviation = 0.3;    // of an op's log factor
constexpr double kOverallDeviation = 1.0;  // of the log factor of everything
constexpr double kNoise = 0.01;            // of a measured time's log, and of what the model leaves out
constexpr std::size_t kLeastMeasuredToFit = 8;
constexpr int kMostOps = 5000;
constexpr int kRounds = 4;
constexpr double kWorthwhileFit = 0.9;

class Corrected final : public CostModel {
 public:
  Corrected(const CostModel& base, const Machine& machine, const std::vector<double>& factors)
      : base_(base),
        factors_(factors),
        kind_(KindNumbers(machine)),
        kinds_(1 + *std::max_element(kind_.begin(), kind_.end())) {}

  double GroupSeconds(std::span<const OpId> ops, int device) const override {
    const double seconds = base_.GroupSeconds(ops, device);
    if (factors_.empty() || seconds == std::numeric_limits<double>::infinity()) return seconds;
    const std::vector<double> shares = SharesOfOps(base_, ops, device);
    double factor = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) factor += shares[i] * factors_[Variable(ops[i], device)];
    return seconds * factor;
  }
  const Topology& topology() const override { return base_.topology(); }
  const ComputationGraph& graph() const override { return base_.graph(); }
  const Steering* steering() const override { return base_.steering(); }

  std::size_t Variable(OpId op, int device) const {
    return static_cast<std::size_t>(op) * static_cast<std::size_t>(kinds_) +
           static_cast<std::size_t>(kind_[static_cast<std::size_t>(device)]);
  }
  std::size_t variables() const {
    return static_cast<std::size_t>(base_.graph().num_ops()) * static_cast<std::size_t>(kinds_);
  }

 private:
  const CostModel& base_;
  std::vector<double> factors_;
  std::vector<int> kind_;
  int kinds_;
};

// Groups of one longest chain of waiting, from the last to finish backwards.
std::vector<int> CriticalGroups(const CostedGraph& costed, const Assignment& assignment, const Timeline& timeline) {
  std::vector<std::vector<int>> before(static_cast<std::size_t>(costed.num_groups));
  for (const std::vector<int>& chain : UnitChains(costed.topology, assignment)) {
    for (std::size_t i = 1; i < chain.size(); ++i) before[static_cast<std::size_t>(chain[i])].push_back(chain[i - 1]);
  }
  std::vector<int> critical;
  int group =
      static_cast<int>(std::max_element(timeline.finish.begin(), timeline.finish.end()) - timeline.finish.begin());
  while (group >= 0) {
    critical.push_back(group);
    const auto g = static_cast<std::size_t>(group);
    int waited_for = -1;
    double latest = 0;
    const auto consider = [&](int other, double until) {
      if (until > latest) {
        latest = until;
        waited_for = other;
      }
    };
    for (const int other : before[g]) consider(other, timeline.finish[static_cast<std::size_t>(other)]);
    for (const GroupEdge& edge : costed.Predecessors(group)) {
      const auto other = static_cast<std::size_t>(edge.group);
      consider(edge.group, timeline.finish[other] + costed.TransferSeconds(edge.bytes, assignment.placement[other],
                                                                           assignment.placement[g]));
    }
    group = waited_for;
  }
  return critical;
}

// Solves M x = y for a symmetric positive definite matrix, in place, by Cholesky's method.
std::vector<double> Solve(std::vector<std::vector<double>> matrix, std::vector<double> y) {
  const std::size_t n = y.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = matrix[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= matrix[i][k] * matrix[j][k];
      matrix[i][j] = i == j ? std::sqrt(sum) : sum / matrix[j][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) y[i] -= matrix[i][k] * y[k];
    y[i] /= matrix[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) y[i] -= matrix[k][i] * y[k];
    y[i] /= matrix[i][i];
  }
  return y;
}

// A measured plan near the current factors: how far off its time is, and what it hangs on.
struct Slope {
  double log_ratio = 0;                                // log(measured / model)
  std::vector<std::pair<std::size_t, double>> shares;  // of variables in the critical path, ascending by variable
};

class DurationFitting {
 public:
  DurationFitting(const CostModel& proxy, const Machine& machine, std::vector<const Candidate*> measured)
      : proxy_(proxy), machine_(machine), measured_(std::move(measured)) {}

  std::vector<Slope> SlopesAt(const std::vector<double>& factors) const {
    const Corrected model(proxy_, machine_, factors);
    std::vector<Slope> slopes;
    for (const Candidate* candidate : measured_) {
      const CostedGraph costed = MakeCostedGraph(model, candidate->plan.groups);
      const Assignment assignment{candidate->plan.placement, candidate->plan.sequence};
      const Timeline timeline = MakeTimeline(costed, assignment);
      Slope slope;
      slope.log_ratio = std::log(*candidate->target_seconds / timeline.makespan);
      std::map<std::size_t, double> shares;
      for (const int group : CriticalGroups(costed, assignment, timeline)) {
        const int device = assignment.placement[static_cast<std::size_t>(group)];
        const std::vector<OpId>& ops = costed.groups[static_cast<std::size_t>(group)];
        const std::vector<double> of_ops = SharesOfOps(proxy_, ops, device);
        for (std::size_t i = 0; i < ops.size(); ++i)
          shares[model.Variable(ops[i], device)] += of_ops[i] * costed.Seconds(group, device) / timeline.makespan;
      }
      slope.shares.assign(shares.begin(), shares.end());
      slopes.push_back(std::move(slope));
    }
    return slopes;
  }

  static double Error(const std::vector<Slope>& slopes) {
    double mean = 0, square = 0;
    for (const Slope& slope : slopes) mean += slope.log_ratio / static_cast<double>(slopes.size());
    for (const Slope& slope : slopes) square += (slope.log_ratio - mean) * (slope.log_ratio - mean);
    return std::sqrt(square / static_cast<double>(slopes.size()));
  }

  // The posterior mean of the log factors, linear around the current ones.
  void Update(const std::vector<Slope>& slopes, std::vector<double>& log_factors) const {
    const std::size_t n = slopes.size();
    std::vector<double> residual(n);
    std::vector<std::vector<double>> covariance(n, std::vector<double>(n));
    for (std::size_t p = 0; p < n; ++p) {
      residual[p] = slopes[p].log_ratio;
      for (const auto& share : slopes[p].shares) residual[p] += share.second * log_factors[share.first];
      for (std::size_t q = 0; q <= p; ++q) covariance[p][q] = Covariance(slopes[p], slopes[q]);
      covariance[p][p] += kNoise * kNoise;
    }
    const std::vector<double> weights = Solve(std::move(covariance), std::move(residual));
    std::fill(log_factors.begin(), log_factors.end(), 0.0);
    for (std::size_t p = 0; p < n; ++p) {
      for (const auto& share : slopes[p].shares)
        log_factors[share.first] += kPriorDeviation * kPriorDeviation * share.second * weights[p];
    }
  }

 private:
  static double Covariance(const Slope& a, const Slope& b) {
    double sum = 0;
    auto left = a.shares.begin();
    auto right = b.shares.begin();
    while (left != a.shares.end() && right != b.shares.end()) {
      if (left->first < right->first) {
        ++left;
      } else if (right->first < left->first) {
        ++right;
      } else {
        sum += left++->second * right++->second;
      }
    }
    return kOverallDeviation * kOverallDeviation + kPriorDeviation * kPriorDeviation * sum;
  }

  const CostModel& proxy_;
  const Machine& machine_;
  std::vector<const Candidate*> measured_;
};

std::vector<double> Exponentials(const std::vector<double>& logs) {
  std::vector<double> values;
  values.reserve(logs.size());
  for (const double log : logs) values.push_back(std::exp(std::clamp(log, -2.0, 2.0)));
  return values;
}

}  // namespace

std::vector<int> KindNumbers(const Machine& machine) {
  std::map<std::string, int> numbers;
  std::vector<int> of_device;
  for (const Device& device : machine.devices)
    of_device.push_back(numbers.emplace(device.kind, static_cast<int>(numbers.size())).first->second);
  return of_device;
}

std::vector<double> SharesOfOps(const CostModel& model, std::span<const OpId> ops, int device) {
  std::vector<double> shares(ops.size(), 1.0 / static_cast<double>(ops.size()));
  if (ops.size() == 1) return shares;
  double sum = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    shares[i] = model.GroupSeconds(ops.subspan(i, 1), device);
    sum += shares[i];
  }
  const bool weighable = sum > 0 && std::isfinite(sum);
  for (double& share : shares) share = weighable ? share / sum : 1.0 / static_cast<double>(ops.size());
  return shares;
}

DurationFit FitDurations(const CostModel& proxy, const Machine& machine, const std::vector<Candidate>& candidates) {
  std::vector<const Candidate*> measured;
  for (const Candidate& candidate : candidates) {
    if (candidate.target_seconds && *candidate.target_seconds > 0 && candidate.proxy_seconds > 0)
      measured.push_back(&candidate);
  }
  if (measured.size() < kLeastMeasuredToFit || AllTakeTheSame(candidates) || proxy.graph().num_ops() > kMostOps)
    return {};
  const DurationFitting fitting(proxy, machine, std::move(measured));
  DurationFit fit;
  std::vector<double> log_factors(Corrected(proxy, machine, {}).variables(), 0.0);
  std::vector<Slope> slopes = fitting.SlopesAt({});
  fit.error_before = fit.error = DurationFitting::Error(slopes);
  for (int round = 0; round < kRounds; ++round) {
    fitting.Update(slopes, log_factors);
    std::vector<double> factors = Exponentials(log_factors);
    slopes = fitting.SlopesAt(factors);
    const double error = DurationFitting::Error(slopes);
    if (error >= fit.error) continue;
    fit.error = error;
    fit.factors = std::move(factors);
  }
  if (fit.error > kWorthwhileFit * fit.error_before) return {{}, fit.error_before, fit.error_before};
  return fit;
}

std::unique_ptr<CostModel> CorrectedModel(const CostModel& base, const Machine& machine, const DurationFit& fit) {
  return std::make_unique<Corrected>(base, machine, fit.factors);
}

}  // namespace millrace

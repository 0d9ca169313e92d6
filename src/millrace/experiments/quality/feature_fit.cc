// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/feature_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/gflownet/environment/graph_features.h"
#include "millrace/gflownet/environment/observation.h"
#include "millrace/gflownet/environment/reward.h"
#include "millrace/gflownet/environment/state.h"
#include "millrace/gflownet/environment/state_key.h"

namespace millrace {
namespace {

using Row = std::vector<std::int64_t>;

// All states, each before those it leads to, and their choices. State s has the group choices [first_group[s],
// first_group[s + 1]), group choice c the device choices [first_device[c], first_device[c + 1]).
struct SightGraph {
  std::vector<std::size_t> first_group{0}, first_device{0};
  std::vector<std::size_t> group_logit, device_logit;  // by choice
  std::vector<std::size_t> next;                       // by device choice: a state
  std::vector<double> makespans;                       // of the last states, the finished ones
  std::size_t logits = 0;

  std::size_t states() const { return first_group.size() - 1 + makespans.size(); }
  std::size_t unfinished() const { return first_group.size() - 1; }
};

// Numbers what can be seen of choices.
class Sights {
 public:
  Sights(const GraphFeatures& graph, double alike) : alike_(alike) {
    for (std::int32_t d = 0; d < graph.num_devices; ++d) {
      const auto row = [&graph](std::ptrdiff_t device) { return graph.devices.begin() + device * kDeviceFeatures; };
      std::int32_t like = 0;
      while (!std::equal(row(d), row(d) + kDeviceFeatures, row(like))) ++like;
      like_.push_back(like);
    }
  }

  std::size_t OfGroup(const Observation& observation, std::size_t choice) {
    return Number({observation.choices[choice], -1}, observation, choice);
  }
  std::size_t OfDevice(std::int32_t group, const Observation& observation, std::size_t choice) {
    return Number({group, like_[static_cast<std::size_t>(observation.choices[choice])]}, observation, choice);
  }
  std::size_t size() const { return known_.size(); }

 private:
  std::size_t Number(Row row, const Observation& observation, std::size_t choice) {
    const auto append = [&](const std::vector<float>& numbers) {
      const std::size_t width = numbers.size() / observation.size();
      for (std::size_t k = choice * width; k < (choice + 1) * width; ++k)
        row.push_back(std::llround(static_cast<double>(numbers[k]) / alike_));
    };
    append(observation.features);
    append(observation.priors);
    return known_.emplace(std::move(row), known_.size()).first->second;
  }

  double alike_;
  std::vector<std::int32_t> like_;  // by device: the first with the same features
  std::map<Row, std::size_t> known_;
};

SightGraph MakeSightGraph(const Environment& environment, const FeatureFitOptions& options) {
  SightGraph graph;
  Sights sights(MakeGraphFeatures(environment), options.alike);
  std::vector<State> layer(1, State(environment));
  std::size_t first = 0;  // number of the layer's first state
  Observation groups, devices;
  for (int step = 0; step < environment.num_groups(); ++step) {
    std::vector<State> following;
    std::map<StateKey, std::size_t> numbers;
    for (const State& state : layer) {
      StopIfInterrupted();
      ObserveGroups(state, groups);
      for (std::size_t i = 0; i < groups.size(); ++i) {
        const std::int32_t group = groups.choices[i];
        graph.group_logit.push_back(sights.OfGroup(groups, i));
        ObserveDevices(state, group, devices);
        for (std::size_t j = 0; j < devices.size(); ++j) {
          graph.device_logit.push_back(sights.OfDevice(group, devices, j));
          State after = state;
          after.Append({group, devices.choices[j]});
          const auto [entry, is_new] = numbers.try_emplace(KeyOf(after), first + layer.size() + following.size());
          graph.next.push_back(entry->second);
          if (is_new) following.push_back(std::move(after));
        }
        graph.first_device.push_back(graph.next.size());
      }
      graph.first_group.push_back(graph.group_logit.size());
    }
    first += layer.size();
    layer = std::move(following);
    if (static_cast<std::int64_t>(first + layer.size()) > options.most_states)
      throw InvalidInput("too many states to fit a table to: over " + std::to_string(options.most_states));
  }
  for (const State& state : layer) graph.makespans.push_back(state.makespan());
  graph.logits = sights.size();
  return graph;
}

// Softmax of the logits of the choices [begin, end).
void Softmax(const std::vector<double>& logits, const std::vector<std::size_t>& logit_of, std::size_t begin,
             std::size_t end, std::vector<double>& shares) {
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t c = begin; c < end; ++c) most = std::max(most, logits[logit_of[c]]);
  double sum = 0;
  for (std::size_t c = begin; c < end; ++c) sum += shares[c] = std::exp(logits[logit_of[c]] - most);
  for (std::size_t c = begin; c < end; ++c) shares[c] /= sum;
}

// The table's probabilities of plans, and their gradients by its logits.
class LogitTable {
 public:
  explicit LogitTable(const SightGraph& graph)
      : graph_(graph),
        group_shares_(graph.group_logit.size()),
        device_shares_(graph.next.size()),
        reached_(graph.states()),
        worth_(graph.states()) {}

  // By finished state.
  void Probabilities(const std::vector<double>& logits, std::vector<double>& probabilities) {
    std::fill(reached_.begin(), reached_.end(), 0.0);
    reached_[0] = 1;
    for (std::size_t s = 0; s < graph_.unfinished(); ++s) {
      Softmax(logits, graph_.group_logit, graph_.first_group[s], graph_.first_group[s + 1], group_shares_);
      for (std::size_t g = graph_.first_group[s]; g < graph_.first_group[s + 1]; ++g) {
        Softmax(logits, graph_.device_logit, graph_.first_device[g], graph_.first_device[g + 1], device_shares_);
        for (std::size_t d = graph_.first_device[g]; d < graph_.first_device[g + 1]; ++d)
          reached_[graph_.next[d]] += reached_[s] * group_shares_[g] * device_shares_[d];
      }
    }
    probabilities.assign(reached_.begin() + static_cast<std::ptrdiff_t>(graph_.unfinished()), reached_.end());
  }

  // Of a loss with these derivatives by the last probabilities.
  void Gradient(const std::vector<double>& derivatives, std::vector<double>& gradient) {
    std::copy(derivatives.begin(), derivatives.end(),
              worth_.begin() + static_cast<std::ptrdiff_t>(graph_.unfinished()));
    std::fill(gradient.begin(), gradient.end(), 0.0);
    for (std::size_t s = graph_.unfinished(); s-- > 0;) {
      worth_[s] = 0;
      for (std::size_t g = graph_.first_group[s]; g < graph_.first_group[s + 1]; ++g) {
        double of_group = 0;
        for (std::size_t d = graph_.first_device[g]; d < graph_.first_device[g + 1]; ++d)
          of_group += device_shares_[d] * worth_[graph_.next[d]];
        for (std::size_t d = graph_.first_device[g]; d < graph_.first_device[g + 1]; ++d)
          gradient[graph_.device_logit[d]] +=
              reached_[s] * group_shares_[g] * device_shares_[d] * (worth_[graph_.next[d]] - of_group);
        worth_[s] += group_shares_[g] * of_group;
        group_worth_.push_back(of_group);
      }
      for (std::size_t g = graph_.first_group[s]; g < graph_.first_group[s + 1]; ++g)
        gradient[graph_.group_logit[g]] +=
            reached_[s] * group_shares_[g] * (group_worth_[g - graph_.first_group[s]] - worth_[s]);
      group_worth_.clear();
    }
  }

 private:
  const SightGraph& graph_;
  std::vector<double> group_shares_, device_shares_;
  std::vector<double> reached_;  // by state: its probability
  std::vector<double> worth_;    // by state: mean derivative of what it leads to
  std::vector<double> group_worth_;
};

// Adam (Kingma and Ba, 2015) at a rate that falls to nothing.
class Descent {
 public:
  Descent(std::size_t numbers, int updates) : first_(numbers), second_(numbers), updates_(updates) {}

  void Step(const std::vector<double>& gradient, std::vector<double>& logits) {
    constexpr double kRate = 0.2, kFirst = 0.9, kSecond = 0.99, kTiny = 1e-12;
    const double rate = kRate * (1 - static_cast<double>(made_) / updates_);
    ++made_;
    const double first_share = 1 - std::pow(kFirst, made_), second_share = 1 - std::pow(kSecond, made_);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      first_[i] += (1 - kFirst) * (gradient[i] - first_[i]);
      second_[i] += (1 - kSecond) * (gradient[i] * gradient[i] - second_[i]);
      logits[i] -= rate * (first_[i] / first_share) / (std::sqrt(second_[i] / second_share) + kTiny);
    }
  }

 private:
  std::vector<double> first_, second_;
  int updates_;
  int made_ = 0;
};

std::vector<double> Wanted(const Environment& environment, const SightGraph& graph, double temperature) {
  std::vector<double> wanted;
  wanted.reserve(graph.makespans.size());
  for (const double makespan : graph.makespans) wanted.push_back(LogReward(environment, makespan, temperature));
  const double most = *std::max_element(wanted.begin(), wanted.end());
  double sum = 0;
  for (double& value : wanted) sum += value = std::exp(value - most);
  for (double& value : wanted) value /= sum;
  return wanted;
}

}  // namespace

FeatureFit FitFeatures(const Environment& environment, double temperature, const FeatureFitOptions& options) {
  const SightGraph graph = MakeSightGraph(environment, options);
  const std::vector<double> wanted = Wanted(environment, graph, temperature);
  LogitTable table(graph);
  FeatureFit fit;
  fit.logits = static_cast<int>(graph.logits);
  std::vector<double> logits(graph.logits, 0), best = logits, gradient(graph.logits), probabilities;
  std::vector<double> derivatives(wanted.size());
  for (const bool variation : {false, true}) {
    Descent descent(graph.logits, options.updates);
    logits = best;
    for (int update = 0; update < options.updates; ++update) {
      StopIfInterrupted();
      table.Probabilities(logits, probabilities);
      // The corner of |x| at 0, as wide as a plan's share of a hundredth.
      const double corner = 0.01 / static_cast<double>(wanted.size());
      double distance = 0;
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const double above = probabilities[i] - wanted[i];
        distance += std::fabs(above) / 2;
        derivatives[i] = variation ? above / std::sqrt(above * above + corner * corner)
                                   : -wanted[i] / std::max(probabilities[i], 1e-300);
      }
      if (distance < fit.total_variation) {
        fit.total_variation = distance;
        best = logits;
      }
      table.Gradient(derivatives, gradient);
      descent.Step(gradient, logits);
    }
  }
  return fit;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/gflownet/environment/environment.h"
#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"
#include "millrace/random/random.h"
#include "millrace/train/torch/settings_table.h"

// What the GFlowNet is trained on: random scheduling problems, a graph and a machine each, and pieces of real graphs.
// Times are seconds, sizes bytes.
namespace millrace {

// The mix that problems are drawn from. The rows of TableOf say what each setting means.
struct ProblemSettings {
  WeightsByName families = {{"layered", 2}, {"er", 1}, {"sbm", 1}, {"ws", 1}, {"ba", 1}};
  int fewest_ops = 20;
  int most_ops = 300;
  int fewest_devices = 2;
  int most_devices = 8;
  double one_device_share = 0.02;
  double free_share = 0.1;
  double lowest_ccr = 0.1;
  double highest_ccr = 6;
  double latency_share = 0.2;
  double unlike_share = 0.4;
  double gang_share = 0.1;
  double colocated_share = 0;
  double graph_share = 1;
  int smallest_piece = 25;
  int largest_piece = 75;
};

SettingsTable TableOf(ProblemSettings& settings);

// Throws InvalidInput, naming the setting: an unknown family, negative weights, an empty range, a share beyond 0..1.
void CheckSettings(const ProblemSettings& settings);

// A problem with everything policies ask of it. Stays where it is: the environment refers to the costed graph.
class Problem {
 public:
  Problem(const ComputationGraph& graph, const Machine& machine);
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  const CostedGraph& costed() const { return costed_; }
  const Environment& environment() const { return environment_; }

 private:
  CostedGraph costed_;
  Environment environment_;
};

// Draws problems. Immutable: the same generator state gives the same problem, on any thread.
class ProblemSource {
 public:
  // Throws InvalidInput as CheckSettings, and for a real graph without ops.
  explicit ProblemSource(ProblemSettings settings, std::vector<ComputationGraph> graphs = {});

  // A drawn graph has at most `most_ops` ops, a piece of a real one what the settings say.
  std::unique_ptr<Problem> Draw(int most_ops, Random& random) const;
  std::unique_ptr<Problem> Draw(Random& random) const { return Draw(settings_.most_ops, random); }

 private:
  ProblemSettings settings_;
  std::vector<ComputationGraph> graphs_;
};

// Between low and high, both > 0, with a uniform logarithm.
double LogUniform(double low, double high, Random& random);

// `ops` ops of the graph around a random one, grown through random neighbours, with the tensors between them. Seconds
// are what the ops take on a device of 1e12 flops/s and 1e11 bytes/s; `kinds` and `heterogeneity` state them per device
// kind, and bytes are scaled to the CCR, as RandomGraphOptions says. Of a graph with fewer ops: all of it.
ComputationGraph DrawPiece(const ComputationGraph& graph, int ops, double ccr,
                           const std::vector<std::pair<std::string, double>>& kinds, double heterogeneity,
                           Random& random);

// Problems of one kind: a family, so many ops on so many devices at one CCR; with `unlike`, half the devices are of a
// second kind, twice as slow on average; with several `copies`, graphs of ops / copies side by side
// (colocated_graph.h).
struct GridCell {
  const char* family = "layered";
  int ops = 60;
  int devices = 4;
  double ccr = 1;
  bool unlike = false;
  int copies = 1;
};

std::unique_ptr<Problem> MakeGridProblem(const GridCell& cell, std::uint64_t seed);

}  // namespace millrace

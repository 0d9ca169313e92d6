// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/env/environment.h"
#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"
#include "millrace/random/random.h"

// What a sampler is trained on: random scheduling problems, a graph and a machine each, and pieces of real graphs.
namespace millrace {

// The mix problems are drawn from. Shares are probabilities.
struct ProblemSettings {
  std::vector<std::pair<std::string, double>> families = {{"layered", 2}, {"er", 1}, {"sbm", 1}, {"ws", 1}, {"ba", 1}};
  int fewest_ops = 20;  // the number of ops is log-uniform
  int most_ops = 300;
  int fewest_devices = 2;
  int most_devices = 8;
  double one_device_share = 0.02;  // one device, whatever the two above say: only the order is left to choose
  double free_share = 0.1;         // of problems without communication
  double lowest_ccr = 0.1;         // of the others: log-uniform; see RandomGraphOptions
  double highest_ccr = 6;
  double latency_share = 0.2;  // links with latency too, up to half the mean seconds of an op
  double unlike_share = 0.4;   // two kinds of devices
  double gang_share = 0.1;     // one more device that owns several or all units, and is faster
  double graph_share = 1;      // of pieces of the real graphs, where there are any
  int smallest_piece = 25;     // ops of a piece of a real graph
  int largest_piece = 75;
};

// Throws InvalidInput, naming the setting: an unknown family, negative weights, an empty range, a share beyond 0..1.
void CheckProblemSettings(const ProblemSettings& settings);

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
  // Throws InvalidInput as CheckProblemSettings, and for a real graph without ops.
  explicit ProblemSource(ProblemSettings settings, std::vector<ComputationGraph> graphs = {});

  std::unique_ptr<Problem> Draw(Random& random) const;

 private:
  ProblemSettings settings_;
  std::vector<ComputationGraph> graphs_;
};

// `ops` ops of the graph around a random one, grown through random neighbours, with the tensors between them. Seconds
// are what the ops take on a device of 1e12 flops/s and 1e11 bytes/s; `kinds` and `heterogeneity` state them per device
// kind, and bytes are scaled to the CCR, as RandomGraphOptions says. Of a graph with fewer ops: all of it.
ComputationGraph DrawPiece(const ComputationGraph& graph, int ops, double ccr,
                           const std::vector<std::pair<std::string, double>>& kinds, double heterogeneity,
                           Random& random);

// The problems of one cell of a fixed validation grid: a family, so many ops on so many devices at one CCR; with
// `unlike`, half the devices are of a second kind, twice as slow on average.
std::unique_ptr<Problem> MakeGridProblem(const std::string& family, int ops, int devices, double ccr, bool unlike,
                                         std::uint64_t seed);

}  // namespace millrace

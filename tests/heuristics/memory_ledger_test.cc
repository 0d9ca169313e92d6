// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/memory_ledger.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

// What the ledger counts, from the placed groups alone and without keeping accounts.
class PlainLedger {
 public:
  PlainLedger(const CostedGraph& costed, const std::vector<int>& placement) : costed_(costed), placement_(placement) {}

  double Fullness(int group, int device) const {
    const int memory = MemoryOf(device);
    const double capacity = costed_.topology.memory_bytes[static_cast<std::size_t>(memory)];
    const double bytes = Used(memory) + Added(group, device);
    if (std::isinf(capacity) || bytes == 0) return 0;
    return bytes / capacity;
  }

  // Its weights, what it makes, and what it reads that is not there yet.
  double Added(int group, int device) const {
    double bytes = 0;
    for (const int member : Together(group)) bytes += Placed(member) ? 0 : Weights(member);
    if (AnyPlaced(Together(group))) bytes = 0;
    for (const GroupTensor& tensor : costed_.tensors) {
      if (tensor.producer == group) bytes += tensor.bytes;
      if (Reads(tensor, group) && !Lies(tensor, MemoryOf(device))) bytes += tensor.bytes;
    }
    return bytes;
  }

 private:
  double Used(int memory) const {
    double bytes = 0;
    for (int group = 0; group < costed_.num_groups; ++group) {
      for (const int member : Together(group)) {
        // The first placed member of a colocation brings the weights of all.
        if (Placed(member) && MemoryOf(placement_[static_cast<std::size_t>(member)]) == memory) {
          bytes += Weights(group);
          break;
        }
      }
    }
    for (const GroupTensor& tensor : costed_.tensors) bytes += Lies(tensor, memory) ? tensor.bytes : 0;
    return bytes;
  }

  // With its producer and every reader that is placed, until all readers are; an output stays.
  bool Lies(const GroupTensor& tensor, int memory) const {
    bool came = tensor.producer >= 0 && PlacedOn(tensor.producer, memory);
    bool waited_for = tensor.output;
    for (const std::int32_t reader : costed_.Readers(tensor)) {
      came = came || PlacedOn(reader, memory);
      waited_for = waited_for || !Placed(reader);
    }
    return came && waited_for;
  }

  std::set<int> Together(int group) const {
    std::set<int> members = {group};
    const std::int32_t colocation = costed_.colocation[static_cast<std::size_t>(group)];
    for (int other = 0; other < costed_.num_groups; ++other) {
      if (colocation >= 0 && costed_.colocation[static_cast<std::size_t>(other)] == colocation) members.insert(other);
    }
    return members;
  }

  bool AnyPlaced(const std::set<int>& groups) const {
    for (const int group : groups) {
      if (Placed(group)) return true;
    }
    return false;
  }
  bool Reads(const GroupTensor& tensor, int group) const {
    const auto readers = costed_.Readers(tensor);
    return std::set<std::int32_t>(readers.begin(), readers.end()).count(group) > 0;
  }
  bool Placed(int group) const { return placement_[static_cast<std::size_t>(group)] >= 0; }
  bool PlacedOn(int group, int memory) const {
    return Placed(group) && MemoryOf(placement_[static_cast<std::size_t>(group)]) == memory;
  }
  double Weights(int group) const { return costed_.weight_bytes[static_cast<std::size_t>(group)]; }
  int MemoryOf(int device) const { return costed_.topology.memory_of[static_cast<std::size_t>(device)]; }

  const CostedGraph& costed_;
  const std::vector<int>& placement_;
};

TEST(MemoryLedger, CountsTheBytesThatAPlainCountFindsAfterEveryPlacement) {
  Random random(21);
  int limited = 0;
  for (int round = 0; round < 150; ++round) {
    testing::RandomProblemOptions options;
    options.memory = true;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    const CostedGraph costed =
        MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), testing::RandomGroups(random, graph));
    if (!costed.limited_memory) continue;
    ++limited;
    MemoryLedger ledger(costed);
    const Plan plan = testing::RandomPlan(random, graph, machine, costed.groups);
    for (int pass = 0; pass < 2; ++pass) {
      std::vector<int> placement(plan.placement.size(), -1);
      for (const int group : plan.sequence) {
        const PlainLedger plain(costed, placement);
        for (int device = 0; device < costed.num_devices; ++device) {
          const double added = plain.Added(group, device), fullness = plain.Fullness(group, device);
          EXPECT_NEAR(ledger.Added(group, device), added, 1e-9 * (1 + added)) << round;
          EXPECT_NEAR(ledger.Fullness(group, device), fullness, 1e-9 * (1 + fullness)) << round;
        }
        const int device = plan.placement[static_cast<std::size_t>(group)];
        ledger.Place(group, device);
        placement[static_cast<std::size_t>(group)] = device;
      }
      ledger.Clear();
    }
  }
  EXPECT_GT(limited, 50);
}

TEST(MemoryLedger, CountsNothingWhereNoMemoryIsLimited) {
  Random random(22);
  const ComputationGraph graph = testing::RandomGraph(random);
  const CostedGraph costed =
      MakeCostedGraph(*MakeAnalyticCostModel(graph, testing::RandomMachine(random)), SingleOpGroups(graph));
  MemoryLedger ledger(costed);
  for (const std::int32_t group : costed.topological_order) {
    EXPECT_EQ(ledger.Added(group, 0), 0);
    EXPECT_EQ(ledger.Fullness(group, 0), 0);
    ledger.Place(group, 0);
  }
}

}  // namespace
}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/group_relations.h"

#include <algorithm>
#include <iterator>

namespace millrace {
namespace {

constexpr std::size_t kWordBits = 64;

// One set of groups for each group, as rows of bits.
class GroupSets {
 public:
  explicit GroupSets(std::size_t groups)
      : words_((groups + kWordBits - 1) / kWordBits), bits_(groups * words_, std::uint64_t{0}) {}

  bool Has(std::size_t row, std::size_t group) const {
    return (bits_[row * words_ + group / kWordBits] >> (group % kWordBits) & 1) != 0;
  }
  void Add(std::size_t row, std::size_t group) {
    bits_[row * words_ + group / kWordBits] |= std::uint64_t{1} << (group % kWordBits);
  }
  void AddAll(std::size_t row, std::size_t from) {
    for (std::size_t w = 0; w < words_; ++w) bits_[row * words_ + w] |= bits_[from * words_ + w];
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace

std::vector<Relation> GroupRelations(const CostedGraph& costed) {
  const auto groups = static_cast<std::size_t>(costed.num_groups);
  std::vector<Relation> relations(groups * groups, Relation::kIncomparable);
  const auto set = [&](std::size_t before, std::size_t behind, Relation of_behind, Relation of_before) {
    relations[before * groups + behind] = of_behind;
    relations[behind * groups + before] = of_before;
  };
  GroupSets descendants(groups);
  const std::vector<std::int32_t>& order = costed.topological_order;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const auto group = static_cast<std::size_t>(*it);
    // Everything behind a successor comes first: a successor that is among it has a longer path, too.
    for (const GroupEdge& edge : costed.Successors(*it))
      descendants.AddAll(group, static_cast<std::size_t>(edge.group));
    for (std::size_t other = 0; other < groups; ++other) {
      if (descendants.Has(group, other)) set(group, other, Relation::kDescendant, Relation::kAncestor);
    }
    for (const GroupEdge& edge : costed.Successors(*it)) {
      const auto other = static_cast<std::size_t>(edge.group);
      if (descendants.Has(group, other))
        set(group, other, Relation::kDirectSuccessor, Relation::kDirectPredecessor);
      else
        set(group, other, Relation::kReducedSuccessor, Relation::kReducedPredecessor);
    }
    for (const GroupEdge& edge : costed.Successors(*it)) descendants.Add(group, static_cast<std::size_t>(edge.group));
  }
  return relations;
}

}  // namespace millrace

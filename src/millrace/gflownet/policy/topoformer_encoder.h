// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/gflownet/environment/graph_features.h"
#include "millrace/gflownet/policy/group_relations.h"
#include "millrace/gflownet/policy/state_features.h"
#include "millrace/network/linear_layer.h"
#include "millrace/network/weights.h"

// The layers of topoformer.h, which turn the input rows of all groups into their embeddings.
namespace millrace {

// Which groups attend to which, and by what relation. `graph` and `relations` must outlive it.
class AttentionPairs {
 public:
  AttentionPairs(const GraphFeatures& graph, const std::vector<Relation>& relations);

  // Replaces the chain relations by those of a state. There are none at first.
  void SetLinks(const std::vector<StateFeatures::Link>& links);

  // The pairs of one group: to each other group by their relation, then to its neighbours on chains.
  struct Row {
    std::vector<std::int32_t> others;
    std::vector<std::uint8_t> relations;
    std::vector<float> scores;  // edge_weights[relation] * feature of the edge; 0 without an edge
  };
  void Fill(int group, const std::vector<float>& edge_weights, Row& row) const;

  int num_groups() const { return graph_.num_groups; }

 private:
  struct ChainPair {
    std::int32_t other = 0;
    std::uint8_t relation = 0;
  };
  void AddEdges(std::size_t group, const std::vector<std::int32_t>& offsets, const std::vector<std::int32_t>& ends,
                const std::vector<float>& features, const std::vector<float>& edge_weights, Row& row) const;

  const GraphFeatures& graph_;
  const std::vector<Relation>& relations_;
  std::vector<std::int32_t> chain_offsets_;
  std::vector<ChainPair> chain_pairs_;
};

// Immutable, so threads may share it.
class TopoformerEncoder {
 public:
  TopoformerEncoder(const Weights& weights, int relations);  // kRelations, and kChainRelations more for "state"

  // Memory for one call at a time. It may be used again.
  struct Workspace {
    Workspace(const TopoformerEncoder& encoder, int groups);

    LaneArray normed, query, key, value, attended, between, change;
    AttentionPairs::Row row;
  };

  // Turns `rows`, groups x kWidth, from the input of the first layer into the embeddings. Throws Interrupted when the
  // user asks to stop.
  void Encode(const AttentionPairs& pairs, const LaneArray& condition, Workspace& workspace, LaneArray& rows) const;

 private:
  struct Norm {
    Norm(const Weights& weights, const std::string& name);
    LaneArray weight, bias;
  };
  struct Layer {
    Layer(const Weights& weights, const std::string& name, int heads);

    Norm norm_before_attention, norm_before_feed;
    LinearLayer query, key, value, join, first, scale, shift, out;
    std::vector<float> edge;
  };
  void Attend(const Layer& layer, const AttentionPairs& pairs, Workspace& workspace) const;

  int relations_;
  std::vector<Layer> layers_;
  Norm norm_;
};

}  // namespace millrace

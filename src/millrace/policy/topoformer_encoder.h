// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/env/graph_features.h"
#include "millrace/policy/group_relations.h"
#include "millrace/policy/linear_layer.h"
#include "millrace/policy/state_features.h"
#include "millrace/policy/weights.h"

// The layers of topoformer.h: from what goes into them to the embeddings of all groups.
namespace millrace {

// Which groups attend to which, by what relation. Refers to what it is made from.
class AttentionPairs {
 public:
  AttentionPairs(const GraphFeatures& graph, const std::vector<Relation>& relations);

  // Replaces the chain relations, of a state; there are none at first.
  void SetLinks(const std::vector<StateFeatures::Link>& links);

  // The pairs of one group: to each other group by their relation, then to its neighbours on chains.
  struct Row {
    std::vector<std::int32_t> others;
    std::vector<std::uint8_t> relations;
    std::vector<float> scores;  // what the edge adds: edge_weights[relation] * its feature, 0 where there is none
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

// Immutable and shared between threads.
class TopoformerEncoder {
 public:
  TopoformerEncoder(const Weights& weights, int relations);  // kRelations, and kChainRelations more for "state"

  // What a call works with; one for each thread, to be used again.
  struct Workspace {
    Workspace(const TopoformerEncoder& encoder, int groups);

    LaneArray normed, query, key, value, attended, between, change;
    AttentionPairs::Row row;
  };

  // `rows`: groups x kWidth, what the first layer gets; becomes the embeddings. Throws Interrupted when the user asks
  // to stop.
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/formats/gguf.h"
#include "millrace/graph/computation_graph.h"

// A language model as llama.cpp runs it: an embedding, layers one after another, an output. What each of them weighs
// and costs, from its tensors' types and shapes alone. Bytes, flops.
namespace millrace {

// A layer, or the output.
struct ModelPart {
  std::string name;             // "blk.7", "output"
  double weight_bytes = 0;      // on the device that has it
  double read_bytes = 0;        // of them for one token; fewer where experts are chosen among
  double flops = 0;             // matrix products, for one token
  double cache_bytes = 0;       // of keys and values, for each token of context, in f16
  double flops_of_context = 0;  // of attention, for one token and each token of context
};

struct LanguageModel {
  std::string name;
  std::string architecture;    // "llama"
  double embedding_bytes = 0;  // stays with the client
  double embedding_row_bytes = 0;
  double embedding_length = 0;  // values that go from a layer to the next, for one token
  double feed_forward_length = 0;
  double vocabulary = 0;         // values that the output makes, for one token
  std::vector<ModelPart> parts;  // the layers, and the output last

  int layers() const { return static_cast<int>(parts.size()) - 1; }
};

// Throws InvalidInput: no architecture, no layers named blk.N, a layer without tensors, numbers no model has. Layers
// without attention have no cache. Where the output has no weights of its own, it uses the embedding's, and has a copy.
LanguageModel LanguageModelOf(const GgufFile& file);

// What runs: so many tokens at once (1: decoding, more: a prompt) after so many others.
struct LanguageModelUse {
  double tokens = 1;
  double context = 0;
};

// A chain of ops: embedding, layers, output. Weight bytes hold the caches of `context` + `tokens` tokens too, for they
// lie on the same device; bytes accessed are what a token reads, and all experts where there are several tokens.
ComputationGraph GraphOfLanguageModel(const LanguageModel& model, const LanguageModelUse& use);

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "millrace/formats/model_graph.h"
#include "millrace/plan/hash.h"
#include "millrace/workloads/models.h"
#include "millrace/workloads/random_graph.h"
#include "millrace/workloads/task_graph.h"
#include "millrace/workloads/training_graph.h"
#include "tests/workloads/small_models.h"

// The graphs that workloads make, as one number each: plans, weights and tables of results all belong to these graphs
// and to no others. The same for every compiler.
namespace millrace {
namespace {

using Signatures = std::vector<std::pair<std::string, std::string>>;

// A commit that changes graphs says so and changes this table.
const Signatures kExpected = {
    {"layered", "10fba090f7c3b15c"},
    {"er", "00d7bd0d96935276"},
    {"sbm", "5f936e84cc2a94d1"},
    {"ws", "b5b360d6bd1e90cc"},
    {"ba", "741444afa41b79d1"},
    {"fft", "1ba5f9918290f760"},
    {"gaussian_elimination", "8f70c164acccdd61"},
    {"lu", "9e8f3c34a18f44c7"},
    {"montage", "34805285fc368b37"},
    {"randwire", "88c32c9d1bfbcf12"},
    {"nas_cells", "29a0533912ee7689"},
    {"moe", "ec023cf70a74770d"},
    {"skip_pipeline", "cc40c05c70335d7e"},
    {"inception_v3", "0a8db27f0dbb73d9"},
    {"inception_v3, training", "614fb5522b356a37"},
    {"resnet50", "31c79ac44c0f68a0"},
    {"resnet50, training", "c3f3d3b635fe3414"},
    {"squeezenet", "cb9a4ccd997e13ff"},
    {"squeezenet, training", "9d2e943228d30b3b"},
    {"mobilenet_v2", "405c563ac742502b"},
    {"mobilenet_v2, training", "34b992fb6b63a301"},
    {"bert_base", "f8f991efc7d9cdc5"},
    {"bert_base, training", "da968a196e6fa150"},
    {"lstm_lm", "f3399eb70a20845a"},
    {"lstm_lm, training", "b7bc407f3d9714ba"},
    {"rnnlm", "e461cfc40837a0a7"},
    {"rnnlm, training", "21b847cbb3d4adc7"},
    {"gnmt", "aeee76325450aed4"},
    {"gnmt, training", "5cc4112b759d4680"},
    {"transformer_xl", "6fa998a112518f0a"},
    {"transformer_xl, training", "8998417bb66b146e"},
    {"amoebanet", "f87f7f25d3267313"},
    {"amoebanet, training", "e1d10709c1f40caa"},
    {"wavenet", "51eeced92dcb30a0"},
    {"wavenet, training", "79facd51bcce336e"},
    {"towers", "2eb4e8ae4e82bf69"},
    {"towers, training", "76c53f9297a08834"},
    {"ensemble", "d2568b7b997b94a0"},
    {"ensemble, training", "128bfc9c14654af4"},
    {"detector", "e7b7fafa5f6b4331"},
    {"detector, training", "a9ce475028d0001f"},
    {"recommender", "68da2df2a941b7bd"},
    {"recommender, training", "213328e498a8c1d9"},
    {"mixture_of_experts", "bb6ae59dd7fbb8e1"},
    {"mixture_of_experts, training", "5b8564f55a379c37"},
    {"lstm_stacks", "a7085e3b6015e2fe"},
    {"lstm_stacks, training", "6284a8b892f1a12a"},
};

std::string AsTable(const Signatures& signatures) {
  std::string table = "const Signatures kExpected = {\n";
  for (const auto& [name, signature] : signatures) table += "    {\"" + name + "\", \"" + signature + "\"},\n";
  return table + "};\n";
}

TEST(WorkloadSignatures, AreThoseOfTheTable) {
  Signatures found;
  for (const std::string& family : RandomFamilyNames()) {
    RandomGraphOptions options;
    options.ops = 200;
    options.seed = 1;
    found.emplace_back(family, GraphHash(MakeRandomGraph(family, options)));
  }
  for (const std::string& family : TaskGraphNames())
    found.emplace_back(family, GraphHash(MakeTaskGraph(family, {.ops = 200, .ccr = 1, .seed = 1})));
  for (const std::string& name : ModelNames()) {
    ModelOptions options = SmallOptions(name);
    options.draw_weights = false;
    const Model model = MakeModel(name, options);
    found.emplace_back(name, GraphHash(GraphOfModel(model)));
    found.emplace_back(name + ", training", GraphHash(TrainingGraphOf(model)));
  }
  EXPECT_TRUE(found == kExpected) << "Some graphs are not those of the table. A commit that changes graphs says so and "
                                     "changes the table to:\n"
                                  << AsTable(found);
}

}  // namespace
}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "millrace/formats/model_graph.h"
#include "millrace/runtime/executor.h"
#include "millrace/runtime/host_units.h"
#include "millrace/workloads/models.h"
#include "tests/reference/random_problem.h"
#include "tests/runtime/random_model.h"
#include "tests/workloads/small_models.h"

namespace millrace {
namespace {

struct Network {
  std::string test_name;
  std::string name;
  ModelOptions options;
};

void PrintTo(const Network& network, std::ostream* out) { *out << network.test_name; }

Network Small(const std::string& name) {
  Network network{name, name, SmallOptions(name)};
  network.options.seed = 3;
  if (name == "inception_v3") network.options.image = 107;  // odd at every stride
  if (name == "bert_base") network.options.sequence = 11;
  return network;
}

std::vector<Network> SmallNetworks() {
  std::vector<Network> networks;
  for (const std::string& name : ModelNames()) networks.push_back(Small(name));
  Network batch_normalization = Small("resnet50");
  batch_normalization.test_name = "resnet50_with_batch_normalization";
  batch_normalization.options.keep_batch_normalization = true;
  networks.push_back(batch_normalization);
  Network layer_normalization = Small("bert_base");
  layer_normalization.test_name = "bert_base_with_split_layer_normalization";
  layer_normalization.options.split_layer_normalization = true;
  networks.push_back(layer_normalization);
  return networks;
}

// Integers are ids, for which every network here has entries 0 and 1.
std::shared_ptr<const ConstantData> RandomInput(Random& random, const Value& value) {
  const std::size_t count = static_cast<std::size_t>(ElementsOf(value.shape));
  if (value.type == DataType::kInt64) {
    std::vector<std::int64_t> ids(count);
    for (std::int64_t& id : ids) id = static_cast<std::int64_t>(random.Below(2));
    return ConstantData::Int64s(value.shape, ids);
  }
  std::vector<float> elements(count);
  for (float& element : elements) element = static_cast<float>(random.Uniform(-1, 1));
  return ConstantData::Floats(value.shape, elements);
}

class WholeNetworkTest : public ::testing::TestWithParam<Network> {
 protected:
  std::vector<std::vector<float>> Outputs(const Model& model, const Plan& plan) {
    const Program program = CompileProgram(model, machine_, plan);
    Executor executor(program, pool_);
    Random random(17);
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      RandomInput(random, model.values[static_cast<std::size_t>(model.inputs[i])])->CopyTo(executor.input(i).data());
    }
    executor.Run();
    std::vector<std::vector<float>> outputs;
    for (std::size_t i = 0; i < model.outputs.size(); ++i) {
      const Value& value = model.values[static_cast<std::size_t>(model.outputs[i])];
      const auto bytes = executor.output(i);
      outputs.push_back(ConstantData::Dense(value.type, value.shape, {bytes.begin(), bytes.end()})->AsFloats());
    }
    return outputs;
  }

  const Machine machine_ = testing::HostMachine();
  WorkerPool pool_{AllowedProcessors()};
};

TEST_P(WholeNetworkTest, ComputesTheSameUnderRandomPlansAsOpByOp) {
  const Model model = MakeModel(GetParam().name, GetParam().options);
  const ComputationGraph graph = GraphOfModel(model);
  const auto expected = Outputs(model, testing::OneByOne(model));
  Random random(29);
  for (int round = 0; round < 3; ++round) {
    const Plan plan = testing::RandomPlan(random, graph, machine_, testing::RandomGroups(random, graph));
    const auto actual = Outputs(model, plan);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t output = 0; output < expected.size(); ++output) {
      ASSERT_EQ(actual[output].size(), expected[output].size());
      double largest = 0;
      for (const float element : expected[output]) largest = std::max(largest, std::abs(static_cast<double>(element)));
      ASSERT_GT(largest, 0) << "an output of zeros proves nothing";
      for (std::size_t i = 0; i < expected[output].size(); ++i) {
        ASSERT_NEAR(actual[output][i], expected[output][i], 1e-4 * largest)
            << "plan " << round << ", output " << output << ", element " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, WholeNetworkTest, ::testing::ValuesIn(SmallNetworks()),
                         [](const ::testing::TestParamInfo<Network>& test) { return test.param.test_name; });

}  // namespace
}  // namespace millrace

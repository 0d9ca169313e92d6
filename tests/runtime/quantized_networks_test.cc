// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "millrace/formats/model_graph.h"
#include "millrace/formats/onnx_import.h"
#include "millrace/formats/onnx_write.h"
#include "millrace/runtime/executor.h"
#include "millrace/runtime/host_units.h"
#include "millrace/workloads/models.h"
#include "millrace/workloads/quantized_form.h"
#include "tests/reference/random_problem.h"
#include "tests/runtime/random_model.h"
#include "tests/workloads/small_models.h"

namespace millrace {
namespace {

class QuantizedNetworkTest : public ::testing::TestWithParam<std::string> {
 protected:
  std::vector<float> FirstOutput(const Model& model, const Plan& plan) {
    const Program program = CompileProgram(model, machine_, plan);
    Executor executor(program, pool_);
    Random random(17);
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      const Value& value = model.values[static_cast<std::size_t>(model.inputs[i])];
      std::vector<float> numbers(static_cast<std::size_t>(ElementsOf(value.shape)));
      for (float& number : numbers) number = static_cast<float>(random.Uniform(-1, 1));
      if (value.type == DataType::kFloat32)
        ConstantData::Floats(value.shape, numbers)->CopyTo(executor.input(i).data());
    }
    executor.Run();
    const Value& value = model.values[static_cast<std::size_t>(model.outputs.front())];
    const auto bytes = executor.output(0);
    return ConstantData::Dense(value.type, value.shape, {bytes.begin(), bytes.end()})->AsFloats();
  }

  const Machine machine_ = testing::HostMachine();
  WorkerPool pool_{AllowedProcessors()};
};

// Joined or not, the same bytes go from op to op but for ties that fall the other way, which later ops may spread.
TEST_P(QuantizedNetworkTest, ComputesOnIntegersWhatItsPairsSayUnderAnyPlan) {
  const Model apart = QuantizedForm(MakeModel(GetParam(), SmallOptions(GetParam())));
  std::vector<std::string> warnings;
  const Model joined = ImportOnnx(OnnxBytes(apart), nullptr, {}, ShapeSource::kInference, warnings);
  const std::vector<float> expected = FirstOutput(apart, testing::OneByOne(apart));
  const ComputationGraph graph = GraphOfModel(joined);
  double largest = 0;
  for (const float element : expected) largest = std::max(largest, std::abs(static_cast<double>(element)));
  ASSERT_GT(largest, 0) << "an output of zeros proves nothing";
  Random random(30);
  for (int round = 0; round < 3; ++round) {
    const Plan plan = testing::RandomPlan(random, graph, machine_, testing::RandomGroups(random, graph));
    const std::vector<float> actual = FirstOutput(joined, plan);
    ASSERT_EQ(actual.size(), expected.size());
    double apart_by = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) apart_by += std::abs(actual[i] - expected[i]);
    EXPECT_LE(apart_by / static_cast<double>(expected.size()), 0.02 * largest) << "plan " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, QuantizedNetworkTest,
                         ::testing::Values("squeezenet", "resnet50", "mobilenet_v2", "towers", "bert_base"),
                         [](const ::testing::TestParamInfo<std::string>& test) { return test.param; });

}  // namespace
}  // namespace millrace

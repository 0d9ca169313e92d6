// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "millrace/errors/errors.h"
#include "millrace/formats/model_graph.h"
#include "millrace/runtime/host_units.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"
#include "tests/runtime/kernel_harness.h"
#include "tests/runtime/random_model.h"

namespace millrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

// What comes before what in every run of a program, worked out the slow way: a closure over "next of the same worker"
// and "waited for".
class HappensBefore {
 public:
  explicit HappensBefore(const Program& program) : program_(program) {
    for (std::size_t worker = 0; worker < program.instructions.size(); ++worker) {
      first_.push_back(total_);
      total_ += program.instructions[worker].size();
    }
    before_.assign(total_, std::vector<bool>(total_, false));
    // The steps are in an order that all chains and waits follow.
    for (std::size_t step = 0; step < program.steps.size(); ++step) {
      for (std::size_t worker = 0; worker < program.instructions.size(); ++worker) {
        const std::vector<Instruction>& chain = program.instructions[worker];
        for (std::size_t i = 0; i < chain.size(); ++i) {
          if (chain[i].step != static_cast<int>(step)) continue;
          if (i > 0) Follow(Id(worker, i), Id(worker, i - 1));
          for (const Wait& wait : chain[i].waits)
            Follow(Id(worker, i), Id(static_cast<std::size_t>(wait.worker), wait.steps - 1));
        }
      }
    }
  }

  // All workers of `first` have finished before any worker of `second` starts.
  bool Before(int first, int second) const {
    for (const std::size_t a : Parts(first)) {
      for (const std::size_t b : Parts(second)) {
        if (!before_[b][a]) return false;
      }
    }
    return true;
  }

 private:
  std::size_t Id(std::size_t worker, std::size_t i) const { return first_[worker] + i; }

  std::vector<std::size_t> Parts(int step) const {
    std::vector<std::size_t> parts;
    for (std::size_t worker = 0; worker < program_.instructions.size(); ++worker) {
      for (std::size_t i = 0; i < program_.instructions[worker].size(); ++i) {
        if (program_.instructions[worker][i].step == step) parts.push_back(Id(worker, i));
      }
    }
    return parts;
  }

  void Follow(std::size_t later, std::size_t earlier) {
    before_[later][earlier] = true;
    for (std::size_t i = 0; i < total_; ++i) {
      if (before_[earlier][i]) before_[later][i] = true;
    }
  }

  const Program& program_;
  std::vector<std::size_t> first_;
  std::size_t total_ = 0;
  std::vector<std::vector<bool>> before_;  // by later, earlier
};

struct Access {
  std::set<int> steps;  // that read or write the buffer
  int writer = -1;
};

std::vector<Access> AccessesOf(const Program& program) {
  std::vector<Access> accesses(program.buffers.size());
  for (std::size_t step = 0; step < program.steps.size(); ++step) {
    const int number = static_cast<int>(step);
    for (const int buffer : program.steps[step].inputs) accesses[static_cast<std::size_t>(buffer)].steps.insert(number);
    std::vector<int> written = program.steps[step].outputs;
    if (program.steps[step].scratch >= 0) written.push_back(program.steps[step].scratch);
    for (const int buffer : written) {
      Access& access = accesses[static_cast<std::size_t>(buffer)];
      EXPECT_EQ(access.writer, -1) << "buffer " << buffer << " is written twice";
      access.writer = number;
      access.steps.insert(number);
    }
  }
  return accesses;
}

bool Overlap(const Program& program, std::size_t a, std::size_t b) {
  const std::size_t a_begin = program.memory.offsets[a], b_begin = program.memory.offsets[b];
  return a_begin < b_begin + program.buffers[b].bytes && b_begin < a_begin + program.buffers[a].bytes;
}

// Whether one buffer is a part of another, where its bytes are the other's.
bool LiesIn(const Program& program, std::size_t part, std::size_t whole) {
  for (int at = program.buffers[part].inside; at >= 0; at = program.buffers[static_cast<std::size_t>(at)].inside) {
    if (static_cast<std::size_t>(at) == whole) return true;
  }
  return false;
}

// The promises of program.h and memory_planner.h, held against the slow order.
void ExpectSound(const Program& program) {
  const HappensBefore order(program);
  const std::vector<Access> accesses = AccessesOf(program);
  for (std::size_t step = 0; step < program.steps.size(); ++step) {
    for (const int buffer : program.steps[step].inputs) {
      const int writer = accesses[static_cast<std::size_t>(buffer)].writer;
      EXPECT_TRUE(writer < 0 || order.Before(writer, static_cast<int>(step)));
    }
  }
  const auto all_before = [&](const Access& first, const Access& second) {
    for (const int a : first.steps) {
      for (const int b : second.steps) {
        if (!order.Before(a, b)) return false;
      }
    }
    return true;
  };
  for (std::size_t a = 0; a < accesses.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (!Overlap(program, a, b) || LiesIn(program, a, b) || LiesIn(program, b, a)) continue;
      EXPECT_FALSE(program.buffers[a].kept || program.buffers[b].kept);
      EXPECT_TRUE(all_before(accesses[a], accesses[b]) || all_before(accesses[b], accesses[a]))
          << "buffers " << a << " and " << b << " share memory while both are in use";
    }
  }
}

TEST(Program, OfRandomPlansNeverReadsTooEarlyNorSharesMemoryInUse) {
  Random random(11);
  int parts = 0;  // buffers in other buffers
  const Machine machine = testing::HostMachine();
  for (int round = 0; round < testing::Rounds(40); ++round) {
    const Model model = testing::RandomNetwork(random, 4 + static_cast<int>(random.Below(30)));
    const ComputationGraph graph = GraphOfModel(model);
    const Plan plan = testing::RandomPlan(random, graph, machine, testing::RandomGroups(random, graph));
    const Program program = CompileProgram(model, machine, plan);
    ExpectSound(program);
    for (const BufferLife& life : program.buffers) parts += life.inside >= 0;
    EXPECT_THAT(program.inputs, SizeIs(model.inputs.size()));
    EXPECT_THAT(program.outputs, SizeIs(model.outputs.size()));
  }
  EXPECT_GT(parts, 0);
}

TEST(Program, ReusesMemoryAlongAChain) {
  testing::ModelMaker maker;
  int value = maker.Input({1, 16, 32, 32});
  for (int i = 0; i < 20; ++i) value = maker.Node("Relu", {value}, {1, 16, 32, 32});
  maker.Output(value);
  const Program program = CompileProgram(maker.model(), testing::HostMachine(), testing::OneByOne(maker.model()));
  const std::size_t tensor = 16 * 32 * 32 * 4;
  // Input and output are kept; between them two suffice.
  EXPECT_LE(program.memory.bytes, 4 * tensor);
}

// Value -> the buffer that the step of its node writes.
int BufferOf(const Program& program, int value) {
  for (const ProgramStep& step : program.steps) {
    for (std::size_t i = 0; i < step.outputs.size(); ++i) {
      if (step.kernel->outputs()[i] == value) return step.outputs[i];
    }
  }
  return -1;
}

TEST(Program, MakesWhatIsConcatenatedWhereItBelongs) {
  testing::ModelMaker maker;
  const auto image = [](std::int64_t channels) { return Shape{1, channels, 8, 8}; };
  const std::map<std::string, Attribute> along_channels = {{"axis", std::int64_t{1}}};
  const int input = maker.Input(image(16));
  const int a = maker.Node("Relu", {input}, image(16));
  const int b = maker.Node("Sigmoid", {a}, image(16));
  const int both = maker.Node("Concat", {a, b, input, a}, image(64), along_channels);
  const int c = maker.Node("Relu", {both}, image(64));
  const int all = maker.Node("Concat", {c, both}, image(128), along_channels);
  maker.Output(maker.Node("Relu", {all}, image(128)));
  const Program program = CompileProgram(maker.model(), testing::HostMachine(), testing::OneByOne(maker.model()));
  ExpectSound(program);
  const auto offset = [&](int value) {
    return program.memory.offsets[static_cast<std::size_t>(BufferOf(program, value))];
  };
  constexpr std::size_t kImage = 16 * 8 * 8 * sizeof(float);
  EXPECT_EQ(offset(a), offset(both));
  EXPECT_EQ(offset(b), offset(both) + kImage);
  EXPECT_EQ(offset(c), offset(all));
  EXPECT_EQ(offset(both), offset(all) + 4 * kImage);
  EXPECT_GE(offset(all), kImage) << "the caller's input stays where it is";
}

TEST(Program, CopiesWhatTheCallerReadsToWhereItIsConcatenated) {
  testing::ModelMaker maker;
  const Shape half = {1, 16, 8, 8}, whole = {1, 32, 8, 8};
  const int a = maker.Node("Relu", {maker.Input(half)}, half);
  const int b = maker.Node("Sigmoid", {a}, half);
  maker.Output(b);
  const int both = maker.Node("Concat", {a, b}, whole, {{"axis", std::int64_t{1}}});
  maker.Output(maker.Node("Relu", {both}, whole));
  const Program program = CompileProgram(maker.model(), testing::HostMachine(), testing::OneByOne(maker.model()));
  ExpectSound(program);
  EXPECT_EQ(program.buffers[static_cast<std::size_t>(BufferOf(program, a))].inside, BufferOf(program, both));
  EXPECT_EQ(program.buffers[static_cast<std::size_t>(BufferOf(program, b))].inside, -1);
}

TEST(Program, OnOneProcessorWaitsForNothing) {
  Random random(12);
  const Model model = testing::RandomNetwork(random, 30);
  const Program program = CompileProgram(model, testing::HostMachine(), testing::OneByOne(model));
  ASSERT_THAT(program.instructions, SizeIs(1));
  for (const Instruction& instruction : program.instructions.front()) EXPECT_THAT(instruction.waits, IsEmpty());
}

TEST(Program, WaitsOnlyForWhatItDoesNotKnowYet) {
  const Machine machine = testing::HostMachine();
  if (AllowedProcessors().size() < 2) GTEST_SKIP() << "needs two processors";
  // a and b on the first processor, both read by c on the second, then d there reads a again.
  testing::ModelMaker maker;
  const Shape shape = {4, 4};
  const int input = maker.Input(shape);
  const int a = maker.Node("Relu", {input}, shape);
  const int b = maker.Node("Sigmoid", {a}, shape);
  const int c = maker.Node("Add", {a, b}, shape);
  maker.Output(maker.Node("Add", {a, c}, shape));
  Plan plan = testing::OneByOne(maker.model());
  plan.placement = {0, 0, 1, 1};
  const Program program = CompileProgram(maker.model(), machine, plan);
  ASSERT_THAT(program.instructions, SizeIs(2));
  ASSERT_THAT(program.instructions[1], SizeIs(2));
  ASSERT_THAT(program.instructions[1][0].waits, SizeIs(1));
  EXPECT_EQ(program.instructions[1][0].waits[0].worker, 0);
  EXPECT_EQ(program.instructions[1][0].waits[0].steps, 2u);
  EXPECT_THAT(program.instructions[1][1].waits, IsEmpty());
}

TEST(Program, NamesAllOpsTheRuntimeLacksAndHowManyNodesUseThem) {
  testing::ModelMaker maker;
  const Shape shape = {2, 3};
  int value = maker.Input(shape);
  for (int i = 0; i < 3; ++i) value = maker.Node("Frobnicate", {value}, shape);
  value = maker.Node("Transmogrify", {value}, shape);
  maker.Output(maker.Node("Relu", {value}, shape));
  EXPECT_THAT([&] { CheckExecutable(maker.model()); },
              ThrowsMessage<InvalidInput>(AllOf(HasSubstr("the runtime lacks: "), HasSubstr("Frobnicate (3 nodes)"),
                                                HasSubstr("Transmogrify (1 node)"), Not(HasSubstr("Relu")))));
  EXPECT_THROW(CompileProgram(maker.model(), testing::HostMachine(), testing::OneByOne(maker.model())), InvalidInput);
}

TEST(Program, RefusesAMachineThatIsNotThisHost) {
  testing::ModelMaker maker;
  maker.Output(maker.Node("Relu", {maker.Input({2})}, {2}));
  Machine machine = testing::HostMachine();
  machine.devices.front().units = {54321};
  EXPECT_THAT([&] { CompileProgram(maker.model(), machine, testing::OneByOne(maker.model())); },
              ThrowsMessage<InvalidInput>(HasSubstr("54321")));
}

}  // namespace
}  // namespace millrace

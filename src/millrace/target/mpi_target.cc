// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/mpi_target.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/engines/mpi/leader.h"
#include "millrace/engines/mpi/model_parts.h"
#include "millrace/errors/errors.h"
#include "millrace/runtime/group_values.h"
#include "millrace/runtime/program.h"
#include "millrace/target/random_inputs.h"

namespace millrace {
namespace {

constexpr double kMostTensorBytes = 1e12;

// A plan that is loaded on all ranks under a number.
class RankedPlan final : public LoadedPlan {
 public:
  RankedPlan(mpi::Leader& ranks, int number) : ranks_(ranks), number_(number) {}
  ~RankedPlan() override {
    try {
      ranks_.Unload(number_);
    } catch (const std::exception&) {
      // A rank is lost: whoever talks to them next is told.
    }
  }
  RankedPlan(const RankedPlan&) = delete;
  RankedPlan& operator=(const RankedPlan&) = delete;

  double Run() override { return ranks_.Run(number_); }
  int number() const { return number_; }

 private:
  mpi::Leader& ranks_;
  int number_;
};

std::vector<mpi::MadeTensor> TensorsOf(const CostedGraph& costed) {
  std::vector<mpi::MadeTensor> tensors;
  for (const GroupTensor& tensor : costed.tensors) {
    if (tensor.producer < 0 || tensor.num_readers == 0) continue;
    if (tensor.bytes > kMostTensorBytes)
      throw InvalidInput(fmt::format("a tensor of {:g} bytes cannot be sent", tensor.bytes));
    const auto readers = costed.Readers(tensor);
    // What only orders two groups is a message all the same.
    tensors.push_back({tensor.tensor,
                       static_cast<std::size_t>(std::max(1.0, std::ceil(tensor.bytes))),
                       tensor.producer,
                       {readers.begin(), readers.end()}});
  }
  return tensors;
}

class MpiTarget final : public Target {
 public:
  MpiTarget(std::string_view words, const TargetContext& context)
      : name_(words), emulate_(ParseMpiTarget(words).emulate), context_(context), cost_(context.cost) {
    if (context.ranks == nullptr) {
      throw InvalidInput(
          "target mpi runs on the ranks of an MPI launcher: mpirun -n 2 millrace optimize MODEL --target mpi");
    }
    seats_ = mpi::SeatsOf(*context.machine);
    mpi::CheckRanks(seats_, context.ranks->size());
    if (emulate_) {
      if (context.cost == nullptr) throw InvalidInput("target mpi,emulate needs a cost model");
      return;
    }
    if (context.model == nullptr) {
      throw InvalidInput(
          "target mpi executes the model, and this graph has none: give an ONNX file, or take mpi,emulate");
    }
    CheckExecutable(*context.model);
    CheckProcessors();
  }

  std::string name() const override { return name_; }
  bool deterministic() const override { return false; }
  void Reprice(const CostModel& cost) override { cost_ = &cost; }

  std::unique_ptr<LoadedPlan> Load(const Plan& plan) override {
    try {
      return emulate_ ? LoadEmulated(plan) : LoadModel(plan);
    } catch (const Interrupted&) {
      throw;
    } catch (const WorkFailed& error) {
      if (context_.ranks->InTrouble()) throw;
      throw MeasurementFailed(error.what());
    }
  }

 private:
  void CheckProcessors() const {
    for (std::size_t device = 0; device < seats_.size(); ++device) {
      const mpi::Seat& seat = seats_[device];
      const std::size_t has = context_.ranks->members()[static_cast<std::size_t>(seat.rank)].cpus.size();
      if (static_cast<std::size_t>(seat.processors.back()) < has) continue;
      throw InvalidInput(fmt::format(
          "device '{}' takes processor {} of rank {}, which has {}; give the ranks more, or plan for --machine this",
          context_.machine->devices[device].name, seat.processors.back(), seat.rank, has));
    }
  }

  std::unique_ptr<LoadedPlan> LoadModel(const Plan& plan) {
    const Model& model = *context_.model;
    mpi::Leader& ranks = *context_.ranks;
    auto loaded = std::make_unique<RankedPlan>(
        ranks, ranks.Load(mpi::PartsOfModel(model, *context_.machine, plan, ranks.size()), mpi::PartKind::kModel));
    const Random random(context_.seed);
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      std::vector<std::byte> content(SpecOf(model, model.inputs[i]).bytes());
      Random of_input = random.Fork(i);
      FillRandomly(model, model.inputs[i], of_input, content);
      ranks.Write(loaded->number(), model.inputs[i], content);
    }
    loaded->Run();
    return loaded;
  }

  std::unique_ptr<LoadedPlan> LoadEmulated(const Plan& plan) {
    const CostedGraph costed = MakeCostedGraph(*cost_, plan.groups);
    std::vector<double> seconds;
    for (std::size_t group = 0; group < plan.groups.size(); ++group) {
      seconds.push_back(costed.Seconds(static_cast<int>(group), plan.placement[group]));
      if (!std::isfinite(seconds.back()))
        throw MeasurementFailed("mpi,emulate: a group of the plan cannot run on the device it is placed on");
    }
    const auto parts = mpi::DividePlan(plan, seats_, context_.ranks->size(), TensorsOf(costed), seconds);
    return std::make_unique<RankedPlan>(*context_.ranks, context_.ranks->Load(parts, mpi::PartKind::kEmulated));
  }

  const std::string name_;
  const bool emulate_;
  const TargetContext context_;
  const CostModel* cost_;
  std::vector<mpi::Seat> seats_;
};

}  // namespace

bool NamesMpi(std::string_view words) { return words.substr(0, words.find(',')) == "mpi"; }

MpiWords ParseMpiTarget(std::string_view words) {
  MpiWords parsed;
  const std::string all(words);
  while (words.find(',') != std::string_view::npos) {
    words.remove_prefix(words.find(',') + 1);
    const std::string_view option = words.substr(0, words.find(','));
    if (option == "emulate") {
      parsed.emulate = true;
    } else if (option == "links=given") {
      parsed.links_given = true;
    } else {
      throw InvalidInput(
          fmt::format("target {}: there is no option '{}'; there are emulate and links=given", all, option));
    }
  }
  return parsed;
}

std::unique_ptr<Target> MakeMpiTarget(std::string_view words, const TargetContext& context) {
  return std::make_unique<MpiTarget>(words, context);
}

}  // namespace millrace

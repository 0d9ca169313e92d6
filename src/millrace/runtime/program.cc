// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/program.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "millrace/errors/errors.h"
#include "millrace/runtime/group_values.h"
#include "millrace/runtime/host_units.h"
#include "millrace/runtime/layout_change.h"
#include "millrace/runtime/one_openmp_thread.h"

namespace millrace {
namespace {

// One value in one layout.
struct Copy {
  TensorSpec spec;
  int buffer = -1;
};

class Compiler {
 public:
  // `border` null: the plan is whole.
  Compiler(const Model& model, const Machine& machine, const Plan& plan, WeightCache* weights,
           const BorderValues* border)
      : model_(model), machine_(machine), plan_(plan), weights_(weights), border_(border) {}

  Program Compile() {
    NumberWorkers();
    AddInputs();
    if (border_ != nullptr) AddArrivals();
    for (const int group : plan_.sequence) AddGroup(group);
    AddOutputs();
    if (border_ != nullptr) AddDepartures();
    OrderSteps();
    CoverBuffersInside();
    program_.memory = PlanMemory(program_.buffers);
    return std::move(program_);
  }

 private:
  void NumberWorkers() {
    std::set<int> used;
    for (const int device : plan_.placement) {
      const std::vector<int>& units = machine_.devices[static_cast<std::size_t>(device)].units;
      used.insert(units.begin(), units.end());
    }
    // A model without nodes still takes a worker to be run by.
    if (used.empty()) used.insert(machine_.devices.front().units.front());
    program_.cpus.assign(used.begin(), used.end());
    program_.instructions.resize(program_.cpus.size());
    copies_.resize(model_.values.size());
    available_.assign(model_.values.size(), Layout::kPlain);
    leaves_.assign(model_.values.size(), false);
    for (const int value : model_.outputs) leaves_[static_cast<std::size_t>(value)] = true;
    if (border_ == nullptr) return;
    for (const int value : border_->leaving) leaves_[static_cast<std::size_t>(value)] = true;
  }

  std::vector<int> WorkersOf(int group) const {
    const int device = plan_.placement[static_cast<std::size_t>(group)];
    std::vector<int> workers;
    for (const int unit : machine_.devices[static_cast<std::size_t>(device)].units) {
      const auto at = std::lower_bound(program_.cpus.begin(), program_.cpus.end(), unit);
      workers.push_back(static_cast<int>(at - program_.cpus.begin()));
    }
    std::sort(workers.begin(), workers.end());
    return workers;
  }

  int AddBuffer(std::size_t bytes, bool kept) {
    BufferLife life;
    life.bytes = bytes;
    life.kept = kept;
    program_.buffers.push_back(std::move(life));
    return static_cast<int>(program_.buffers.size()) - 1;
  }

  const Copy* FindCopy(int value, Layout layout) const {
    for (const Copy& copy : copies_[static_cast<std::size_t>(value)]) {
      if (copy.spec.layout == layout) return &copy;
    }
    return nullptr;
  }

  ProgramTensor PlainTensor(int value) const {
    const Value& of = model_.values[static_cast<std::size_t>(value)];
    return {value, {of.type, of.shape, Layout::kPlain}, -1};
  }

  // Which inputs of the model the groups read.
  std::set<int> InputsRead() const {
    std::set<int> read;
    for (const std::vector<int>& group : plan_.groups) {
      for (const int value : GroupInputs(model_, group)) read.insert(value);
    }
    return read;
  }

  void AddInputs() {
    const std::set<int> read = border_ == nullptr ? std::set<int>() : InputsRead();
    for (const int value : model_.inputs) {
      if (border_ != nullptr && read.count(value) == 0) continue;
      ProgramTensor input = PlainTensor(value);
      input.buffer = AddBuffer(input.spec.bytes(), true);
      copies_[static_cast<std::size_t>(value)].push_back({input.spec, input.buffer});
      program_.inputs.push_back(std::move(input));
    }
  }

  void AddArrivals() {
    for (const int value : border_->arriving) {
      ProgramTensor arrival = PlainTensor(value);
      arrival.buffer = AddBuffer(arrival.spec.bytes(), true);
      copies_[static_cast<std::size_t>(value)].push_back({arrival.spec, arrival.buffer});
      arrival_in_[arrival.buffer] = static_cast<int>(program_.arrivals.size());
      program_.arrivals.push_back(std::move(arrival));
    }
  }

  void AddDepartures() {
    std::map<int, int> maker;  // by buffer
    for (std::size_t step = 0; step < program_.steps.size(); ++step) {
      for (const int buffer : program_.steps[step].outputs) maker[buffer] = static_cast<int>(step);
    }
    for (const int value : border_->leaving) {
      ProgramTensor departure = PlainTensor(value);
      departure.buffer = FindCopy(value, Layout::kPlain)->buffer;
      const std::size_t step = static_cast<std::size_t>(maker.at(departure.buffer));
      program_.steps[step].departures.push_back(static_cast<int>(program_.departures.size()));
      program_.departures.push_back(std::move(departure));
    }
  }

  void AddGroup(int group) {
    const std::vector<int> workers = WorkersOf(group);
    KernelRequest request;
    request.model = &model_;
    request.nodes = plan_.groups[static_cast<std::size_t>(group)];
    request.workers = static_cast<int>(workers.size());
    request.available = available_;
    request.weights = weights_;
    std::unique_ptr<Kernel> kernel = MakeKernel(request);
    for (std::size_t i = 0; i < kernel->inputs().size(); ++i) {
      ProvideLayout(kernel->inputs()[i], kernel->input_specs()[i].layout, group, workers);
    }
    const int step = AddStep(group, false, workers, std::move(kernel));
    PlaceInputs(program_.steps[static_cast<std::size_t>(step)]);
    const std::vector<int> made = program_.steps[static_cast<std::size_t>(step)].kernel->outputs();
    for (const int value : made) {
      if (leaves_[static_cast<std::size_t>(value)]) ProvideLayout(value, Layout::kPlain, group, workers);
    }
  }

  // Makes sure the value lies in this layout somewhere, by a step of its own for `group` if need be.
  void ProvideLayout(int value, Layout layout, int group, const std::vector<int>& workers) {
    if (FindCopy(value, layout) != nullptr) return;
    const TensorSpec from = copies_[static_cast<std::size_t>(value)].front().spec;
    AddStep(group, true, workers, MakeLayoutChange(value, from, layout, static_cast<int>(workers.size())));
  }

  int AddStep(int group, bool changes_layout, const std::vector<int>& workers, std::unique_ptr<Kernel> kernel) {
    ProgramStep step;
    step.group = group;
    step.workers = workers;
    for (std::size_t i = 0; i < kernel->inputs().size(); ++i) {
      step.inputs.push_back(FindCopy(kernel->inputs()[i], kernel->input_specs()[i].layout)->buffer);
    }
    for (std::size_t i = 0; i < kernel->outputs().size(); ++i) {
      const int value = kernel->outputs()[i];
      const TensorSpec& spec = kernel->output_specs()[i];
      const bool kept = leaves_[static_cast<std::size_t>(value)] && spec.layout == Layout::kPlain;
      step.outputs.push_back(AddBuffer(spec.bytes(), kept));
      if (!changes_layout) available_[static_cast<std::size_t>(value)] = spec.layout;
      copies_[static_cast<std::size_t>(value)].push_back({spec, step.outputs.back()});
    }
    if (kernel->scratch_bytes() > 0) step.scratch = AddBuffer(kernel->scratch_bytes(), false);
    step.kernel = std::move(kernel);
    program_.steps.push_back(std::move(step));
    return static_cast<int>(program_.steps.size()) - 1;
  }

  // What the step would only copy is made where it belongs, unless somebody outside the run may read or write it.
  void PlaceInputs(const ProgramStep& step) {
    for (const PlacedInput& placed : step.kernel->placed_inputs()) {
      const int whole = step.outputs.front();
      BufferLife& life =
          program_.buffers[static_cast<std::size_t>(step.inputs[static_cast<std::size_t>(placed.input)])];
      if (life.kept || life.inside >= 0 || program_.buffers[static_cast<std::size_t>(whole)].kept) continue;
      life.inside = whole;
      life.offset = placed.offset;
    }
  }

  // A buffer is in use as long as what lies in it. Buffers inside come before those that they are in.
  void CoverBuffersInside() {
    for (const BufferLife& life : program_.buffers) {
      if (life.inside < 0) continue;
      BufferLife& whole = program_.buffers[static_cast<std::size_t>(life.inside)];
      for (std::size_t worker = 0; worker < life.born.size(); ++worker) {
        whole.born[worker] = std::min(whole.born[worker], life.born[worker]);
        whole.dead[worker] = std::max(whole.dead[worker], life.dead[worker]);
      }
      if (life.writers != Writers::kOne || whole.writers != Writers::kOne) whole.writers = Writers::kMixed;
    }
  }

  void AddOutputs() {
    std::map<int, int> constant_buffers;
    for (const int value : model_.outputs) {
      ProgramTensor output = PlainTensor(value);
      if (const auto& constant = model_.values[static_cast<std::size_t>(value)].constant) {
        const auto [at, fresh] = constant_buffers.try_emplace(value, -1);
        if (fresh) {
          at->second = AddBuffer(constant->bytes(), true);
          program_.constants.emplace_back(at->second, constant);
        }
        output.buffer = at->second;
      } else {
        const Copy* const made = FindCopy(value, Layout::kPlain);
        if (made == nullptr && border_ != nullptr) continue;  // it is made elsewhere
        output.buffer = made->buffer;
      }
      program_.outputs.push_back(std::move(output));
    }
  }

  // Puts the steps into their workers' chains, with the waits that are needed and the lives of the buffers.
  void OrderSteps() {
    const std::size_t num_workers = program_.cpus.size();
    for (BufferLife& life : program_.buffers) {
      life.born.assign(num_workers, 0);
      life.dead.assign(num_workers, 0);
    }
    knows_.assign(num_workers, VectorClock(num_workers, 0));
    met_.assign(num_workers, std::vector<bool>(program_.arrivals.size(), false));
    writer_.assign(program_.buffers.size(), -1);
    for (std::size_t step = 0; step < program_.steps.size(); ++step) {
      for (const int buffer : program_.steps[step].outputs)
        writer_[static_cast<std::size_t>(buffer)] = static_cast<int>(step);
    }
    after_.resize(program_.steps.size());
    for (std::size_t step = 0; step < program_.steps.size(); ++step) OrderStep(static_cast<int>(step));
  }

  void OrderStep(int number) {
    const ProgramStep& step = program_.steps[static_cast<std::size_t>(number)];
    std::vector<int> writers;
    for (const int buffer : step.inputs) {
      if (writer_[static_cast<std::size_t>(buffer)] >= 0) writers.push_back(writer_[static_cast<std::size_t>(buffer)]);
    }
    // The latest first: it may tell of the earlier ones.
    std::sort(writers.begin(), writers.end(), std::greater<>());
    VectorClock born;
    for (std::size_t share = 0; share < step.workers.size(); ++share) {
      const int worker = step.workers[share];
      VectorClock& knows = knows_[static_cast<std::size_t>(worker)];
      Instruction instruction{number, static_cast<int>(share), {}, {}};
      for (const int writer : writers) WaitFor(writer, knows, instruction);
      AddArrivals(step, met_[static_cast<std::size_t>(worker)], instruction);
      if (share == 0) born = knows;
      for (std::size_t i = 0; i < knows.size(); ++i) born[i] = std::min(born[i], knows[i]);
      program_.instructions[static_cast<std::size_t>(worker)].push_back(std::move(instruction));
    }
    for (const int worker : step.workers) {
      VectorClock& knows = knows_[static_cast<std::size_t>(worker)];
      ++knows[static_cast<std::size_t>(worker)];
      after_[static_cast<std::size_t>(number)].push_back(knows);
    }
    for (const int buffer : step.inputs) Touch(buffer, step.workers);
    const Writers gang = step.workers.size() > 1 ? Writers::kHalves : Writers::kOne;
    for (const int buffer : step.outputs) Begin(buffer, born, step.workers, gang);
    // Between phases scratch changes hands.
    const bool mixed = gang == Writers::kHalves && step.kernel->phases() > 1;
    if (step.scratch >= 0) Begin(step.scratch, born, step.workers, mixed ? Writers::kMixed : gang);
  }

  // What a worker knows has to cover that all workers of `writer` have finished it.
  void WaitFor(int writer, VectorClock& knows, Instruction& instruction) const {
    const std::vector<int>& workers = program_.steps[static_cast<std::size_t>(writer)].workers;
    for (std::size_t share = 0; share < workers.size(); ++share) {
      const std::size_t worker = static_cast<std::size_t>(workers[share]);
      const VectorClock& then = after_[static_cast<std::size_t>(writer)][share];
      if (knows[worker] >= then[worker]) continue;
      instruction.waits.push_back({workers[share], then[worker]});
      for (std::size_t i = 0; i < knows.size(); ++i) knows[i] = std::max(knows[i], then[i]);
    }
  }

  // What arrives for the step and the worker has not waited for before.
  void AddArrivals(const ProgramStep& step, std::vector<bool>& met, Instruction& instruction) const {
    for (const int buffer : step.inputs) {
      const auto arrival = arrival_in_.find(buffer);
      if (arrival == arrival_in_.end() || met[static_cast<std::size_t>(arrival->second)]) continue;
      met[static_cast<std::size_t>(arrival->second)] = true;
      instruction.arrivals.push_back(arrival->second);
    }
  }

  void Begin(int buffer, const VectorClock& born, const std::vector<int>& workers, Writers writers) {
    BufferLife& life = program_.buffers[static_cast<std::size_t>(buffer)];
    life.born = born;
    life.writers = writers;
    Touch(buffer, workers);
  }

  // After the step has been counted: nobody else may have the memory before these workers' present counts.
  void Touch(int buffer, const std::vector<int>& workers) {
    VectorClock& dead = program_.buffers[static_cast<std::size_t>(buffer)].dead;
    for (const int worker : workers) {
      const std::size_t at = static_cast<std::size_t>(worker);
      dead[at] = std::max(dead[at], knows_[at][at]);
    }
  }

  const Model& model_;
  const Machine& machine_;
  const Plan& plan_;
  WeightCache* weights_;
  const BorderValues* border_;
  Program program_;
  std::vector<std::vector<Copy>> copies_;        // by value; the layout it was made in first
  std::vector<Layout> available_;                // by value: the layout it was made in
  std::vector<bool> leaves_;                     // by value: an output of the model
  std::map<int, int> arrival_in_;                // by buffer: what arrives there
  std::vector<std::vector<bool>> met_;           // by worker and arrival: it has waited for it
  std::vector<int> writer_;                      // by buffer: the step that writes it, -1: the caller
  std::vector<VectorClock> knows_;               // by worker: what it knows at this point of its chain
  std::vector<std::vector<VectorClock>> after_;  // by step and share: what the worker knows having finished it
};

}  // namespace

void CheckExecutable(const Model& model) {
  std::map<std::string, int> lacking;
  for (std::size_t node = 0; node < model.nodes.size(); ++node) {
    const std::string reason = UnsupportedReason(model, static_cast<int>(node));
    if (!reason.empty()) ++lacking[reason];
  }
  if (lacking.empty()) return;
  std::string all;
  for (const auto& [reason, nodes] : lacking) {
    all += fmt::format("{}{} ({} node{})", all.empty() ? "" : ", ", reason, nodes, nodes == 1 ? "" : "s");
  }
  throw InvalidInput("the runtime lacks: " + all + "; such a model can be planned and simulated, not executed");
}

Program CompileProgram(const Model& model, const Machine& machine, const Plan& plan, WeightCache* weights) {
  CheckExecutable(model);
  CheckRunsHere(machine);
  const OneOpenMpThread one_thread;
  return Compiler(model, machine, plan, weights, nullptr).Compile();
}

Program CompilePart(const Model& model, const Machine& machine, const Plan& part, const BorderValues& border,
                    WeightCache* weights) {
  CheckExecutable(model);
  CheckRunsHere(machine);
  const OneOpenMpThread one_thread;
  return Compiler(model, machine, part, weights, &border).Compile();
}

}  // namespace millrace

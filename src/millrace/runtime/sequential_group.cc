// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/sequential_group.h"

#include <algorithm>
#include <map>

#include "millrace/runtime/aligned_memory.h"
#include "millrace/runtime/fused_units.h"
#include "millrace/runtime/group_values.h"
#include "millrace/runtime/reorder.h"

namespace millrace {
namespace {

// Where a tensor lies during a run.
struct Place {
  enum class Kind { kInput, kOutput, kScratch } kind = Kind::kScratch;
  std::size_t at = 0;  // index of the input or output, offset in the scratch

  bool operator==(const Place&) const = default;
};

// One member's run, or a change of layout (`member` null).
struct Step {
  std::unique_ptr<Kernel> member;
  std::vector<Place> inputs, outputs;  // of the member; or the one source and the one destination
  TensorSpec reordered_from;
  Layout reordered_to = Layout::kPlain;
};

class SequentialGroup : public Kernel {
 public:
  SequentialGroup(const KernelRequest& request, const std::vector<std::vector<int>>& units)
      : workers_(request.workers) {
    const Model& model = *request.model;
    inputs_ = GroupInputs(model, request.nodes);
    outputs_ = GroupOutputs(model, request.nodes);
    input_specs_.resize(inputs_.size());
    input_bound_.resize(inputs_.size(), false);
    output_specs_.resize(outputs_.size());
    available_ = request.available;
    available_.resize(model.values.size(), Layout::kPlain);
    std::size_t member_scratch = 0;
    for (const std::vector<int>& unit : units) {
      KernelRequest member = request;
      member.nodes = unit;
      member.available = available_;
      Append(MakeUnitKernel(member), member_scratch);
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!input_bound_[i]) input_specs_[i] = SpecOf(model, inputs_[i]);
    }
    member_scratch_at_ = scratch_bytes_;
    scratch_bytes_ += member_scratch;
    phases_ = 0;
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      const int phases = steps_[step].member == nullptr ? 1 : steps_[step].member->phases();
      for (int phase = 0; phase < phases; ++phase) phase_of_.push_back({step, phase});
      phases_ += phases;
      most_inputs_ = std::max(most_inputs_, steps_[step].inputs.size());
      most_outputs_ = std::max(most_outputs_, steps_[step].outputs.size());
    }
    input_pointers_.resize(most_inputs_ * static_cast<std::size_t>(workers_));
    output_pointers_.resize(most_outputs_ * static_cast<std::size_t>(workers_));
  }

  void Run(const KernelBuffers& buffers, int phase, int worker) const override {
    const auto [step_index, inner_phase] = phase_of_[static_cast<std::size_t>(phase)];
    const Step& step = steps_[step_index];
    if (step.member == nullptr) {
      Reorder(step.reordered_from, At(step.inputs[0], buffers), step.reordered_to,
              const_cast<std::byte*>(At(step.outputs[0], buffers)), workers_, worker);
      return;
    }
    const std::byte** inputs = input_pointers_.data() + most_inputs_ * static_cast<std::size_t>(worker);
    std::byte** outputs = output_pointers_.data() + most_outputs_ * static_cast<std::size_t>(worker);
    for (std::size_t i = 0; i < step.inputs.size(); ++i) inputs[i] = At(step.inputs[i], buffers);
    for (std::size_t i = 0; i < step.outputs.size(); ++i)
      outputs[i] = const_cast<std::byte*>(At(step.outputs[i], buffers));
    step.member->Run({inputs, outputs, buffers.scratch + member_scratch_at_, buffers.fault}, inner_phase, worker);
  }

 private:
  struct Lying {
    Place place;
    TensorSpec spec;
  };

  struct PhaseOf {
    std::size_t step;
    int phase;
  };

  static const std::byte* At(const Place& place, const KernelBuffers& buffers) {
    switch (place.kind) {
      case Place::Kind::kInput:
        return buffers.inputs[place.at];
      case Place::Kind::kOutput:
        return buffers.outputs[place.at];
      case Place::Kind::kScratch:
        return buffers.scratch + place.at;
    }
    return nullptr;
  }

  Place NewScratch(const TensorSpec& spec) {
    const Place place{Place::Kind::kScratch, scratch_bytes_};
    scratch_bytes_ += AlignedSize(spec.bytes());
    return place;
  }

  // Where the value lies in this layout, after a step that puts it there if need be.
  Place Find(int value, const TensorSpec& wanted) {
    std::vector<Lying>& copies = lying_[value];
    if (copies.empty()) {
      const auto at = static_cast<std::size_t>(std::find(inputs_.begin(), inputs_.end(), value) - inputs_.begin());
      input_specs_[at] = wanted;
      input_bound_[at] = true;
      copies.push_back({{Place::Kind::kInput, at}, wanted});
    }
    for (const Lying& copy : copies) {
      if (copy.spec == wanted) return copy.place;
    }
    Step step;
    step.inputs = {copies.front().place};
    step.outputs = {NewScratch(wanted)};
    step.reordered_from = copies.front().spec;
    step.reordered_to = wanted.layout;
    copies.push_back({step.outputs.front(), wanted});
    steps_.push_back(std::move(step));
    return copies.back().place;
  }

  void Append(std::unique_ptr<Kernel> member, std::size_t& member_scratch) {
    Step step;
    for (std::size_t i = 0; i < member->inputs().size(); ++i)
      step.inputs.push_back(Find(member->inputs()[i], member->input_specs()[i]));
    for (std::size_t i = 0; i < member->outputs().size(); ++i) {
      const int value = member->outputs()[i];
      const TensorSpec& spec = member->output_specs()[i];
      const auto leaving = std::find(outputs_.begin(), outputs_.end(), value);
      Place place;
      if (leaving != outputs_.end()) {
        place = {Place::Kind::kOutput, static_cast<std::size_t>(leaving - outputs_.begin())};
        output_specs_[place.at] = spec;
      } else {
        place = NewScratch(spec);
      }
      available_[static_cast<std::size_t>(value)] = spec.layout;
      lying_[value].push_back({place, spec});
      step.outputs.push_back(place);
    }
    member_scratch = std::max(member_scratch, AlignedSize(member->scratch_bytes()));
    step.member = std::move(member);
    steps_.push_back(std::move(step));
  }

  int workers_;
  std::vector<Step> steps_;
  std::vector<PhaseOf> phase_of_;
  std::map<int, std::vector<Lying>> lying_;  // by value: the copies of it, the original first
  std::vector<Layout> available_;
  std::vector<bool> input_bound_;
  std::size_t member_scratch_at_ = 0;
  std::size_t most_inputs_ = 0;
  std::size_t most_outputs_ = 0;
  // A worker's pointers for the member it runs: one kernel is never run twice at once.
  mutable std::vector<const std::byte*> input_pointers_;
  mutable std::vector<std::byte*> output_pointers_;
};

}  // namespace

std::unique_ptr<Kernel> MakeSequentialGroup(const KernelRequest& request, const std::vector<std::vector<int>>& units) {
  return std::make_unique<SequentialGroup>(request, units);
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/ort_target.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/runtime/host_units.h"
#include "millrace/target/ort_pieces.h"

namespace millrace {
namespace {

constexpr std::string_view kOrtName = "ort";
constexpr std::string_view kOrtLibrary = "library=";

// The library's path in ort[,library=PATH]; empty where none is named.
std::string LibraryOf(std::string_view words) {
  if (words == kOrtName) return "";
  std::string_view option = words.substr(kOrtName.size() + 1);
  if (!option.starts_with(kOrtLibrary) || option.size() == kOrtLibrary.size())
    throw InvalidInput("target ort has no option '" + Shown(option) + "'; it takes library=PATH");
  return std::string(option.substr(kOrtLibrary.size()));
}

int UnitsOfLargest(const Machine& machine) {
  std::size_t most = 0;
  for (const Device& device : machine.devices) most = std::max(most, device.units.size());
  return static_cast<int>(most);
}

class OrtTarget : public Target {
 public:
  OrtTarget(std::string_view words, const TargetContext& context) : words_(words), context_(context) {
    const std::string library = LibraryOf(words);
    if (context.model == nullptr)
      throw InvalidInput("target ort executes the model, and this graph has none: give an ONNX file, or a sim: target");
    CheckRunsHere(*context.machine);
    engine_ =
        std::make_shared<ort::Engine>(std::make_shared<const ort::Library>(library), *context.model, *context.machine);
    Expect();
  }

  std::string name() const override { return words_; }
  bool deterministic() const override { return false; }
  bool runs_on_our_units() const override { return true; }

  std::string usual_baseline() const override { return "all-cores"; }
  std::optional<GroupTiming> group_timing() const override {
    GroupTiming timing;
    timing.time = [library = engine_->library()](const Model& model, std::span<const int> nodes,
                                                 std::span<const int> cpus, const ProfileGroupOptions& options) {
      return TimeOnOrt(library, model, nodes, cpus, options);
    };
    for (const Device& device : context_.machine->devices)
      timing.processors[device.kind] = "onnxruntime " + engine_->library()->version();
    return timing;
  }

  std::unique_ptr<LoadedPlan> Load(const Plan& plan) override {
    return Loaded(ort::PiecesOf(*context_.graph, *context_.machine, plan));
  }

  // One thread for all of it, and all threads for each op, are plans: everything on a core, everything on the gang.
  std::vector<OwnMode> LoadOwnModes() override {
    const int units = UnitsOfLargest(*context_.machine);
    if (units < 2) return {};
    ort::SessionSettings settings;
    settings.parallel_ops = units;
    std::vector<OwnMode> modes;
    modes.push_back({"ort-parallel",
                     "ONNX Runtime's parallel mode, " + std::to_string(units) +
                         " threads for ops (the caller is one, and waits) of one thread each",
                     Loaded(ort::OnePiece(*context_.model, settings))});
    return modes;
  }

 private:
  std::unique_ptr<OrtPieces> Loaded(const std::vector<ort::Piece>& pieces) {
    try {
      auto loaded = std::make_unique<OrtPieces>(engine_, pieces, context_.seed);
      const std::string why = checked_ ? loaded->WhyOtherThan(expected_) : "";
      if (!why.empty()) throw MeasurementFailed(why);
      return loaded;
    } catch (const Interrupted&) {
      throw;
    } catch (const WorkFailed& error) {
      throw MeasurementFailed(error.what());
    }
  }

  // What the whole model gives in one session.
  void Expect() {
    try {
      const ort::SessionSettings settings{.threads = UnitsOfLargest(*context_.machine)};
      OrtPieces whole(engine_, ort::OnePiece(*context_.model, settings), context_.seed);
      expected_ = whole.CopyOutputs();
      whole.Run();
      checked_ = whole.WhyOtherThan(expected_).empty();
    } catch (const Interrupted&) {
      throw;
    } catch (const WorkFailed& error) {
      throw InvalidInput(std::string("target ort cannot run this model: ") + error.what());
    } catch (const MeasurementFailed& error) {
      throw InvalidInput(std::string("target ort cannot run this model: ") + error.what());
    }
  }

  std::string words_;
  TargetContext context_;
  std::shared_ptr<ort::Engine> engine_;
  std::vector<std::vector<std::byte>> expected_;  // by output of the model
  bool checked_ = false;                          // the model gives the same outputs every time
};

}  // namespace

std::unique_ptr<Target> MakeOrtTarget(std::string_view words, const TargetContext& context) {
  return std::make_unique<OrtTarget>(words, context);
}

}  // namespace millrace

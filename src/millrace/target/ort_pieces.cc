// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/ort_pieces.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "millrace/engines/onnxruntime/agreement.h"
#include "millrace/errors/errors.h"
#include "millrace/graph/index.h"
#include "millrace/target/disturbance.h"
#include "millrace/target/random_inputs.h"
#include "millrace/target/settled_run.h"

namespace millrace {
namespace {

// What an op takes in the midst of others if it does nothing: it is looked at.
constexpr double kLeastSeconds = 5e-7;
// What idle threads of a session spin, a million pauses, and a little more.
constexpr std::chrono::milliseconds kSpinning{40};

// The nodes, without the others, as a model of their own.
Model ByItself(const Model& model, std::span<const int> nodes) {
  std::vector<OpId> ascending(nodes.begin(), nodes.end());
  std::sort(ascending.begin(), ascending.end());
  return PartModel(model, ascending, BordersOf(model, {ascending}).front());
}

// One tiny op: next to nothing but the start of a run.
Model SmallestModel() {
  Model model;
  model.name = "smallest";
  for (const char* const name : {"x", "y"}) {
    Value value;
    value.name = name;
    value.shape = {1};
    model.values.push_back(value);
  }
  model.values[1].producer = 0;
  model.inputs = {0};
  model.outputs = {1};
  model.nodes.push_back({"relu", "Relu", "", {0}, {1}, {}, {}, {}});
  return model;
}

// Of the whole model, on the first processor with the others beside it.
ProfiledTime TimeAlone(const std::shared_ptr<const ort::Library>& library, const Model& model,
                       std::span<const int> cpus, const ProfileGroupOptions& options) {
  Machine machine;
  machine.devices.push_back({"device", "cpu", {cpus.begin(), cpus.end()}, 1, 1, {}, 0});
  const auto engine = std::make_shared<ort::Engine>(library, model, machine);
  std::vector<ort::Piece> pieces =
      ort::OnePiece(model, {.threads = static_cast<int>(cpus.size()), .cpus = {cpus.begin() + 1, cpus.end()}});
  pieces.front().cpu = cpus.front();
  OrtPieces loaded(engine, pieces, 0);
  // It is this thread that runs the session; of its helpers' waits nothing is known.
  const WaitingClock waiting;
  std::vector<ProfiledRun> runs;
  double total = 0;
  while (static_cast<int>(runs.size()) < options.least_runs ||
         (total < options.seconds && static_cast<int>(runs.size()) < options.most_runs)) {
    const double waited_before = waiting.Seconds();
    const double seconds = loaded.RunAtOnce();
    runs.push_back({seconds, waiting.Seconds() - waited_before});
    total += seconds;
  }
  return TimeOf(runs, options);
}

}  // namespace

OrtPieces::OrtPieces(std::shared_ptr<ort::Engine> engine, const std::vector<ort::Piece>& pieces, std::uint64_t seed)
    : engine_(std::move(engine)),
      conductor_(engine_, pieces),
      spins_(std::any_of(pieces.begin(), pieces.end(), [](const ort::Piece& piece) {
        const ort::SessionSettings& settings = piece.settings;
        return (settings.threads > 1 || settings.parallel_ops > 0) && !settings.shares_cpus;
      })) {
  const Model& model = engine_->model();
  const Random random(seed);
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    Random of_input = random.Fork(i);
    FillRandomly(model, model.inputs[i], of_input, conductor_.input(i));
  }
  conductor_.Run();
  LeaveProcessors();
}

double OrtPieces::Run() {
  const double seconds = SettledRun(last_seconds_, [this] { return RunAtOnce(); });
  LeaveProcessors();
  return seconds;
}

void OrtPieces::LeaveProcessors() const {
  if (spins_) std::this_thread::sleep_for(kSpinning);
}

double OrtPieces::RunAtOnce() {
  try {
    last_seconds_ = conductor_.Run();
    return last_seconds_;
  } catch (const WorkFailed& error) {
    throw MeasurementFailed(error.what());
  }
}

std::vector<std::vector<std::byte>> OrtPieces::CopyOutputs() const {
  std::vector<std::vector<std::byte>> outputs;
  for (std::size_t i = 0; i < engine_->model().outputs.size(); ++i) {
    const auto elements = conductor_.output(i);
    outputs.emplace_back(elements.begin(), elements.end());
  }
  return outputs;
}

std::string OrtPieces::WhyOtherThan(const std::vector<std::vector<std::byte>>& expected) const {
  const Model& model = engine_->model();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Value& value = model.values[Index(model.outputs[i])];
    std::string why = ort::WhyNotTheSame(value, expected[i], conductor_.output(i));
    if (!why.empty()) return why;
  }
  return "";
}

ProfiledTime TimeOnOrt(const std::shared_ptr<const ort::Library>& library, const Model& model,
                       std::span<const int> nodes, std::span<const int> cpus, const ProfileGroupOptions& options) {
  constexpr ProfiledTime kNoTime{std::numeric_limits<double>::quiet_NaN(), false};
  ProfileGroupOptions short_options = options;
  short_options.seconds = options.seconds / 10;
  try {
    const double start = TimeAlone(library, SmallestModel(), cpus, short_options).seconds;
    ProfiledTime time = TimeAlone(library, ByItself(model, nodes), cpus, options);
    time.seconds = std::max(kLeastSeconds, time.seconds - start);
    return time;
  } catch (const Interrupted&) {
    throw;
  } catch (const WorkFailed&) {
    return kNoTime;
  } catch (const MeasurementFailed&) {
    return kNoTime;
  }
}

}  // namespace millrace

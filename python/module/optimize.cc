// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/optimize.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "classes.h"
#include "conversions.h"
#include "millrace/machine/detect.h"
#include "millrace/optimize/planners.h"
#include "millrace/planning/deadline.h"
#include "millrace/report/html.h"
#include "millrace/report/result_json.h"
#include "millrace/report/text.h"
#include "millrace/report/write.h"
#include "millrace/target/profile_cache.h"
#include "steering.h"
#include "watched.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace millrace::python {
namespace {

// The result with what Python's views of it share.
struct ResultObject {
  std::shared_ptr<const OptimizeResult> result;
};

struct CandidateObject {
  std::shared_ptr<const OptimizeResult> result;
  const Candidate* candidate = nullptr;  // of it
};

struct BaselineObject {
  std::shared_ptr<const OptimizeResult> result;
  const BaselineResult* baseline = nullptr;  // of it
};

struct Request {
  OptimizeOptions options;
  std::string weights;
  std::string output;  // folder; empty: none is written
};

ResultObject Run(const GraphObject& graph, const Machine& machine, Request request, const Reporter& report) {
  const Deadline clock;
  if (!request.output.empty()) {
    PrepareOutputFolder(request.output);
    request.options.records = (std::filesystem::path(request.output) / "records.jsonl").string();
    request.options.seconds_after = ExpectedWritingSeconds(graph.graph());
  }
  PlannerFiles files;
  files.gflownet_weights = request.weights;
  const PlannerRegistry planners = MakePlannerRegistry(files, request.options.threads);
  request.options.seconds_before = clock.Elapsed();
  auto result = std::make_shared<OptimizeResult>(Optimize(*graph.loaded, machine, planners, request.options, report));
  if (!request.output.empty()) WriteResult(*result, request.output);
  return {std::move(result)};
}

ResultObject OptimizeGraph(const GraphObject& graph, const std::shared_ptr<Machine>& machine, const std::string& target,
                           const std::optional<std::string>& proxy, std::optional<std::int64_t> samples,
                           std::optional<std::int64_t> iterations, std::size_t top_k,
                           const std::vector<std::string>& methods,
                           const std::map<std::string, std::vector<double>>& options,
                           const std::vector<std::string>& without, std::optional<double> time_limit,
                           const std::string& objective, const PinWords& pins, const std::shared_ptr<PlanRecord>& keep,
                           const std::vector<std::string>& keep_ops, bool quick, bool robust, std::uint64_t seed,
                           int threads, const std::string& weights, const std::optional<py::object>& profile_cache,
                           const std::optional<py::object>& output, const py::object& progress) {
  Request request;
  OptimizeOptions& optimize = request.options;
  optimize.target = target;
  optimize.proxy = ProxyOf(proxy);
  optimize.samples = samples;
  optimize.iterations = iterations;
  optimize.top_k = top_k;
  optimize.methods = methods;
  for (const auto& [name, values] : options) optimize.settings.Set(name, values);
  optimize.without = without;
  optimize.time_limit = time_limit;
  optimize.objective = ParseObjective(objective);
  optimize.steering = SteeringOf(graph.graph(), *machine, pins, keep, keep_ops);
  optimize.quick = quick;
  optimize.robust = robust;
  optimize.seed = seed;
  optimize.threads = threads > 0 ? threads : UsableProcessors();
  optimize.profile_cache = profile_cache ? PathOf(*profile_cache) : DefaultProfileCachePath();
  request.weights = weights;
  if (output) request.output = PathOf(*output);
  return Watched([graph, machine, request = std::move(request)](
                     const Reporter& report) { return Run(graph, *machine, request, report); },
                 progress);
}

py::dict StageMeanings() {
  py::dict stages;
  for (const OptimizeStage& stage : OptimizeStages()) {
    if (!stage.name.empty()) stages[py::str(stage.name)] = stage.meaning;
  }
  return stages;
}

// A property that is a member of the result.
template <typename Member>
auto Of(Member OptimizeResult::*member) {
  return [member](const ResultObject& object) { return (*object.result).*member; };
}

template <typename Member>
auto Of(Member Candidate::*member) {
  return [member](const CandidateObject& object) { return object.candidate->*member; };
}

template <typename Member>
auto Of(Member BaselineResult::*member) {
  return [member](const BaselineObject& object) { return object.baseline->*member; };
}

void AddCandidate(py::module_& module) {
  py::class_<CandidateObject>(module, "Candidate", "A plan that optimize made and, perhaps, measured. Seconds.")
      .def_property_readonly("plan",
                             [](const CandidateObject& object) {
                               return std::make_shared<PlanRecord>(RecordOf(*object.result, *object.candidate));
                             })
      .def_property_readonly("method", Of(&Candidate::method))
      .def_property_readonly("fusion", Of(&Candidate::fusion), "How its groups were formed.")
      .def_property_readonly("proxy_seconds", Of(&Candidate::proxy_seconds))
      .def_property_readonly("target_seconds", Of(&Candidate::target_seconds),
                             "Median of `times`; None: never measured, or failed.")
      .def_property_readonly(
          "times", [](const CandidateObject& object) { return ArrayOf(object.candidate->times); },
          "Of every run: an array of float64, of shape (runs,).")
      .def_property_readonly(
          "measured",
          [](const CandidateObject& object) -> std::optional<py::tuple> {
            const std::optional<Timeline>& run = object.candidate->measured;
            if (!run) return std::nullopt;
            return py::make_tuple(ArrayOf(run->start), ArrayOf(run->finish));
          },
          "Start and finish of each group in one run: two arrays of float64, of shape (groups,); None where the target "
          "cannot tell.")
      .def_property_readonly("disturbed", Of(&Candidate::disturbed),
                             "Did other processes take our processors meanwhile?")
      .def_property_readonly("failure", Of(&Candidate::failure), "Why measuring failed; empty if it did not.")
      .def("__repr__", [](const CandidateObject& object) {
        return py::str("<millrace.Candidate by {!r}>").format(object.candidate->method);
      });
  py::class_<BaselineObject>(module, "Baseline", "What the best plan was compared with after the choice.")
      .def_property_readonly("name", Of(&BaselineResult::name))
      .def_property_readonly("meaning", Of(&BaselineResult::meaning))
      .def_property_readonly("candidate",
                             [](const BaselineObject& object) {
                               return CandidateObject{object.result, &object.baseline->candidate};
                             })
      .def_property_readonly("ratio", Of(&BaselineResult::ratio),
                             "95 % interval of its time over the best's; (0, 0) where either has none.");
}

}  // namespace

void AddOptimizing(py::module_& module) {
  py::class_<Progress>(module, "Progress", "How far optimize is.")
      .def_readonly("stage", &Progress::stage)
      .def_readonly("method", &Progress::method, "At work now; empty where none is.")
      .def_readonly("done", &Progress::done, "Share of the whole run, 0 to 1, never less than before.")
      .def_readonly("seconds_left", &Progress::seconds_left, "None where time is not limited.")
      .def("__repr__", [](const Progress& step) {
        return py::str("<millrace.Progress {!r} {:.0%}>").format(step.stage, step.done);
      });
  AddCandidate(module);
  py::class_<ResultObject>(module, "OptimizeResult", "What optimize found. Seconds.")
      .def_property_readonly("best",
                             [](const ResultObject& object) {
                               return CandidateObject{object.result, &object.result->best};
                             })
      .def_property_readonly(
          "baselines",
          [](const ResultObject& object) {
            py::dict baselines;
            for (const BaselineResult& baseline : object.result->baselines)
              baselines[py::str(baseline.name)] = BaselineObject{object.result, &baseline};
            return baselines;
          },
          "What you would get without planning, by name.")
      .def_property_readonly(
          "candidates",
          [](const ResultObject& object) {
            py::list candidates;
            for (const Candidate& candidate : object.result->candidates)
              candidates.append(CandidateObject{object.result, &candidate});
            return candidates;
          },
          "Every plan that went to the target, best proxy first.")
      .def_property_readonly(
          "challenger",
          [](const ResultObject& object) -> std::optional<CandidateObject> {
            if (!object.result->challenger) return std::nullopt;
            return CandidateObject{object.result, &object.result->challenger->candidate};
          },
          "The plan that was chosen, where a baseline turned out faster; else None.")
      .def_property_readonly(
          "graph",
          [](const ResultObject& object) {
            auto loaded = std::make_shared<LoadedGraph>();
            loaded->graph = object.result->graph;
            return GraphObject{std::move(loaded)};
          },
          "The graph with measured times, where profiled: what the proxy saw.")
      .def_property_readonly(
          "machine", [](const ResultObject& object) { return std::make_shared<Machine>(object.result->machine); })
      .def_property_readonly("target", Of(&OptimizeResult::target))
      .def_property_readonly("proxy", [](const ResultObject& object) { return NameOf(object.result->proxy); })
      .def_property_readonly("seed", Of(&OptimizeResult::seed))
      .def_property_readonly("lower_bound_seconds", Of(&OptimizeResult::lower_bound_seconds),
                             "For the best plan's groups.")
      .def_property_readonly("proven_bound_seconds", Of(&OptimizeResult::proven_bound_seconds),
                             "The same, by every means that optimize has.")
      .def_property_readonly("fusion_free_bound_seconds", Of(&OptimizeResult::fusion_free_bound_seconds))
      .def_property_readonly(
          "proxy_rank_correlation",
          [](const ResultObject& object) { return object.result->proxy_judgement.rank_correlation; },
          "Spearman, proxy against target; None where it is undefined.")
      .def_property_readonly(
          "proxy_told_apart", [](const ResultObject& object) { return object.result->proxy_judgement.told_apart; },
          "Kendall, over pairs of plans that the measurements tell apart; None where there are none.")
      .def_property_readonly("pays_back_after_runs", Of(&OptimizeResult::pays_back_after_runs))
      .def_property_readonly("planning_seconds", Of(&OptimizeResult::planning_seconds))
      .def_property_readonly("warnings", Of(&OptimizeResult::warnings))
      .def(
          "to_json", [](const ResultObject& object) { return ResultJson(*object.result); },
          "The object that `millrace optimize --json` prints, as text.")
      .def(
          "to_dict", [](const ResultObject& object) { return ObjectOfJson(ResultJson(*object.result)); },
          "The object that `millrace optimize --json` prints.")
      .def(
          "to_text", [](const ResultObject& object) { return ResultText(*object.result); },
          "What `millrace optimize` prints.")
      .def(
          "to_html", [](const ResultObject& object) { return ReportHtml(*object.result); }, "The report, one page.")
      .def(
          "save",
          [](const ResultObject& object, const py::object& folder) {
            PrepareOutputFolder(PathOf(folder));
            WriteResult(*object.result, PathOf(folder));
          },
          "folder"_a, "Writes plans, report and trace into the folder. Raises InvalidInput or WorkFailed.")
      .def("__repr__", [](const ResultObject& object) {
        return py::str("<millrace.OptimizeResult of {!r}, best by {!r}>")
            .format(object.result->graph.name(), object.result->best.method);
      });
  module.def("optimize", &OptimizeGraph, "graph"_a, "machine"_a.none(false), "target"_a, "proxy"_a, "samples"_a,
             "iterations"_a, "top_k"_a, "methods"_a, "options"_a, "without"_a, "time_limit"_a, "objective"_a, "pins"_a,
             "keep"_a, "keep_ops"_a, "quick"_a, "robust"_a, "seed"_a, "threads"_a, "weights"_a, "profile_cache"_a,
             "output"_a, "progress"_a);
  module.def("optimize_stages", &StageMeanings, "Stages that `without` may name, and what each does.");
}

}  // namespace millrace::python

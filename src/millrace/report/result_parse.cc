// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "millrace/formats/json_value.h"
#include "millrace/formats/text_lines.h"
#include "millrace/report/result_json.h"

namespace millrace {
namespace {

// Seconds or a ratio of such. Simulated runs of a graph without costs take none.
double NumberAt(const JsonPlace& place) {
  const double number = place.Cost();
  if (number > kMostTime) place.Refuse("is beyond what anything takes");
  return number;
}

std::vector<double> NumbersAt(const JsonPlace& list) {
  std::vector<double> numbers(list.Size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = NumberAt(list.Element(i));
  return numbers;
}

std::optional<double> NumberIfThere(const JsonPlace& object, std::string_view name) {
  const std::optional<JsonPlace> place = object.Optional(name);
  return place ? std::optional(NumberAt(*place)) : std::nullopt;
}

std::optional<double> CorrelationIfThere(const JsonPlace& object, std::string_view name) {
  const std::optional<JsonPlace> place = object.Optional(name);
  return place ? std::optional(place->Number()) : std::nullopt;
}

std::int64_t CountAt(const JsonPlace& place) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(place.Unsigned(), kMost));
}

std::string TextIfThere(const JsonPlace& object, std::string_view name) {
  const std::optional<JsonPlace> place = object.Optional(name);
  return place ? place->Text() : "";
}

bool TrueIfThere(const JsonPlace& object, std::string_view name) {
  const std::optional<JsonPlace> place = object.Optional(name);
  return place && place->Boolean();
}

std::pair<double, double> RatioIfThere(const JsonPlace& object, std::string_view name) {
  const std::optional<JsonPlace> place = object.Optional(name);
  if (!place) return {0, 0};
  if (place->Size() != 2) place->Refuse("must be the two ends of an interval");
  return {NumberAt(place->Element(0)), NumberAt(place->Element(1))};
}

Timeline MeasuredTimeline(const JsonPlace& place) {
  Timeline timeline;
  timeline.start = NumbersAt(place.Member("start"));
  timeline.finish = NumbersAt(place.Member("finish"));
  if (timeline.start.size() != timeline.finish.size()) place.Refuse("has not as many starts as finishes");
  for (std::size_t group = 0; group < timeline.start.size(); ++group) {
    if (timeline.finish[group] < timeline.start[group])
      place.Member("finish").Element(group).Refuse("is before the start");
    timeline.makespan = std::max(timeline.makespan, timeline.finish[group]);
  }
  return timeline;
}

StoredCandidate CandidateIn(const JsonPlace& place) {
  StoredCandidate stored;
  Candidate& candidate = stored.candidate;
  candidate.method = place.Member("method").Text();
  candidate.fusion = place.Member("fusion").Text();
  candidate.proxy_seconds = NumberAt(place.Member("proxy_seconds"));
  candidate.target_seconds = NumberIfThere(place, "target_seconds");
  candidate.times = NumbersAt(place.Member("times"));
  candidate.disturbed = TrueIfThere(place, "disturbed");
  candidate.fragility = NumberIfThere(place, "fragility");
  for (const char* const value : {"peak_memory_bytes", "period_seconds"}) {
    if (const std::optional<double> number = NumberIfThere(place, value)) candidate.value = number;
  }
  candidate.failure = TextIfThere(place, "failure");
  if (const std::optional<JsonPlace> measured = place.Optional("measured_timeline"))
    candidate.measured = MeasuredTimeline(*measured);
  stored.plan_hash = place.Member("plan_hash").Text();
  return stored;
}

// Of a run that was to find something else than the fastest plan.
void ReadObjective(const JsonPlace& root, OptimizeResult& result) {
  const std::optional<JsonPlace> objective = root.Optional("objective");
  if (!objective) return;
  const std::string name = objective->Text();
  if (name != NameOf(Objective::Aim::kMemory) && name != NameOf(Objective::Aim::kThroughput))
    objective->Refuse("is neither memory nor throughput");
  result.objective = ParseObjective(name);
  result.objective.seconds = NumberAt(root.Member("limit_seconds"));
  result.fastest = CandidateIn(root.Member("fastest")).candidate;
  const JsonPlace front = root.Member("front");
  for (std::size_t i = 0, size = front.Size(); i < size; ++i) {
    result.front.push_back(CandidateIn(front.Element(i)).candidate);
    if (!result.front.back().value || !result.front.back().target_seconds)
      front.Element(i).Refuse("has not both a time and what the objective is about");
  }
}

// What the measurements say of the proxy, for text.
void ReadFits(const JsonPlace& root, OptimizeResult& result) {
  if (const std::optional<JsonPlace> fit = root.Optional("transfer_fit")) {
    result.transfer_fit = TransferFit{};
    result.transfer_fit->guess.seconds = NumberAt(fit->Member("latency_seconds"));
    result.transfer_fit->guess.seconds_per_byte = NumberAt(fit->Member("seconds_per_byte"));
    result.transfer_fit->error_before = NumberAt(fit->Member("error_before"));
    result.transfer_fit->error = NumberAt(fit->Member("error"));
  }
  if (const std::optional<JsonPlace> in_context = root.Optional("proxy_in_context")) {
    result.in_context.emplace();
    result.in_context->rank_correlation = CorrelationIfThere(*in_context, "rank_correlation");
    result.in_context->told_apart = CorrelationIfThere(*in_context, "told_apart");
    result.in_context->median_error = NumberIfThere(*in_context, "median_error");
    result.in_context->first_over_best = NumberIfThere(*in_context, "first_over_best");
  }
}

bool Lists(const std::optional<JsonPlace>& names, const std::string& name) {
  for (std::size_t i = 0, size = names ? names->Size() : 0; i < size; ++i) {
    if (names->Element(i).Text() == name) return true;
  }
  return false;
}

std::vector<StoredCandidate> CandidatesIn(const JsonPlace& list) {
  std::vector<StoredCandidate> candidates;
  for (std::size_t i = 0, size = list.Size(); i < size; ++i) candidates.push_back(CandidateIn(list.Element(i)));
  return candidates;
}

}  // namespace

StoredResult ParseResultJson(std::string_view text) {
  const JsonValue value = ParseJson(text);
  const JsonPlace root(value);
  CheckFormat(root, kResultFormat);
  StoredResult stored;
  OptimizeResult& result = stored.result;
  result.graph_hash = root.Member("graph_hash").Text();
  result.target = root.Member("target").Text();
  const JsonPlace proxy_place = root.Member("proxy");
  const std::optional<Proxy> proxy = ProxyNamed(proxy_place.Text());
  if (!proxy) proxy_place.Refuse("is neither linear nor contended");
  result.proxy = *proxy;
  result.seed = root.Member("seed").Unsigned();
  result.robust = TrueIfThere(root, "robust");
  stored.best = CandidateIn(root.Member("best"));
  const JsonPlace compared = root.Member("compared");
  const JsonPlace ratios = root.Member("baseline_ratio_intervals");
  stored.baselines = CandidatesIn(compared);
  for (std::size_t i = 0; i < stored.baselines.size(); ++i) {
    BaselineResult baseline;
    baseline.name = compared.Element(i).Member("name").Text();
    baseline.meaning = compared.Element(i).Member("meaning").Text();
    baseline.candidate = stored.baselines[i].candidate;
    baseline.ratio = RatioIfThere(ratios, baseline.name);
    baseline.keeps = !Lists(root.Optional("baselines_breaking_pins"), baseline.name);
    result.baselines.push_back(std::move(baseline));
  }
  if (const std::optional<JsonPlace> challenger = root.Optional("challenger")) {
    stored.challenger = CandidateIn(*challenger);
    result.challenger = Challenger{stored.challenger->candidate, RatioIfThere(*challenger, "ratio_interval")};
  }
  ReadObjective(root, result);
  ReadFits(root, result);
  stored.candidates = CandidatesIn(root.Member("candidates"));
  result.best = stored.best.candidate;
  for (const StoredCandidate& candidate : stored.candidates) result.candidates.push_back(candidate.candidate);
  result.lower_bound_seconds = NumberAt(root.Member("lower_bound_seconds"));
  result.proven_bound_seconds = NumberAt(root.Member("proven_bound_seconds"));
  result.fusion_free_bound_seconds = NumberAt(root.Member("fusion_free_bound_seconds"));
  result.target_indifferent = TrueIfThere(root, "target_indifferent");
  result.proxy_judgement.rank_correlation = CorrelationIfThere(root, "proxy_rank_correlation");
  result.proxy_judgement.told_apart = CorrelationIfThere(root, "proxy_told_apart");
  result.proxy_judgement.median_error = NumberIfThere(root, "proxy_median_error");
  result.proxy_judgement.first_over_best = NumberIfThere(root, "proxy_first_over_best");
  result.pays_back_after_runs = NumberIfThere(root, "pays_back_after_runs");
  result.proposed = CountAt(root.Member("plans_proposed"));
  result.recalled = root.Member("plans_recalled").Integer();
  result.infeasible = CountAt(root.Member("plans_over_memory"));
  result.planning_seconds = NumberAt(root.Member("planning_seconds"));
  result.disturbed = TrueIfThere(root, "disturbed");
  if (const std::optional<JsonPlace> moves = root.Optional("processor_moves"))
    result.processor_moves = moves->Integer();
  const JsonPlace warnings = root.Member("warnings");
  for (std::size_t i = 0, size = warnings.Size(); i < size; ++i) result.warnings.push_back(warnings.Element(i).Text());
  return stored;
}

}  // namespace millrace

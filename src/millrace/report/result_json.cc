// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/result_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "millrace/plan/hash.h"
#include "millrace/simulate/bounds.h"

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

Json OrNull(const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); }

Json TimelineJson(const Timeline& timeline) { return {{"start", timeline.start}, {"finish", timeline.finish}}; }

// Of a ratio that is known.
Json RatioJson(const std::pair<double, double>& ratio) {
  return ratio.second > 0 && std::isfinite(ratio.second) ? Json{ratio.first, ratio.second} : Json(nullptr);
}

// What the objective is about, with its unit.
const char* ValueName(Objective::Aim aim) {
  return aim == Objective::Aim::kMemory ? "peak_memory_bytes" : "period_seconds";
}

Json CandidateJson(const Candidate& candidate, Objective::Aim aim) {
  Json json{{"method", candidate.method},
            {"proxy_seconds", candidate.proxy_seconds},
            {"target_seconds", OrNull(candidate.target_seconds)},
            {"fusion", candidate.fusion},
            {"plan_hash", PlanHash(candidate.plan)},
            {"runs", candidate.times.size()},
            {"times", candidate.times}};
  if (candidate.disturbed) json["disturbed"] = true;
  if (candidate.measured) json["measured_timeline"] = TimelineJson(*candidate.measured);
  if (candidate.value) json[ValueName(aim)] = *candidate.value;
  if (candidate.fragility) json["fragility"] = *candidate.fragility;
  if (!candidate.failure.empty()) json["failure"] = candidate.failure;
  return json;
}

// What transfers seem to cost beyond the proxy; null where nothing was fitted.
Json TransferFitJson(const OptimizeResult& result) {
  if (!result.transfer_fit) return nullptr;
  return {{"latency_seconds", result.transfer_fit->guess.seconds},
          {"seconds_per_byte", result.transfer_fit->guess.seconds_per_byte},
          {"error_before", result.transfer_fit->error_before},
          {"error", result.transfer_fit->error}};
}

// How the proxy does that knows op times in context; null where no timelines were measured.
Json InContextJson(const OptimizeResult& result) {
  if (!result.in_context) return nullptr;
  return {{"rank_correlation", OrNull(result.in_context->rank_correlation)},
          {"told_apart", OrNull(result.in_context->told_apart)},
          {"median_error", OrNull(result.in_context->median_error)},
          {"first_over_best", OrNull(result.in_context->first_over_best)}};
}

}  // namespace

std::string ResultJson(const OptimizeResult& result) {
  const Objective::Aim aim = result.objective.aim;
  Json baselines = Json::object();
  Json ratios = Json::object();
  Json unsteered = Json::array();
  Json compared = Json::array();
  for (const BaselineResult& baseline : result.baselines) {
    baselines[baseline.name] = OrNull(baseline.candidate.target_seconds);
    if (baseline.ratio.second > 0) ratios[baseline.name] = RatioJson(baseline.ratio);
    if (!baseline.keeps) unsteered.push_back(baseline.name);
    Json entry = CandidateJson(baseline.candidate, aim);
    entry["name"] = baseline.name;
    entry["meaning"] = baseline.meaning;
    compared.push_back(std::move(entry));
  }
  Json challenger;
  if (result.challenger) {
    challenger = CandidateJson(result.challenger->candidate, aim);
    challenger["ratio_interval"] = RatioJson(result.challenger->ratio);
  }
  for (const OwnModeResult& mode : result.own_modes) {
    baselines[mode.name] = mode.measurement.failed ? Json(nullptr) : Json(mode.measurement.median);
    if (mode.ratio.second > 0) ratios[mode.name] = {mode.ratio.first, mode.ratio.second};
  }
  Json candidates = Json::array();
  for (const Candidate& candidate : result.candidates) candidates.push_back(CandidateJson(candidate, aim));
  Json json{{"format", kResultFormat},
            {"version", 1},
            {"graph", result.graph.name()},
            {"graph_hash", result.graph_hash},
            {"machine", result.machine.name},
            {"target", result.target},
            {"proxy", NameOf(result.proxy)},
            {"seed", result.seed},
            {"robust", result.robust},
            {"best", CandidateJson(result.best, aim)},
            {"baselines", baselines},
            {"baseline_ratio_intervals", ratios},
            {"baselines_breaking_pins", std::move(unsteered)},
            {"compared", std::move(compared)},
            {"challenger", std::move(challenger)},
            {"candidates", candidates},
            {"lower_bound_seconds", result.lower_bound_seconds},
            {"fusion_free_bound_seconds", result.fusion_free_bound_seconds},
            {"gap", Gap(result.best.proxy_seconds, result.lower_bound_seconds)},
            {"proven_bound_seconds", result.proven_bound_seconds},
            {"proven_gap", Gap(result.best.proxy_seconds, result.proven_bound_seconds)},
            {"target_indifferent", result.target_indifferent},
            {"proxy_rank_correlation", OrNull(result.proxy_judgement.rank_correlation)},
            {"proxy_told_apart", OrNull(result.proxy_judgement.told_apart)},
            {"proxy_first_over_best", OrNull(result.proxy_judgement.first_over_best)},
            {"transfer_fit", TransferFitJson(result)},
            {"proxy_median_error", OrNull(result.proxy_judgement.median_error)},
            {"proxy_in_context", InContextJson(result)},
            {"pays_back_after_runs", OrNull(result.pays_back_after_runs)},
            {"plans_proposed", result.proposed},
            {"plans_recalled", result.recalled},
            {"plans_over_memory", result.infeasible},
            {"planning_seconds", result.planning_seconds},
            {"disturbed", result.disturbed},
            {"warnings", result.warnings}};
  if (result.processor_moves > 0) json["processor_moves"] = result.processor_moves;
  if (aim != Objective::Aim::kLatency) {
    json["objective"] = NameOf(aim);
    json["limit_seconds"] = result.objective.Limit(result.fastest.target_seconds.value_or(0));
    json["fastest"] = CandidateJson(result.fastest, aim);
    json["front"] = Json::array();
    for (const Candidate& candidate : result.front) json["front"].push_back(CandidateJson(candidate, aim));
  }
  if (result.profile) {
    json["profile"] = {{"distinct", result.profile->distinct},   {"measured", result.profile->measured},
                       {"disturbed", result.profile->disturbed}, {"from_cache", result.profile->from_cache},
                       {"left_out", result.profile->left_out},   {"seconds", result.profile->seconds}};
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

PlanRecord RecordOf(const OptimizeResult& result, const Candidate& candidate) {
  PlanRecord record;
  record.plan = candidate.plan;
  record.graph_name = result.graph.name();
  record.graph_hash = result.graph_hash;
  record.machine = result.machine;
  record.method = candidate.method;
  record.seed = result.seed;
  record.proxy = result.proxy;
  record.proxy_seconds = candidate.proxy_seconds;
  record.target_seconds = candidate.target_seconds;
  return record;
}

}  // namespace millrace

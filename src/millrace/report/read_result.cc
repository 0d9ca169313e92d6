// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/read_result.h"

#include <filesystem>
#include <system_error>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/graph_json.h"
#include "millrace/formats/plan_json.h"
#include "millrace/plan/hash.h"
#include "millrace/report/result_json.h"

namespace millrace {
namespace {

class ResultFolder {
 public:
  explicit ResultFolder(const std::string& folder) : base_(folder) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(base_, ignored))
      throw InvalidInput(folder + ": is no folder; name the output folder of an optimize run");
    if (!std::filesystem::exists(base_ / "result.json", ignored))
      throw InvalidInput(folder + ": has no result.json, so no optimize run ended here; name its output folder");
  }

  OptimizeResult Read() {
    StoredResult stored = Parsed("result.json", [](const std::string& text) { return ParseResultJson(text); });
    result_ = std::move(stored.result);
    result_.graph = Parsed("graph.json", [](const std::string& text) { return ParseGraphJson(text); });
    if (GraphHash(result_.graph) != result_.graph_hash)
      throw InvalidInput(Path("graph.json") + ": is not the graph that result.json tells of; run optimize again");
    ReadPlan("plan.json", stored.best.plan_hash, result_.best);
    for (std::size_t i = 0; i < result_.baselines.size(); ++i) {
      const std::string& name = result_.baselines[i].name;
      if (name.empty() || name.find('/') != std::string::npos || name.find('\0') != std::string::npos)
        throw InvalidInput(Path("result.json") + ": '" + Shown(name) + "' is no name of a baseline's file");
      ReadPlan("baselines/" + name + ".plan.json", stored.baselines[i].plan_hash, result_.baselines[i].candidate);
    }
    if (stored.challenger)
      ReadPlan("challenger.plan.json", stored.challenger->plan_hash, result_.challenger->candidate);
    for (std::size_t i = 0; i < result_.candidates.size(); ++i)
      KnownPlan(stored.candidates[i].plan_hash, result_.candidates[i]);
    return std::move(result_);
  }

 private:
  std::string Path(const std::string& name) const { return (base_ / name).string(); }

  template <typename Parse>
  auto Parsed(const std::string& name, const Parse& parse) const -> decltype(parse(std::string())) {
    const std::string text = ReadWholeFile(Path(name));
    try {
      return parse(text);
    } catch (const InvalidInput& error) {
      throw error.InFile(Path(name));
    }
  }

  void ReadPlan(const std::string& name, const std::string& hash, Candidate& candidate) {
    const bool first = &candidate == &result_.best;
    PlanReading reading;
    if (!first) reading.machine = result_.machine;
    PlanRecord record = LoadPlan(Path(name), result_.graph, reading);
    if (PlanHash(record.plan) != hash)
      throw InvalidInput(Path(name) + ": is not the plan that result.json tells of; run optimize again");
    if (first) result_.machine = std::move(record.machine);
    candidate.plan = std::move(record.plan);
    if (candidate.measured && candidate.measured->start.size() != candidate.plan.groups.size())
      throw InvalidInput(Path("result.json") + ": the measured timeline of " + Shown(candidate.method) +
                         " has not as many groups as its plan");
    known_.emplace_back(hash, &candidate);
  }

  void KnownPlan(const std::string& hash, Candidate& candidate) const {
    for (const auto& [known, other] : known_) {
      if (known == hash) candidate.plan = other->plan;
    }
  }

  std::filesystem::path base_;
  OptimizeResult result_;
  std::vector<std::pair<std::string, const Candidate*>> known_;
};

}  // namespace

OptimizeResult ReadResult(const std::string& folder) { return ResultFolder(folder).Read(); }

}  // namespace millrace

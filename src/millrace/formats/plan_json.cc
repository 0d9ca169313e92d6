// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/plan_json.h"

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/json_value.h"
#include "millrace/formats/json_write.h"
#include "millrace/formats/machine_members.h"
#include "millrace/formats/onnx_plan.h"
#include "millrace/formats/onnx_read.h"
#include "millrace/plan/verify.h"

namespace millrace {
namespace {

constexpr std::string_view kPlanFormat = "millrace.plan";

PlanRecord CarriedPlan(const Model& model) {
  std::optional<PlanRecord> record = PlanOf(model);
  if (!record) throw InvalidInput("the model carries no plan; millrace convert --plan puts one in");
  return *std::move(record);
}

}  // namespace

PlanRecord ParsePlanJson(std::string_view text) {
  PlanRecord record;
  const JsonStream stream{{"groups"}, [&record](const JsonPlace& element, std::string_view) {
                            record.plan.groups.push_back(element.Integers());
                          }};
  const JsonValue value = ParseJson(text, stream);
  const JsonPlace root(value);
  CheckFormat(root, kPlanFormat);
  static_cast<void>(root.Member("groups").Size());
  record.plan.placement = root.Member("placement").Integers();
  record.plan.sequence = root.Member("sequence").Integers();
  record.machine = MachineAt(root.Member("machine"));
  // A plan written by hand need not say where it comes from.
  if (const auto name = root.Optional("graph")) record.graph_name = name->Text();
  if (const auto hash = root.Optional("graph_hash")) record.graph_hash = hash->Text();
  if (const auto method = root.Optional("method")) record.method = method->Text();
  if (const auto seed = root.Optional("seed")) record.seed = seed->Unsigned();
  if (const auto name = root.Optional("proxy")) {
    const std::optional<Proxy> proxy = ProxyNamed(name->Text());
    if (!proxy) name->Refuse("is neither \"linear\" nor \"contended\"");
    record.proxy = *proxy;
  }
  if (const auto seconds = root.Optional("proxy_seconds")) record.proxy_seconds = seconds->Cost();
  if (const auto seconds = root.Optional("target_seconds")) record.target_seconds = seconds->Cost();
  return record;
}

std::string PlanJson(const PlanRecord& record) {
  std::string out = "{\"format\":\"millrace.plan\",\"version\":1";
  AppendJsonMember(out, "graph", record.graph_name);
  AppendJsonMember(out, "graph_hash", record.graph_hash);
  out += ",\n";
  AppendJsonName(out, "machine");
  AppendMachine(out, record.machine);
  out += ",\n";
  AppendJsonMember(out, "method", record.method);
  out += ",\"seed\":" + std::to_string(record.seed) + ",\n\"groups\":[";
  for (std::size_t g = 0; g < record.plan.groups.size(); ++g) {
    if (g > 0) out += ',';
    AppendJsonIntegers(out, record.plan.groups[g]);
  }
  out += "],\n";
  AppendJsonMember(out, "placement", record.plan.placement);
  out += ",\n";
  AppendJsonMember(out, "sequence", record.plan.sequence);
  out += ",\n";
  AppendJsonMember(out, "proxy", NameOf(record.proxy));
  AppendJsonMember(out, "proxy_seconds", record.proxy_seconds);
  if (record.target_seconds) AppendJsonMember(out, "target_seconds", *record.target_seconds);
  out += "}\n";
  return out;
}

PlanRecord LoadPlan(const std::string& path, const ComputationGraph& graph, const PlanReading& reading) {
  const bool model = path.ends_with(".onnx");
  const std::string text = model ? "" : ReadWholeFile(path);
  const std::optional<Model> carrier = model ? std::optional(ReadOnnx(path, {reading.dimensions})) : std::nullopt;
  try {
    PlanRecord record = model ? CarriedPlan(*carrier) : ParsePlanJson(text);
    if (reading.machine) record.machine = *reading.machine;
    VerifyRecord(graph, record);
    return record;
  } catch (const InvalidInput& error) {
    throw error.InFile(path);
  }
}

}  // namespace millrace

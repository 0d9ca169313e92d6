// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/timeline_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "millrace/errors/shown.h"
#include "millrace/report/packed.h"
#include "millrace/report/unit_names.h"

namespace millrace {
namespace {

using DataJson = nlohmann::ordered_json;

std::string Dumped(const DataJson& json) { return json.dump(-1, ' ', false, DataJson::error_handler_t::replace); }

// A list of numbers, each told as what it is above the one before.
class Deltas {
 public:
  void Add(std::int64_t number) {
    list_.push_back(number - last_);
    last_ = number;
  }
  DataJson Take() { return std::move(list_); }

 private:
  DataJson list_ = DataJson::array();
  std::int64_t last_ = 0;
};

// Devices on which every group takes equally long are told once.
DataJson GroupsJson(const ComputationGraph& graph, const CostedGraph& costed, const TypeColours& colours) {
  const auto groups = static_cast<std::size_t>(costed.num_groups);
  const bool single = std::all_of(costed.groups.begin(), costed.groups.end(),
                                  [](const std::vector<OpId>& ops) { return ops.size() == 1; });
  DataJson ops = DataJson::array(), colour = DataJson::array();
  Deltas first;
  for (const std::vector<OpId>& group : costed.groups) {
    if (single) {
      first.Add(group.front());
    } else {
      ops.push_back(group);
    }
    colour.push_back(colours.Of(MainTypeOf(graph, group)));
  }
  constexpr int kMany = 10'000;
  const int digits = costed.num_groups <= kMany ? 9 : 7;
  std::map<double, std::size_t> values;
  DataJson value_list = DataJson::array(), columns = DataJson::array(), column_of = DataJson::array();
  std::vector<int> told;  // devices, by column
  for (int device = 0; device < costed.num_devices; ++device) {
    const auto same = std::find_if(told.begin(), told.end(), [&costed, device](int other) {
      for (int group = 0; group < costed.num_groups; ++group) {
        if (costed.Seconds(group, device) != costed.Seconds(group, other)) return false;
      }
      return true;
    });
    column_of.push_back(same - told.begin());
    if (same != told.end()) continue;
    told.push_back(device);
    DataJson column = DataJson::array();
    for (int group = 0; group < costed.num_groups; ++group) {
      const double seconds = costed.Seconds(group, device);
      const auto [value, added] = values.emplace(seconds, values.size());
      if (added)
        value_list.push_back(seconds < kCannotRun ? DataJson(fmt::format("{:.{}g}", seconds, digits)) : DataJson());
      column.push_back(value->second);
    }
    columns.push_back(std::move(column));
  }
  DataJson json{{"size", groups}, {"colour", std::move(colour)}};
  if (single) {
    json["op"] = first.Take();
  } else {
    json["ops"] = std::move(ops);
  }
  json["values"] = std::move(value_list);
  json["columns"] = std::move(columns);
  json["columnOf"] = std::move(column_of);
  return json;
}

class PlanData {
 public:
  static constexpr std::size_t kMostListed = 100'000;  // transfers; more would fill the page

  explicit PlanData(const PlanAccount& account)
      : account_(account),
        plan_(account.candidate->plan),
        listed_(account.proxy == Proxy::kContended && account.explanation.traced.transfers.size() <= kMostListed),
        tick_(account.timeline.makespan > 0 ? account.timeline.makespan / kTicks : 1) {}

  DataJson Write(std::size_t grouping) {
    DataJson json{{"groups", fmt::format("groups-{}", grouping)}, {"makespan", account_.timeline.makespan}};
    json["lanes"] = Lanes();
    Deltas path;
    DataJson path_transfers = DataJson::array();
    for (const CriticalStep& step : account_.explanation.path) {
      if (step.transfer < 0) path.Add(step.group);
      if (step.transfer >= 0) path_transfers.push_back(step.transfer);
    }
    json["path"] = path.Take();
    // Where none are listed, the script finds those that something waits for by itself: what waits tells its producer.
    if (listed_) {
      json["transfers"] = Transfers();
      json["pathTransfers"] = std::move(path_transfers);
    }
    json["memory"] = Memory();
    return json;
  }

 private:
  std::int64_t Ticks(double seconds) const { return std::llround(seconds / tick_); }

  DataJson Lanes() const {
    std::vector<std::vector<int>> rows(static_cast<std::size_t>(account_.costed->num_devices));
    for (const int group : plan_.sequence)
      rows[static_cast<std::size_t>(plan_.placement[static_cast<std::size_t>(group)])].push_back(group);
    const bool measured = account_.explanation.traced.reasons.empty();
    DataJson lanes = DataJson::array();
    for (std::size_t device = 0; device < rows.size(); ++device) {
      Deltas groups;
      DataJson gaps = DataJson::array(), lengths = DataJson::array(), whys = DataJson::array();
      double time = 0;
      int before = -1;
      for (const int group : rows[device]) {
        const auto g = static_cast<std::size_t>(group);
        groups.Add(group);
        const std::int64_t gap = Ticks(account_.timeline.start[g] - time);
        gaps.push_back(gap);
        time += static_cast<double>(gap) * tick_;
        if (measured) {
          const std::int64_t length = Ticks(account_.timeline.finish[g] - time);
          lengths.push_back(length);
          time += static_cast<double>(length) * tick_;
        } else {
          time += account_.costed->Seconds(group, static_cast<int>(device));
          whys.push_back(Why(group, before));
        }
        before = group;
      }
      DataJson lane{{"groups", groups.Take()}, {"gaps", std::move(gaps)}};
      measured ? lane["lengths"] = std::move(lengths) : lane["why"] = std::move(whys);
      lanes.push_back(std::move(lane));
    }
    return lanes;
  }

  // 0: at once. 1: the group before in its lane. Else 2 + 3 k + what: 0 the group k on a device that shares a unit, 1
  // the group k, which made an input, 2 the transfer k, or where transfers are not listed one from group k.
  std::int64_t Why(int group, int before) const {
    const StartReason& reason = account_.explanation.traced.reasons[static_cast<std::size_t>(group)];
    switch (reason.what) {
      case WaitsFor::kNothing:
        return 0;
      case WaitsFor::kDevice:
        return reason.group == before ? 1 : 2 + 3 * std::int64_t{reason.group};
      case WaitsFor::kInput:
        return 3 + 3 * std::int64_t{reason.group};
      case WaitsFor::kTransfer:
        return 4 + 3 * std::int64_t{listed_ ? reason.transfer : reason.group};
    }
    return 0;
  }

  DataJson Transfers() const {
    Deltas of, begin;
    DataJson to = DataJson::array(), lengths = DataJson::array();
    for (const TracedTransfer& transfer : account_.explanation.traced.transfers) {
      of.Add(transfer.producer);
      to.push_back(transfer.to);
      begin.Add(Ticks(transfer.begin));
      lengths.push_back(Ticks(transfer.end) - Ticks(transfer.begin));
    }
    return {{"of", of.Take()}, {"to", std::move(to)}, {"begin", begin.Take()}, {"lengths", std::move(lengths)}};
  }

  // By memory, in thousandths of its largest; of many steps the largest of each of some hundred stretches.
  DataJson Memory() const {
    constexpr std::size_t kMostSteps = 1500;
    constexpr std::size_t kMemoryStretches = 500;
    constexpr double kThousandths = 1000;
    DataJson memories = DataJson::array();
    for (const MemoryUse& use : account_.memory) {
      const double most = *std::max_element(use.bytes.begin(), use.bytes.end());
      Deltas times;
      DataJson parts = DataJson::array();
      const auto part = [most](double bytes) { return most > 0 ? std::llround(kThousandths * bytes / most) : 0; };
      if (use.times.size() <= kMostSteps) {
        for (std::size_t i = 0; i < use.times.size(); ++i) {
          times.Add(Ticks(use.times[i]));
          parts.push_back(part(use.bytes[i]));
        }
      } else {
        std::size_t i = 0;
        for (std::size_t s = 0; s < kMemoryStretches; ++s) {
          const double end = account_.timeline.makespan * static_cast<double>(s + 1) / kMemoryStretches;
          double held = use.bytes[i > 0 ? i - 1 : 0];
          for (; i < use.times.size() && use.times[i] < end; ++i) held = std::max(held, use.bytes[i]);
          times.Add(Ticks(end - account_.timeline.makespan / kMemoryStretches));
          parts.push_back(part(held));
        }
      }
      memories.push_back({{"most", most}, {"times", times.Take()}, {"parts", std::move(parts)}});
    }
    return memories;
  }

  const PlanAccount& account_;
  const Plan& plan_;
  bool listed_;  // every transfer
  double tick_;  // seconds
};

DataJson BaseJson(const ComputationGraph& graph, const Machine& machine, const std::vector<PlanAccount>& accounts,
                  const TypeColours& colours, std::size_t longest_name) {
  DataJson names = DataJson::array(), type_of = DataJson::array(), types = DataJson::array();
  std::map<std::string, std::size_t> type_numbers;
  for (const Op& op : graph.ops()) {
    names.push_back(Shown(op.name, longest_name));
    const auto [type, added] = type_numbers.emplace(op.type, type_numbers.size());
    if (added) types.push_back(op.type.empty() ? "op" : Shown(op.type));
    type_of.push_back(type->second);
  }
  const Topology topology = MakeTopology(machine);
  DataJson devices = DataJson::array();
  for (std::size_t device = 0; device < machine.devices.size(); ++device) {
    DataJson units = DataJson::array();
    for (std::int32_t u = topology.device_offsets[device]; u < topology.device_offsets[device + 1]; ++u)
      units.push_back(topology.device_units[static_cast<std::size_t>(u)]);
    devices.push_back({{"name", Shown(machine.devices[device].name)},
                       {"kind", Shown(machine.devices[device].kind)},
                       {"units", std::move(units)}});
  }
  const auto shown = [](const std::vector<std::string>& all) {
    DataJson list = DataJson::array();
    for (const std::string& one : all) list.push_back(Shown(one));
    return list;
  };
  DataJson plans = DataJson::array();
  for (const PlanAccount& account : accounts) {
    plans.push_back({{"name", Shown(account.name)},
                     {"method", Shown(account.candidate->method)},
                     {"shown", Shown(account.shown)},
                     {"makespan", account.timeline.makespan}});
  }
  DataJson memories = shown(MemoryNames(machine, topology));
  DataJson capacities = DataJson::array();
  for (const double bytes : topology.memory_bytes)
    capacities.push_back(std::isfinite(bytes) ? DataJson(bytes) : DataJson());
  return {{"names", std::move(names)},       {"typeOf", std::move(type_of)},
          {"types", std::move(types)},       {"coloured", shown(colours.types())},
          {"devices", std::move(devices)},   {"units", shown(UnitNames(machine, topology))},
          {"memories", std::move(memories)}, {"capacities", std::move(capacities)},
          {"plans", std::move(plans)}};
}

std::string PartHtml(const DataPart& part) {
  return fmt::format("<script type=\"text/plain\" id=\"data-{}\">{}</script>", part.id, Packed(part.json));
}

}  // namespace

std::vector<DataPart> TimelineData(const ComputationGraph& graph, const Machine& machine,
                                   const std::vector<PlanAccount>& accounts, const TypeColours& colours,
                                   std::size_t longest_name) {
  std::vector<DataPart> parts{{"base", Dumped(BaseJson(graph, machine, accounts, colours, longest_name))}};
  std::vector<const CostedGraph*> groupings;
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    const CostedGraph& costed = *accounts[i].costed;
    const auto same = std::find_if(groupings.begin(), groupings.end(),
                                   [&costed](const CostedGraph* other) { return other->groups == costed.groups; });
    const auto grouping = static_cast<std::size_t>(same - groupings.begin());
    if (same == groupings.end()) {
      parts.push_back({fmt::format("groups-{}", groupings.size()), Dumped(GroupsJson(graph, costed, colours))});
      groupings.push_back(&costed);
    }
    parts.push_back({fmt::format("plan-{}", i), Dumped(PlanData(accounts[i]).Write(grouping))});
  }
  return parts;
}

std::string TimelineDataHtml(const ComputationGraph& graph, const Machine& machine,
                             const std::vector<PlanAccount>& accounts, const TypeColours& colours,
                             std::size_t most_bytes) {
  constexpr std::size_t kLongestName = 120;
  constexpr std::size_t kFewLetters = 24;
  const std::vector<DataPart> parts = TimelineData(graph, machine, accounts, colours, kLongestName);
  std::string html = PartHtml(parts.front());
  if (html.size() > most_bytes / 2)
    html = PartHtml({"base", Dumped(BaseJson(graph, machine, accounts, colours, kFewLetters))});
  if (html.size() > most_bytes) return "";
  std::string waiting;  // groups of a plan that is still to come
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string part = PartHtml(parts[i]);
    if (parts[i].id.starts_with("groups-")) {
      waiting = part;
      continue;
    }
    if (html.size() + waiting.size() + part.size() > most_bytes) break;
    html += waiting + part;
    waiting.clear();
  }
  return html;
}

}  // namespace millrace

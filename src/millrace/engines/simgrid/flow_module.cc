// SPDX-License-Identifier: Apache-2.0
#include <simgrid/s4u.hpp>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "millrace/engines/simgrid/flow_problem.h"

// The module: built where SimGrid is installed, and loaded when somebody asks for it, for loading SimGrid takes tens of
// milliseconds.
namespace millrace {
namespace {

namespace s4u = simgrid::s4u;

// Plain max-min fair sharing of links (CM02, Casanova and Marchal, "A Network Model for Simulation of Grid
// Application", 2002) without the factors that fit the default model to TCP: a machine file states what a transfer
// takes. Amounts are counted far below the smallest that matters.
constexpr std::array kSettings = {"--cfg=network/model:CM02",       "--cfg=network/bandwidth-factor:1",
                                  "--cfg=network/latency-factor:1", "--cfg=network/weight-S:0",
                                  "--cfg=network/TCP-gamma:0",      "--cfg=network/crosstraffic:0",
                                  "--cfg=maxmin/precision:1e-9",    "--cfg=surf/precision:1e-9",
                                  "--log=root.thresh:critical",     "--log=root.app:file:/dev/null"};

// So that amounts of computing, too, are large beside the precision.
constexpr double kFlopsInATime = 1e9;

}  // namespace

extern "C" void MillraceRunFlows1(const FlowProblem& problem, std::vector<FlowTime>* times) {
  std::vector<std::string> words = {"millrace"};
  words.insert(words.end(), kSettings.begin(), kSettings.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int count = static_cast<int>(words.size());
  s4u::Engine engine(&count, arguments.data());

  s4u::NetZone* const zone = s4u::create_full_zone("machine");
  std::vector<s4u::Host*> hosts;
  for (int host = 0; host < problem.hosts; ++host)
    hosts.push_back(zone->create_host("device" + std::to_string(host), kFlopsInATime)->seal());
  std::vector<s4u::Link*> links;
  for (const FlowLink& link : problem.links) {
    s4u::Link* const made = zone->create_link("link" + std::to_string(links.size()), link.bandwidth);
    made->set_latency(link.latency);
    made->set_sharing_policy(link.shared ? s4u::Link::SharingPolicy::SHARED : s4u::Link::SharingPolicy::FATPIPE);
    links.push_back(made->seal());
  }
  for (const FlowRoute& route : problem.routes) {
    std::vector<s4u::LinkInRoute> way;
    for (const int link : route.links) way.emplace_back(links[static_cast<std::size_t>(link)]);
    zone->add_route(hosts[static_cast<std::size_t>(route.from)]->get_netpoint(),
                    hosts[static_cast<std::size_t>(route.to)]->get_netpoint(), nullptr, nullptr, way, false);
  }
  zone->seal();

  std::vector<s4u::ActivityPtr> activities;
  std::vector<std::variant<s4u::ExecPtr, s4u::CommPtr>> by_type;  // the same
  for (const FlowActivity& activity : problem.activities) {
    s4u::Host* const from = hosts[static_cast<std::size_t>(activity.from)];
    if (activity.to < 0) {
      by_type.emplace_back(s4u::Exec::init()->set_flops_amount(activity.amount * kFlopsInATime)->set_host(from));
    } else {
      const s4u::CommPtr comm = s4u::Comm::sendto_init(from, hosts[static_cast<std::size_t>(activity.to)]);
      by_type.emplace_back(comm->set_payload_size(static_cast<std::uint64_t>(activity.amount)));
    }
    std::visit([&activities](const auto& made) { activities.emplace_back(made); }, by_type.back());
  }
  for (const std::pair<int, int>& pair : problem.before) {
    const s4u::ActivityPtr& later = activities[static_cast<std::size_t>(pair.second)];
    std::visit([&later](const auto& earlier) { earlier->add_successor(later); },
               by_type[static_cast<std::size_t>(pair.first)]);
  }
  for (const s4u::ActivityPtr& activity : activities) activity->vetoable_start();
  engine.run();
  times->clear();
  for (const s4u::ActivityPtr& activity : activities) {
    if (activity->get_state() != s4u::Activity::State::FINISHED) throw std::runtime_error("an activity never ended");
    times->push_back({activity->get_start_time(), activity->get_finish_time()});
  }
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/machine/proxy.h"

#include <algorithm>

namespace millrace {

Proxy UsualProxy(const Machine& machine) {
  const bool channels = std::any_of(machine.links.begin(), machine.links.end(),
                                    [](const Link& link) { return link.channel || link.entry_channel; });
  return channels || machine.sharing == Sharing::kFair ? Proxy::kContended : Proxy::kLinear;
}

std::string_view NameOf(Proxy proxy) { return proxy == Proxy::kLinear ? "linear" : "contended"; }

std::optional<Proxy> ProxyNamed(std::string_view name) {
  for (const Proxy proxy : {Proxy::kLinear, Proxy::kContended}) {
    if (name == NameOf(proxy)) return proxy;
  }
  return std::nullopt;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "millrace/machine/machine.h"

// By which timeline plans are judged before anything is measured.
namespace millrace {

enum class Proxy {
  kLinear,    // transfers never wait for each other: simulate/timeline.h
  kContended  // links that share a channel do: simulate/contention.h
};

// contended where the machine names a channel or says that channels are shared fairly, else linear.
Proxy UsualProxy(const Machine& machine);

// "linear", "contended".
std::string_view NameOf(Proxy proxy);

// Nothing for any other name.
std::optional<Proxy> ProxyNamed(std::string_view name);

}  // namespace millrace

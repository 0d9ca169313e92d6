// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/machine/machine.h"

// Machines known by name, taken wherever a machine file is.
namespace millrace {

// The machine that `words` describes; nothing where they name no preset (so they may be a file's path).
//
//   homogeneous:P[,latency=S][,bandwidth=B]   P equal devices of one unit, 1e12 flops/s, 1e11 bytes/s, no launch time;
//                                             free transfers unless a latency or bandwidth is given
//   this                                      the host (detect.h)
//   p100x2, p100x4, p100x8                    one host with that many NVIDIA P100 on PCIe
//   cpu-gpu                                   a CPU and a GPU joined by PCIe
//
// Throws InvalidInput where a preset's parameters make no sense.
std::optional<Machine> MachinePreset(std::string_view words);

// One line per preset, for help texts and errors.
std::vector<std::string> MachinePresetNames();

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "millrace/machine/machine.h"
#include "millrace/workloads/go_workloads.h"

// What GO's policy is trained on: any number of training graphs of the six families on hosts of accelerators, drawn by
// chance. None is a workload of go_workloads.h, or a short form of one: a width or the batch differs from all of them.
namespace millrace {

// Which of the cases a collection takes. Those for validation are apart from those for training.
enum class GoCasePurpose { kTraining, kValidation };

struct GoCase {
  std::string name;     // "gnmt #7"
  GoWorkload workload;  // 100 to 4,000 ops; more where sequences may be longer
  Machine machine;      // 2 to 8 equal accelerators
};

// Case `number` of a seed, whatever others are drawn: families take turns. The host is one of two sockets, as the
// presets p100xN are, or has one switch, or one bus for all; its links are 1/4 to 4 times as fast, and its memories
// have half to twice the bytes.
//
// Sequences of RNNLM, GNMT and Transformer-XL are 1 to `longest` times as long as they are otherwise, by chance and
// with them the graphs; nothing else changes.
GoCase DrawGoCase(std::uint64_t seed, GoCasePurpose purpose, int number, double longest = 1);

// Which of the cases drawn are taken.
struct GoCaseLimits {
  int most_ops = 4000;
  double longest = 1;                     // as DrawGoCase has it
  std::vector<std::string> without = {};  // families
};

// Offers the cases of a seed within the limits, one after the other, until so many were taken; fewer are where hardly
// any case is within them.
void TakeGoCases(std::uint64_t seed, GoCasePurpose purpose, int count, const GoCaseLimits& limits,
                 const std::function<bool(GoCase)>& take);

// Names of the families, in the order in which they take turns.
const std::vector<std::string>& GoFamilies();

}  // namespace millrace

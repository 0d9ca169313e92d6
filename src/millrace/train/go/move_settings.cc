// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/move_settings.h"

#include "millrace/workloads/go_corpus.h"

namespace millrace {

SettingsTable TableOf(MoveSettings& s) {
  const Allowed share = Between(0, 1);
  return {
      {"cases", &s.cases, Between(1, 1e6), "training graphs, each on a machine of its own (workloads/go_corpus.h)"},
      {"validation_cases", &s.validation_cases, Between(1, 1e6), "graphs apart, to choose weights by"},
      {"most_ops", &s.most_ops, Between(100, 1e6), "larger graphs are passed over, in training and validation"},
      {"without", &s.without, OneOf(GoFamilies()), "families that are left out of training and validation"},
      {"fewest_blocks", &s.fewest_blocks, NotEmpty(Between(0, 1e6)),
       "levels of blocks in turn, each the coarsest of at least so many; 0: the finest"},
      {"updates", &s.updates, Between(0, 1e9), "updates in all"},
      {"examples", &s.examples, Between(1, 1024), "placements of an update, each of another graph"},
      {"judged_blocks", &s.judged_blocks, Between(1, 1e6),
       "blocks of a placement that are moved to every device, by chance"},
      {"most_looks", &s.most_looks, Between(1, 1e6), "looks at a graph before it begins again by hand"},
      {"tries", &s.tries, Between(1, 1e6), "moves tried between two looks, as the planner tries them"},
      {"proposed", &s.proposed, share, "share of them that the policy proposes"},
      {"softmax_temperature", &s.softmax_temperature, Between(0, 100), "how evenly it proposes"},
      {"unit", &s.unit, Between(1e-6, 1),
       "gain, as a share of the makespan, that makes a device e times as likely, at the start"},
      {"last_unit", &s.last_unit, Between(1e-6, 1), "that gain at the end; it changes linearly"},
      {"learning_rate", &s.learning_rate, share, "learning rate of Adam at the start; it falls linearly"},
      {"last_learning_rate", &s.last_learning_rate, share, "learning rate of Adam at the end"},
      {"gradient_limit", &s.gradient_limit, Between(0, 1e9), "what the gradient's norm is cut down to; 0: it is not"},
      {"average_decay", &s.average_decay, share, "decay of the weights' moving average, which is what is kept"},
      {"validate_every", &s.validate_every, Between(1, 1e9), "updates from one validation to the next"},
      {"validation_looks", &s.validation_looks, Between(1, 1e6), "looks at each graph of a validation"}};
}

void CheckSettings(const MoveSettings& settings) { CheckRowsOf(settings); }

std::vector<int> FewestBlocks(const MoveSettings& settings) {
  return {settings.fewest_blocks.begin(), settings.fewest_blocks.end()};
}

}  // namespace millrace

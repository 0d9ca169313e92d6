// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/settings.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace millrace {
namespace {

constexpr std::array<const char*, kTasks.size()> kTaskNames = {"placement", "priority", "fusion"};

}  // namespace

SettingsTable TableOf(GoSettings& s) {
  const Allowed share = Between(0, 1);
  return {
      {"tasks", &s.tasks, NotEmpty(OneOf({kTaskNames.begin(), kTaskNames.end()})),
       "what the policy decides; the other tasks keep their defaults"},
      {"workloads", &s.workloads, AnyText(), "names of workloads to train on"},
      {"machines", &s.machines, AnyText(), "machine presets, each workload on each; none: the workload's own"},
      {"validation_workloads", &s.validation_workloads, AnyText(), "names of workloads; none: those trained on"},
      {"cases", &s.cases, Between(0, 1e6),
       "graphs to train on beside these, each on a machine of its own (workloads/go_corpus.h)"},
      {"validation_cases", &s.validation_cases, Between(0, 1e6), "such graphs apart, to choose weights by"},
      {"most_ops", &s.most_ops, Between(100, 1e6), "larger ones are passed over, in training and validation"},
      {"longest", &s.longest, Between(1, 100), "sequences of these graphs are 1 to so many times as long"},
      {"updates", &s.updates, Between(0, 1e9), "updates in all"},
      {"problems_per_update", &s.problems_per_update, Between(1, 1024), "problems of an update"},
      {"samples", &s.samples, Between(2, 1 << 16), "decisions sampled per problem of an update"},
      {"iterations", &s.iterations, Between(1, 64),
       "iterations y[1], y[2], ..: each is a plan, and is rewarded as one"},
      {"shared_noise", &s.shared_noise, Between(0, 1e6),
       "ops of a block share chance when samples to learn from are drawn: the coarsest blocks of at least so many; 0: "
       "every decision has its own"},
      {"most_steps", &s.most_steps, Between(1, 1 << 16),
       "iterations of a problem's samples that an update learns from at most, by chance"},
      {"most_rows", &s.most_rows, Between(128, 1e9),
       "rows of a problem that an update learns from at most, in whole segments, by chance"},
      {"passes", &s.passes, Between(1, 100), "gradient steps of an update"},
      {"ratio_limit", &s.ratio_limit, share, "how far a decision's probability may move in an update"},
      {"entropy_bonus", &s.entropy_bonus, Between(0, 1e3), "bonus for entropy at the start; it falls linearly"},
      {"last_entropy_bonus", &s.last_entropy_bonus, Between(0, 1e3), "bonus for entropy at the end"},
      {"baseline_decay", &s.baseline_decay, Between(0, 0.999),
       "decay of a problem's moving mean reward; 0: the mean of the update's samples"},
      {"demonstration_weight", &s.demonstration_weight, Between(0, 1e6),
       "weight of the best decisions known, which are imitated, against 1 for those sampled; it falls linearly"},
      {"last_demonstration_weight", &s.last_demonstration_weight, Between(0, 1e6),
       "weight of the best decisions known at the end"},
      {"demonstrations", &s.demonstrations, Between(1, 1 << 16),
       "steps to the best decisions known that are imitated per problem of an update"},
      {"demonstration_evaluations", &s.demonstration_evaluations, Between(0, 1e9),
       "plans evaluated by a search that starts from the best decisions known; 0: no search"},
      {"demonstration_searches", &s.demonstration_searches, Between(1, 1e9),
       "searches per problem, one at each of its turns after the first"},
      {"own_margin", &s.own_margin, Between(0, 1e3),
       "by how much the best decisions known lead all others, by logits that are the graph's own and go with the "
       "weights; only with one graph; 0: there are none"},
      {"learning_rate", &s.learning_rate, share, "learning rate of Adam at the start; it falls linearly"},
      {"last_learning_rate", &s.last_learning_rate, share, "learning rate of Adam at the end"},
      {"gradient_limit", &s.gradient_limit, Between(0, 1e9), "what the gradient's norm is cut down to; 0: it is not"},
      {"average_decay", &s.average_decay, share, "decay of the weights' moving average, which is what is kept"},
      {"validate_every", &s.validate_every, Between(1, 1e9), "updates from one validation to the next"},
      {"validation_samples", &s.validation_samples, Between(1, 1 << 16),
       "decisions sampled per problem of a validation, beside the greedy ones"}};
}

void CheckSettings(const GoSettings& settings) { CheckRowsOf(settings); }

std::vector<Task> TasksOf(const GoSettings& settings) {
  std::vector<Task> tasks;
  for (std::size_t task = 0; task < kTasks.size(); ++task) {
    if (std::find(settings.tasks.begin(), settings.tasks.end(), kTaskNames[task]) != settings.tasks.end()) {
      tasks.push_back(kTasks[task]);
    }
  }
  return tasks;
}

}  // namespace millrace

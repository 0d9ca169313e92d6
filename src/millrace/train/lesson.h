// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/env/graph_features.h"
#include "millrace/policy/policy.h"
#include "millrace/random/random.h"
#include "millrace/rollout/sampler.h"
#include "millrace/train/learner.h"
#include "millrace/train/objective.h"

// What one update learns from: trajectories of one problem at one reward temperature, with all that the learner and the
// objective need of them.
namespace millrace {

struct LessonSettings {
  int trajectories = 32;
  double recorded_share = 0.25;   // of steps, for the gradient
  int most_recorded_steps = 512;  // about: on large graphs the share is lower
  double epsilon = 0;
  bool states = false;    // for a network that encodes them: every step is recorded, whatever the share above
  bool removals = false;  // with the removable groups of states, for a network that learns P_B
};

struct Lesson {
  GraphFeatures graph;
  StepBatch steps;
  StateSteps states;  // empty unless asked for
  Drawn drawn;        // its steps are left empty: the lesson has them
  double temperature = 1;
  bool example = false;   // made from given plans, to be imitated; else drawn by the policy
  double mean_ratio = 0;  // (makespan of HEFT) / (mean makespan of the trajectories)
  double best_ratio = 0;  // likewise of the best
};

// Draws from the policy, which is prepared at this temperature. Returns the trajectories beside the lesson.
std::vector<Trajectory> DrawLesson(const Environment& environment, const PreparedPolicy& policy, double temperature,
                                   const LessonSettings& settings, const Random& random, Lesson& lesson);

// Ways to build good plans, as examples.
void ExampleLesson(const Environment& environment, const PreparedPolicy& policy, double temperature,
                   const std::vector<std::vector<Action>>& actions, const LessonSettings& settings,
                   const Random& random, Lesson& lesson);

struct Taught {
  double loss = 0;                     // mean over the lessons that are no examples
  double gradient_norm = 0;            // of the last pass
  double example_log_probability = 0;  // mean per recorded step of examples; 0 without
};

// Descends the mean of the objective over what was drawn, plus `example_weight` times the mean over examples of the
// negative log probability per step. As many passes as the objective wants. Throws WorkFailed for a loss or gradient
// that is not finite.
Taught Teach(const std::vector<Lesson>& lessons, const Objective& objective, double example_weight,
             double learning_rate, double progress, Learner& learner);

}  // namespace millrace

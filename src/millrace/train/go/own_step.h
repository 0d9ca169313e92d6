// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "millrace/go/decisions.h"
#include "millrace/go/own_logits.h"
#include "millrace/go/policy.h"
#include "millrace/go/problem.h"

// How logits that are a graph's own are learned: each moves by as much as is missing for a demonstrated choice to lead
// all others, and no further. What a network says of choices differs by a hundred nats and more, which steps along a
// gradient take long to make up for; this is one step for all rows of a graph at once, without libtorch.
//
// Source: Crammer et al., "Online Passive-Aggressive Algorithms", 2006, with a table for its features.
namespace millrace {

// Raises `own` so that, after every y of `before`, each choice of `decisions` has a logit of at least `margin` more
// than any other of its row. `policy` has them as they are before the call, or none where they are all 0. Of tasks
// that `decisions` does not have nothing changes. Returns the mean log probability of a choice before the step; 0 where
// there is none.
double ImitateInOwnLogits(const GoProblem& problem, const PreparedGoPolicy& policy, std::span<const Decisions> before,
                          const Decisions& decisions, double margin, const ParallelLoop& loop, OwnLogits& own);

}  // namespace millrace

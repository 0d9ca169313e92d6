// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/workloads/models.h"

namespace millrace {

// Sizes at which a model is made, checked and written in a moment.
inline ModelOptions SmallOptions(const std::string& name) {
  ModelOptions options;
  if (name == "bert_base") {
    options.layers = 2;
    options.hidden = 48;
    options.heads = 4;
    options.sequence = 10;
    options.vocabulary = 100;
    options.batch = 3;
  } else if (name == "lstm_lm") {
    options.hidden = 24;
    options.sequence = 9;
    options.vocabulary = 50;
    options.batch = 2;
    options.chunks = 4;
  } else if (name == "rnnlm" || name == "gnmt") {
    options.layers = 3;
    options.hidden = 16;
    options.sequence = 5;
    options.vocabulary = 50;
    options.batch = 2;
  } else if (name == "transformer_xl") {
    options.layers = 2;
    options.hidden = 16;
    options.heads = 2;
    options.sequence = 15;
    options.chunks = 3;
    options.vocabulary = 50;
    options.batch = 2;
  } else if (name == "wavenet") {
    options.layers = 6;
    options.stacks = 2;
    options.hidden = 8;
    options.sequence = 20;
    options.batch = 2;
  } else if (name == "amoebanet") {
    options.layers = 1;
    options.hidden = 8;
    options.image = 61;
    options.batch = 2;
  } else if (name == "recommender" || name == "mixture_of_experts") {
    options.layers = 2;
    options.hidden = 16;
    options.towers = 3;
    options.batch = 3;
    if (name == "recommender") options.vocabulary = 50;
  } else if (name == "lstm_stacks") {
    options.hidden = 16;
    options.sequence = 5;
    options.towers = 3;
    options.batch = 2;
  } else if (name == "ensemble") {
    options.image = 32;
    options.width = 0.25;
    options.towers = 3;
    options.batch = 2;
  } else if (name == "detector") {
    options.image = 64;
    options.hidden = 16;
    options.batch = 2;
  } else if (name == "towers") {
    options.hidden = 32;
    options.batch = 5;
  } else {
    options.width = 0.25;
    options.image = name == "inception_v3" ? 96 : 64;
    options.batch = 2;
  }
  return options;
}

}  // namespace millrace

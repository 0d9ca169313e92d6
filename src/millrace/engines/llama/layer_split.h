// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "millrace/formats/language_model.h"

// Splitting a language model over machines, as llama.cpp does it: hosts one after another, each with a stretch of
// consecutive parts (the layers, and the output last), all of them served by one client that hands every stretch's
// result to the next. Seconds, bytes, flops.
namespace millrace {

// What a part costs in the use that is planned for.
struct SplitPart {
  double memory_bytes = 0;   // weights, and the cache of the whole context
  double decode_bytes = 0;   // read for one token
  double prefill_flops = 0;  // for one micro-batch of the prompt
};

struct SplitHost {
  double memory_bytes = 0;  // for all that lies there
  double seconds_per_byte = 0;
  double seconds_per_flop = 0;
  double round_trip_seconds = 0;     // between it and the client
  double seconds_per_link_byte = 0;  // 0: transfers of any size are free
};

struct SplitProblem {
  std::vector<SplitPart> parts;
  std::vector<SplitHost> hosts;
  double working_bytes = 0;  // on every host that takes part, beside its parts
  double generated_tokens = 128;
  double micro_batches = 0;      // that the prompt is cut into; 0: there is none
  double token_bytes = 0;        // that go from a part to the next, for one token
  double micro_batch_bytes = 0;  // the same for one micro-batch
  double logit_bytes = 0;        // that come from the output
  bool pipelined = false;        // a host works on a micro-batch while the next works on the one before
};

// How a model is used, which makes its problem.
struct SplitUse {
  double prompt_tokens = 0;
  double generated_tokens = 128;
  double context_tokens = 128;  // that memory is kept for
  double micro_batch = 512;     // tokens
};
// Without hosts.
SplitProblem SplitProblemOf(const LanguageModel& model, const SplitUse& use);

struct SplitStage {
  int host = 0;
  int begin = 0;  // parts [begin, end)
  int end = 0;

  bool operator==(const SplitStage&) const = default;
};
using LayerSplit = std::vector<SplitStage>;  // in order, without gaps, from the first part to the last; no host twice

// What a stage adds to a token, and to a micro-batch. The client waits for its result once.
double DecodeSeconds(const SplitProblem& problem, const SplitStage& stage);
double PrefillSeconds(const SplitProblem& problem, const SplitStage& stage);

struct SplitTimes {
  double token = 0;    // of one token generated: all stages
  double prompt = 0;   // of the prompt: all stages for each micro-batch, or once and the slowest for the others
  double request = 0;  // of the prompt and all tokens
};
SplitTimes TimesOf(const SplitProblem& problem, const LayerSplit& split);

double StageBytes(const SplitProblem& problem, const SplitStage& stage);
bool Fits(const SplitProblem& problem, const LayerSplit& split);

// The bytes of parts that find no place, however hosts are ordered; 0 where a split fits. At most kMostSplitHosts.
double MissingBytes(const SplitProblem& problem);

inline constexpr int kMostSplitHosts = 10;

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/experiments/sampler_settings.h"
#include "millrace/verb.h"

// What experiments can be told; each looks at what concerns it.
namespace millrace::cli {

struct BenchOptions {
  std::string name;
  bool quick = false;
  bool cpu = false;                 // robustness: on this CPU instead of simulated targets
  std::string data;                 // folder of graphs made by others
  std::vector<std::string> models;  // only these networks
  std::string profile_cache;
  std::vector<std::string> methods;  // only these
  std::string record;                // quality: file of what was found so far
  SamplerSettings sampler;
  double finetune = 0;                 // quality, go-...: seconds of fine-tuning a graph; 0: without that method
  std::string go_weights;              // of the one-shot policy
  double hdp = 0;                      // go-...: seconds of training HDP for each workload; 0: without it
  double pretrain = 0;                 // go-transfer: seconds of training for each family left out
  double search = 0;                   // go-multitask: seconds of contended search for each choice of tasks
  int draws = 16;                      // go-...: of the one-shot policy
  std::vector<std::string> workloads;  // go-...: only these
  std::vector<std::string> runs;       // trainings, NAME=STEM: STEM.jsonl is the log, STEM.safetensors the weights
  int updates = 0;                     // above 0: run short trainings
  std::string preset;                  // file of their settings
  std::string output;                  // folder for them
};

// One for each experiment, in a file of its name; those on targets in bench_targets.cc, go-... in
// bench_go.cc and bench_go_training.cc. They return the exit code.
int BenchAblation(const CommandLine& line, const BenchOptions& options);
int BenchExactness(const CommandLine& line, const BenchOptions& options);
int BenchGoConvergence(const CommandLine& line, const BenchOptions& options);
int BenchGoMultitask(const CommandLine& line, const BenchOptions& options);
int BenchGoPlacement(const CommandLine& line, const BenchOptions& options);
int BenchGoTransfer(const CommandLine& line, const BenchOptions& options);
int BenchGoWorkloads(const CommandLine& line, const BenchOptions& options);
int BenchQuality(const CommandLine& line, const BenchOptions& options);
int BenchOnCpu(const CommandLine& line, const BenchOptions& options);  // robustness --cpu
int BenchRobustness(const CommandLine& line, const BenchOptions& options);
int BenchGeneralization(const CommandLine& line, const BenchOptions& options);
int BenchRealGraphs(const CommandLine& line, const BenchOptions& options);
int BenchTemperature(const CommandLine& line, const BenchOptions& options);

}  // namespace millrace::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

// Which families of graphs searches are tuned on, and which only judge them. What was chosen on some graphs looks
// better on them than it is; so half of the task graphs (workloads/task_graph.h) is kept from every choice.
namespace millrace {

// For choosing anything: parameters, moves, temperatures, weights. The random families serve that, too.
const std::vector<std::string>& TuningFamilies();   // fft, lu, nas_cells, moe
const std::vector<std::string>& JudgingFamilies();  // gaussian_elimination, montage, randwire, skip_pipeline

// Families by words: tune, judge, random (the five random families) or the name of one. Each once, in the order of the
// words. Throws InvalidInput for another word.
std::vector<std::string> FamiliesOf(const std::vector<std::string>& words);

// What a family is for: "tunes" or "judges".
std::string UseOfFamily(const std::string& family);

}  // namespace millrace

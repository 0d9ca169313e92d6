// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/searches.h"

#include "millrace/search/anneal.h"
#include "millrace/search/anneal_fusion.h"
#include "millrace/search/brkga.h"
#include "millrace/search/exact.h"

namespace millrace {

void AddSearches(PlannerRegistry& registry) {
  registry.Add({BrkgaTraits(), [](const PlannerTraits&, const PlannerSettings& settings) {
                  BrkgaOptions options;
                  options.population = static_cast<int>(settings.One("population", options.population));
                  return MakeBrkga(options);
                }});
  registry.Add({AnnealingTraits(), [](const PlannerTraits&, const PlannerSettings& settings) {
                  AnnealOptions options;
                  options.chains = static_cast<int>(settings.One("chains", options.chains));
                  return MakeAnnealing(options);
                }});
  registry.Add(
      {PlainAnnealingTraits(), [](const PlannerTraits&, const PlannerSettings&) { return MakePlainAnnealing(); }});
  registry.Add(
      {AnnealingFusionTraits(), [](const PlannerTraits&, const PlannerSettings&) { return MakeAnnealingFusion(); }});
  registry.Add({ExactTraits(), [](const PlannerTraits&, const PlannerSettings&) { return MakeExact(); }});
}

}  // namespace millrace

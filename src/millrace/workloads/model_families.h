// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/workloads/models.h"

// The builders behind MakeModel, one file each. Sizes are in range and belong to the model; those that do not fit
// together throw InvalidInput.
namespace millrace {

Model MakeInceptionV3(const ModelOptions& options);
Model MakeResnet50(const ModelOptions& options);
Model MakeSqueezenet(const ModelOptions& options);
Model MakeMobilenetV2(const ModelOptions& options);
Model MakeBertBase(const ModelOptions& options);
Model MakeLstmLm(const ModelOptions& options);
Model MakeRnnlm(const ModelOptions& options);
Model MakeGnmt(const ModelOptions& options);
Model MakeTransformerXl(const ModelOptions& options);
Model MakeAmoebanet(const ModelOptions& options);
Model MakeWavenet(const ModelOptions& options);
Model MakeTowers(const ModelOptions& options);
Model MakeEnsemble(const ModelOptions& options);
Model MakeDetector(const ModelOptions& options);
Model MakeRecommender(const ModelOptions& options);
Model MakeMixtureOfExperts(const ModelOptions& options);
Model MakeLstmStacks(const ModelOptions& options);

}  // namespace millrace

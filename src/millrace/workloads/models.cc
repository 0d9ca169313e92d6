// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/models.h"

#include <fmt/core.h>

#include <algorithm>

#include "millrace/errors/errors.h"
#include "millrace/workloads/model_families.h"

namespace millrace {
namespace {

struct Family {
  const char* name;
  Model (*make)(const ModelOptions&);
  std::vector<std::string> sizes;  // that it has
  bool for_training = false;       // its usual ones are
};

const std::vector<Family>& Families() {
  static const std::vector<Family> families = {
      {"inception_v3", MakeInceptionV3, {"batch", "image", "width", "batch-normalization"}},
      {"resnet50", MakeResnet50, {"batch", "image", "width", "layers", "batch-normalization"}},
      {"squeezenet", MakeSqueezenet, {"batch", "image", "width"}},
      {"mobilenet_v2", MakeMobilenetV2, {"batch", "image", "width", "batch-normalization"}},
      {"bert_base",
       MakeBertBase,
       {"batch", "layers", "hidden", "heads", "sequence", "vocabulary", "split-layer-normalization"}},
      {"lstm_lm", MakeLstmLm, {"batch", "layers", "hidden", "sequence", "vocabulary", "chunks"}},
      {"rnnlm", MakeRnnlm, {"batch", "layers", "hidden", "sequence", "vocabulary"}, true},
      {"gnmt", MakeGnmt, {"batch", "layers", "hidden", "sequence", "vocabulary"}, true},
      {"transformer_xl",
       MakeTransformerXl,
       {"batch", "layers", "hidden", "heads", "sequence", "vocabulary", "chunks"},
       true},
      {"amoebanet", MakeAmoebanet, {"batch", "image", "layers", "hidden", "batch-normalization"}, true},
      {"wavenet", MakeWavenet, {"batch", "layers", "stacks", "hidden", "sequence"}, true},
      {"towers", MakeTowers, {"batch", "layers", "hidden", "towers"}},
      {"ensemble", MakeEnsemble, {"batch", "image", "width", "layers", "towers", "batch-normalization"}},
      {"detector", MakeDetector, {"batch", "image", "layers", "hidden", "batch-normalization"}},
      {"recommender", MakeRecommender, {"batch", "layers", "hidden", "towers", "vocabulary"}},
      {"mixture_of_experts", MakeMixtureOfExperts, {"batch", "layers", "hidden", "towers"}},
      {"lstm_stacks", MakeLstmStacks, {"batch", "layers", "hidden", "sequence", "towers"}},
  };
  return families;
}

std::string Listed(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

void CheckSizes(const Family& family, const ModelOptions& options) {
  const auto check_known = [&](const std::string& size, bool given) {
    if (!given || std::find(family.sizes.begin(), family.sizes.end(), size) != family.sizes.end()) return;
    throw InvalidInput(fmt::format("{} has no {}; it takes {}", family.name, size, Listed(family.sizes)));
  };
  const auto check = [&](const char* size, const std::optional<std::int64_t>& value) {
    check_known(size, value.has_value());
    if (value && (*value < 1 || *value > kLargestModelSize)) {
      throw InvalidInput(fmt::format("{}: it is a number from 1 to {}, not {}", size, kLargestModelSize, *value));
    }
  };
  check("batch", options.batch);
  check("image", options.image);
  check("layers", options.layers);
  check("hidden", options.hidden);
  check("heads", options.heads);
  check("sequence", options.sequence);
  check("vocabulary", options.vocabulary);
  check("towers", options.towers);
  check("chunks", options.chunks);
  check("stacks", options.stacks);
  check_known("width", options.width.has_value());
  if (options.width && !(*options.width > 0 && *options.width <= 64)) {
    throw InvalidInput("width: the factor is a number > 0 and at most 64");
  }
  check_known("batch-normalization", options.keep_batch_normalization);
  check_known("split-layer-normalization", options.split_layer_normalization);
}

}  // namespace

const std::vector<std::string>& ModelNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Family& family : Families()) result.emplace_back(family.name);
    return result;
  }();
  return names;
}

const std::vector<std::string>& InferenceModelNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Family& family : Families()) {
      if (!family.for_training) result.emplace_back(family.name);
    }
    return result;
  }();
  return names;
}

Model MakeModel(std::string_view name, const ModelOptions& options) {
  for (const Family& family : Families()) {
    if (family.name != name) continue;
    CheckSizes(family, options);
    return family.make(options);
  }
  throw InvalidInput(fmt::format("'{}' is no model; there are {}", std::string(name), Listed(ModelNames())));
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/language_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/formats/text_lines.h"

namespace millrace {
namespace {

constexpr double kMostLayers = 4096;
constexpr double kMostSize = 1e9;  // of a width, a count of heads or experts, a vocabulary
constexpr double kCacheValueBytes = 2;

// The metadata under the architecture's own name.
class Settings {
 public:
  Settings(const GgufFile& file, std::string architecture) : file_(file), prefix_(std::move(architecture) + ".") {}

  double Size(const char* key, double otherwise) const { return Checked(key, file_.Number(prefix_ + key, otherwise)); }

  // Of one layer, where each may have its own.
  double Size(const char* key, int layer, double otherwise) const {
    const GgufValue* const value = file_.Find(prefix_ + key);
    if (value == nullptr || value->kind != GgufValue::Kind::kList) return Size(key, otherwise);
    const auto at = static_cast<std::size_t>(layer);
    if (at >= value->numbers.size())
      throw InvalidInput(fmt::format("{}{}: lists {} layers; layer {} is missing", prefix_, key, value->length, layer));
    return Checked(key, value->numbers[at]);
  }

 private:
  double Checked(const char* key, double size) const {
    if (size < 0 || size > kMostSize || size != std::floor(size))
      throw InvalidInput(fmt::format("{}{}: is {:g}, which no model has", prefix_, key, size));
    return size;
  }

  const GgufFile& file_;
  std::string prefix_;
};

// The N of "blk.N.NAME".
std::optional<int> LayerNumberOf(std::string_view name) {
  constexpr std::string_view kBlock = "blk.";
  if (!name.starts_with(kBlock)) return std::nullopt;
  name.remove_prefix(kBlock.size());
  return IdIn(name.substr(0, name.find('.')));
}

bool Has(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

struct AttentionKind {
  bool keys = false;    // it has keys and values of its own
  bool latent = false;  // compressed into one vector
};

void AddWeights(const GgufTensor& tensor, double share_read, ModelPart& part) {
  const auto bytes = static_cast<double>(tensor.bytes);
  part.weight_bytes += bytes;
  part.read_bytes += bytes * share_read;
  if (tensor.shape.size() > 1) part.flops += 2 * static_cast<double>(tensor.elements) * share_read;
}

void AddCache(const Settings& settings, int layer, double width, const AttentionKind& kind, ModelPart& part) {
  if (!kind.keys) return;
  const double heads = settings.Size("attention.head_count", layer, 0);
  const double shared_heads = settings.Size("attention.head_count_kv", layer, heads);
  const double per_head = heads > 0 ? width / heads : 0;
  const double key = settings.Size("attention.key_length", per_head > 0 ? std::floor(per_head) : 0);
  const double value = settings.Size("attention.value_length", per_head > 0 ? std::floor(per_head) : 0);
  double cached = shared_heads * (key + value);
  if (kind.latent) cached = settings.Size("attention.kv_lora_rank", 0) + settings.Size("rope.dimension_count", 0);
  part.cache_bytes = cached * kCacheValueBytes;
  part.flops_of_context = 2 * heads * (key + value);
}

}  // namespace

LanguageModel LanguageModelOf(const GgufFile& file) {
  LanguageModel model;
  model.architecture = file.Text("general.architecture");
  if (model.architecture.empty()) throw InvalidInput("general.architecture: is missing; no language model");
  model.name = file.Text("general.name");
  const Settings settings(file, model.architecture);
  const double layers = settings.Size("block_count", 0);
  if (layers < 1 || layers > kMostLayers)
    throw InvalidInput(fmt::format("{}.block_count: is {:g}; 1 to {:g} layers are known", Escaped(model.architecture),
                                   layers, kMostLayers));
  model.embedding_length = settings.Size("embedding_length", 0);
  model.feed_forward_length = settings.Size("feed_forward_length", 0, 0);
  const double experts = settings.Size("expert_count", 0);
  const double used = std::min(experts, settings.Size("expert_used_count", experts));
  const double share_of_experts = experts > 0 ? used / experts : 1;

  model.parts.resize(static_cast<std::size_t>(layers) + 1);
  ModelPart& output = model.parts.back();
  output.name = "output";
  std::vector<AttentionKind> attention(static_cast<std::size_t>(layers));
  const GgufTensor* embedding = nullptr;
  bool own_output = false;
  for (const GgufTensor& tensor : file.tensors) {
    if (const std::optional<int> layer = LayerNumberOf(tensor.name)) {
      if (*layer >= static_cast<int>(layers))
        throw InvalidInput(fmt::format("tensor '{}': there are only {:g} layers", Shown(tensor.name), layers));
      const auto at = static_cast<std::size_t>(*layer);
      AddWeights(tensor, Has(tensor.name, "_exps") ? share_of_experts : 1, model.parts[at]);
      attention[at].keys |=
          Has(tensor.name, ".attn_k.") || Has(tensor.name, ".attn_qkv.") || Has(tensor.name, ".attn_kv_");
      attention[at].latent |= Has(tensor.name, ".attn_kv_a");
    } else if (tensor.name.starts_with("output")) {
      AddWeights(tensor, 1, output);
      own_output |= tensor.name == "output.weight";
    } else {
      model.embedding_bytes += static_cast<double>(tensor.bytes);
      if (tensor.name == "token_embd.weight") embedding = &tensor;
    }
  }
  if (embedding == nullptr || embedding->shape.size() != 2)
    throw InvalidInput("has no token_embd.weight with two dimensions; no language model");
  model.vocabulary = static_cast<double>(embedding->shape[1]);
  model.embedding_row_bytes = static_cast<double>(embedding->bytes) / model.vocabulary;
  if (model.embedding_length == 0) model.embedding_length = static_cast<double>(embedding->shape[0]);
  if (!own_output) AddWeights(*embedding, 1, output);
  for (int layer = 0; layer < model.layers(); ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    ModelPart& part = model.parts[at];
    part.name = fmt::format("blk.{}", layer);
    if (part.weight_bytes == 0) throw InvalidInput(fmt::format("layer {} has no tensors", layer));
    AddCache(settings, layer, model.embedding_length, attention[at], part);
  }
  return model;
}

ComputationGraph GraphOfLanguageModel(const LanguageModel& model, const LanguageModelUse& use) {
  constexpr double kActivationBytes = 4;
  const double hidden = use.tokens * model.embedding_length * kActivationBytes;
  const double held = use.context + use.tokens;
  GraphData data;
  data.name = model.name.empty() ? model.architecture : model.name;
  const auto tensor = [&data](std::string name, OpId producer, double bytes) {
    Tensor made;
    made.name = std::move(name);
    made.producer = producer;
    if (producer + 1 < static_cast<OpId>(data.ops.size())) made.consumers = {producer + 1};
    made.bytes = bytes;
    made.output = made.consumers.empty();
    data.tensors.push_back(std::move(made));
  };
  Op embedding;
  embedding.name = "token_embd";
  embedding.type = "embedding";
  embedding.weight_bytes = model.embedding_bytes;
  embedding.bytes_accessed = use.tokens * model.embedding_row_bytes + hidden;
  data.ops.push_back(embedding);
  for (std::size_t i = 0; i < model.parts.size(); ++i) {
    const ModelPart& part = model.parts[i];
    const bool output = i + 1 == model.parts.size();
    Op op;
    op.name = part.name;
    op.type = output ? "output" : "layer";
    if (!output) op.layer = static_cast<int>(i);
    // Of a prompt only the last token's output is asked for.
    const double tokens = output ? 1 : use.tokens;
    op.flops = tokens * (part.flops + part.flops_of_context * (use.context + tokens / 2));
    op.weight_bytes = part.weight_bytes + part.cache_bytes * held;
    op.bytes_accessed = (use.tokens > 1 ? part.weight_bytes : part.read_bytes) + part.cache_bytes * held + 2 * hidden;
    data.ops.push_back(std::move(op));
  }
  tensor("tokens", -1, use.tokens * kActivationBytes);
  for (OpId op = 0; op + 1 < static_cast<OpId>(data.ops.size()); ++op)
    tensor(data.ops[static_cast<std::size_t>(op)].name, op, hidden);
  tensor("logits", static_cast<OpId>(data.ops.size()) - 1, model.vocabulary * kActivationBytes);
  return ComputationGraph(std::move(data));
}

}  // namespace millrace

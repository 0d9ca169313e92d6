// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

// GGUF files put together byte by byte, right ones and wrong ones.
namespace millrace::testing {

class GgufBuilder {
 public:
  static constexpr std::uint32_t kF32 = 0, kF16 = 1, kQ8 = 8;  // numbers of types

  GgufBuilder& Number(const std::string& key, std::uint32_t number) { return Entry(key, 4, Little(number)); }
  GgufBuilder& Real(const std::string& key, float number) {
    return Entry(key, 6, Little(std::bit_cast<std::uint32_t>(number)));
  }
  GgufBuilder& Text(const std::string& key, const std::string& text) { return Entry(key, 8, Sized(text)); }
  GgufBuilder& Numbers(const std::string& key, const std::vector<std::uint32_t>& numbers) {
    std::string bytes = Little(std::uint32_t{4}) + Little(std::uint64_t{numbers.size()});
    for (const std::uint32_t number : numbers) bytes += Little(number);
    return Entry(key, 9, bytes);
  }
  GgufBuilder& Texts(const std::string& key, const std::vector<std::string>& texts) {
    std::string bytes = Little(std::uint32_t{8}) + Little(std::uint64_t{texts.size()});
    for (const std::string& text : texts) bytes += Sized(text);
    return Entry(key, 9, bytes);
  }
  GgufBuilder& Tensor(const std::string& name, const std::vector<std::uint64_t>& shape, std::uint32_t type) {
    std::uint64_t bytes = type == kF32 ? 4 : 2;
    for (const std::uint64_t size : shape) bytes *= size;
    if (type == kQ8) bytes = bytes / 2 / 32 * 34;
    if (bytes > (std::uint64_t{1} << 24)) bytes = 0;  // which only wrong files say they have
    tensors_ += Sized(name) + Little(static_cast<std::uint32_t>(shape.size()));
    for (const std::uint64_t size : shape) tensors_ += Little(size);
    tensors_ += Little(type) + Little(data_bytes_);
    data_bytes_ += (bytes + 31) / 32 * 32;
    ++tensor_count_;
    return *this;
  }

  std::string Bytes() const {
    std::string bytes =
        "GGUF" + Little(std::uint32_t{3}) + Little(tensor_count_) + Little(entry_count_) + entries_ + tensors_;
    bytes.resize((bytes.size() + 31) / 32 * 32);
    return bytes + std::string(data_bytes_, '\0');
  }

  template <typename Whole>
  static std::string Little(Whole number) {
    std::string bytes;
    for (std::size_t i = 0; i < sizeof(Whole); ++i)
      bytes += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xff);
    return bytes;
  }
  static std::string Sized(const std::string& text) { return Little(std::uint64_t{text.size()}) + text; }

  GgufBuilder& Entry(const std::string& key, std::uint32_t kind, const std::string& value) {
    entries_ += Sized(key) + Little(kind) + value;
    ++entry_count_;
    return *this;
  }

 private:
  std::string entries_, tensors_;
  std::uint64_t entry_count_ = 0, tensor_count_ = 0, data_bytes_ = 0;
};

// A small llama: `layers` equal layers of width 64 with 4 heads, two of them for keys and values, 256 words.
inline GgufBuilder SmallLlama(std::uint32_t layers, std::uint32_t type = GgufBuilder::kF16) {
  GgufBuilder builder;
  builder.Text("general.architecture", "llama").Text("general.name", "small");
  builder.Number("llama.block_count", layers).Number("llama.embedding_length", 64);
  builder.Number("llama.feed_forward_length", 128).Number("llama.attention.head_count", 4);
  builder.Number("llama.attention.head_count_kv", 2).Number("llama.context_length", 2048);
  builder.Texts("tokenizer.ggml.tokens", {"a", "b", "c"});
  builder.Tensor("token_embd.weight", {64, 256}, type);
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    const std::string name = "blk." + std::to_string(layer) + ".";
    builder.Tensor(name + "attn_norm.weight", {64}, GgufBuilder::kF32);
    builder.Tensor(name + "attn_q.weight", {64, 64}, type).Tensor(name + "attn_k.weight", {64, 32}, type);
    builder.Tensor(name + "attn_v.weight", {64, 32}, type).Tensor(name + "attn_output.weight", {64, 64}, type);
    builder.Tensor(name + "ffn_gate.weight", {64, 128}, type).Tensor(name + "ffn_up.weight", {64, 128}, type);
    builder.Tensor(name + "ffn_down.weight", {128, 64}, type);
  }
  builder.Tensor("output_norm.weight", {64}, GgufBuilder::kF32).Tensor("output.weight", {64, 256}, type);
  return builder;
}

}  // namespace millrace::testing

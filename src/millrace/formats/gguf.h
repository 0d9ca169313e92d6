// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <vector>

// GGUF, the model file of llama.cpp, versions 2 and 3, little-endian (ggml's docs/gguf.md): everything that stands
// before the weights. The weights themselves are never read. Bytes.
namespace millrace {

// A value of the metadata. Whole numbers and booleans are kept as doubles, which is exact for every count a model has.
struct GgufValue {
  enum class Kind { kNumber, kText, kList };
  Kind kind = Kind::kNumber;
  double number = 0;
  std::string text;
  std::uint64_t length = 0;     // of a list
  std::vector<double> numbers;  // a list's, where they are numbers and at most kMostListed; else only counted

  static constexpr std::uint64_t kMostListed = 65536;
};

struct GgufTensor {
  std::string name;
  std::vector<std::uint64_t> shape;  // the fastest dimension first, 1 to 4 of them
  std::string type;                  // "F16", "Q4_K"; blocks of quantised weights lie along the first dimension
  std::uint64_t elements = 0;
  std::uint64_t offset = 0;  // from where the data of its file begins
  std::uint64_t bytes = 0;
};

struct GgufFile {
  std::map<std::string, GgufValue> metadata;
  std::vector<GgufTensor> tensors;

  const GgufValue* Find(const std::string& key) const;
  // The number under the key, or `otherwise`. Throws InvalidInput where something else stands there.
  double Number(const std::string& key, double otherwise) const;
  std::string Text(const std::string& key) const;  // empty where there is none
};

// Reads one file of `file_bytes` bytes from its beginning. Throws InvalidInput naming the place: no GGUF, another
// version or byte order, a count or length beyond the file's end, a key or a tensor twice, a type or shape that no
// tensor has, data that is cut off.
GgufFile ParseGguf(std::istream& in, std::uint64_t file_bytes);

// The same of a file and, where the model is split over several ("NAME-00001-of-00003.gguf"), of its sisters: one list
// of all tensors. Throws InvalidInput naming the file.
GgufFile ReadGguf(const std::string& path);

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/gguf.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <string_view>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"

namespace millrace {
namespace {

// How ggml lays weights out: so many in a block of so many bytes. By the type's number in the file.
struct WeightType {
  std::uint32_t id;
  const char* name;
  std::uint64_t block;
  std::uint64_t bytes;
};

constexpr std::array<WeightType, 35> kWeightTypes = {{
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},      {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},      {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 36},
    {10, "Q2_K", 256, 84},    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},   {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},   {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},   {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},
    {40, "NVFP4", 64, 36},    {41, "Q1_0", 128, 18},    {42, "Q2_0", 64, 18},
}};

// The numbers that stand for kinds of metadata values.
enum ValueType : std::uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64,
  kValueTypes
};

constexpr std::array<std::uint64_t, kValueTypes> kValueBytes = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};  // at least
constexpr std::uint64_t kLongestName = 65535;
constexpr std::uint64_t kLongestText = 16U << 20;
constexpr std::uint64_t kLeastEntryBytes = 8 + 4 + 1;           // a key's length, a kind, a value
constexpr std::uint64_t kLeastTensorBytes = 8 + 4 + 8 + 4 + 8;  // a name's length, a dimension, a type, an offset
constexpr std::uint64_t kMostData = std::uint64_t{1} << 50;

// The file as it is read, with what is left of it. Nothing is believed that does not fit into the rest.
class HeaderReader {
 public:
  HeaderReader(std::istream& in, std::uint64_t bytes) : in_(in), size_(bytes), left_(bytes) {}

  std::uint64_t position() const { return size_ - left_; }
  std::uint64_t left() const { return left_; }

  [[noreturn]] void Refuse(const std::string& place, const std::string& complaint) const {
    throw InvalidInput(fmt::format("{}: {}", place, complaint));
  }

  void Take(char* to, std::uint64_t bytes, const std::string& place) {
    if (bytes > left_ || !in_.read(to, static_cast<std::streamsize>(bytes)))
      Refuse(place, fmt::format("the file ends at byte {}, within it", size_));
    left_ -= bytes;
  }

  void Skip(std::uint64_t bytes, const std::string& place) {
    if (bytes > left_ || !in_.ignore(static_cast<std::streamsize>(bytes)))
      Refuse(place, fmt::format("the file ends at byte {}, within it", size_));
    left_ -= bytes;
  }

  template <typename Number>
  Number Whole(const std::string& place) {
    std::array<char, sizeof(Number)> bytes{};
    Take(bytes.data(), bytes.size(), place);
    std::uint64_t value = 0;
    for (std::size_t i = sizeof(Number); i-- > 0;) value = (value << 8) | static_cast<unsigned char>(bytes[i]);
    return static_cast<Number>(value);
  }

  std::uint64_t Length(std::uint64_t most, const std::string& place) {
    const auto length = Whole<std::uint64_t>(place);
    if (length > left_) Refuse(place, fmt::format("a text of {} bytes runs past the end of the file", length));
    if (length > most) Refuse(place, fmt::format("a text of {} bytes is longer than any there is", length));
    return length;
  }

  std::string Text(std::uint64_t most, const std::string& place) {
    std::string text(Length(most, place), '\0');
    Take(text.data(), text.size(), place);
    return text;
  }

 private:
  std::istream& in_;
  std::uint64_t size_, left_;
};

double NumberOf(HeaderReader& reader, std::uint32_t type, const std::string& place) {
  switch (type) {
    case kUint8:
    case kBool:
      return reader.Whole<std::uint8_t>(place);
    case kInt8:
      return reader.Whole<std::int8_t>(place);
    case kUint16:
      return reader.Whole<std::uint16_t>(place);
    case kInt16:
      return reader.Whole<std::int16_t>(place);
    case kUint32:
      return reader.Whole<std::uint32_t>(place);
    case kInt32:
      return reader.Whole<std::int32_t>(place);
    case kUint64:
      return static_cast<double>(reader.Whole<std::uint64_t>(place));
    case kInt64:
      return static_cast<double>(reader.Whole<std::int64_t>(place));
    case kFloat32:
      return static_cast<double>(std::bit_cast<float>(reader.Whole<std::uint32_t>(place)));
    default:
      return std::bit_cast<double>(reader.Whole<std::uint64_t>(place));
  }
}

GgufValue ListOf(HeaderReader& reader, const std::string& place) {
  GgufValue value;
  value.kind = GgufValue::Kind::kList;
  const auto type = reader.Whole<std::uint32_t>(place);
  if (type >= kValueTypes || type == kArray)
    reader.Refuse(place, fmt::format("a list of values of kind {}, which this program does not know", type));
  value.length = reader.Whole<std::uint64_t>(place);
  if (value.length > reader.left() / kValueBytes[type])
    reader.Refuse(place, fmt::format("a list of {} values runs past the end of the file", value.length));
  if (type == kString) {
    for (std::uint64_t i = 0; i < value.length; ++i) reader.Skip(reader.Length(kLongestText, place), place);
  } else if (value.length > GgufValue::kMostListed) {
    reader.Skip(value.length * kValueBytes[type], place);
  } else {
    value.numbers.reserve(value.length);
    for (std::uint64_t i = 0; i < value.length; ++i) value.numbers.push_back(NumberOf(reader, type, place));
  }
  return value;
}

GgufValue ValueOf(HeaderReader& reader, const std::string& place) {
  const auto type = reader.Whole<std::uint32_t>(place);
  if (type >= kValueTypes)
    reader.Refuse(place, fmt::format("a value of kind {}, which this program does not know", type));
  if (type == kArray) return ListOf(reader, place);
  GgufValue value;
  if (type == kString) {
    value.kind = GgufValue::Kind::kText;
    value.text = reader.Text(kLongestText, place);
  } else {
    value.number = NumberOf(reader, type, place);
  }
  return value;
}

const WeightType* TypeNumbered(std::uint32_t id) {
  for (const WeightType& type : kWeightTypes) {
    if (type.id == id) return &type;
  }
  return nullptr;
}

GgufTensor TensorOf(HeaderReader& reader, std::uint64_t index) {
  const std::string number = fmt::format("tensor {}", index);
  GgufTensor tensor;
  tensor.name = reader.Text(kLongestName, number);
  const std::string place = fmt::format("{} '{}'", number, Shown(tensor.name));
  const auto dimensions = reader.Whole<std::uint32_t>(place);
  if (dimensions < 1 || dimensions > 4)
    reader.Refuse(place, fmt::format("has {} dimensions; 1 to 4 are known", dimensions));
  tensor.elements = 1;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const auto size = reader.Whole<std::uint64_t>(place);
    if (size == 0 || size > kMostData / tensor.elements)
      reader.Refuse(place, fmt::format("dimension {} is {}, which no tensor has", i, size));
    tensor.elements *= size;
    tensor.shape.push_back(size);
  }
  const auto id = reader.Whole<std::uint32_t>(place);
  const WeightType* const type = TypeNumbered(id);
  if (type == nullptr)
    reader.Refuse(place, fmt::format("its weights are of type {}, which this program does not know", id));
  if (tensor.shape[0] % type->block != 0) {
    reader.Refuse(place, fmt::format("rows of {} weights are no whole blocks of {} ({})", tensor.shape[0], type->block,
                                     type->name));
  }
  tensor.type = type->name;
  tensor.bytes = tensor.elements / type->block * type->bytes;
  tensor.offset = reader.Whole<std::uint64_t>(place);
  return tensor;
}

std::uint64_t AlignmentOf(const GgufFile& file, const HeaderReader& reader) {
  const double alignment = file.Number("general.alignment", 32);
  if (!(alignment >= 1) || alignment > (1 << 20) || !std::has_single_bit(static_cast<std::uint64_t>(alignment)) ||
      alignment != std::floor(alignment))
    reader.Refuse("general.alignment", fmt::format("is {:g}; a power of two is wanted", alignment));
  return static_cast<std::uint64_t>(alignment);
}

void CheckData(const GgufFile& file, const HeaderReader& reader, std::uint64_t file_bytes) {
  const std::uint64_t alignment = AlignmentOf(file, reader);
  const std::uint64_t data = (reader.position() + alignment - 1) / alignment * alignment;
  for (const GgufTensor& tensor : file.tensors) {
    const std::string place = fmt::format("tensor '{}'", Shown(tensor.name));
    if (tensor.offset % alignment != 0)
      reader.Refuse(place, fmt::format("begins at {}, which is no multiple of {}", tensor.offset, alignment));
    if (data > file_bytes || tensor.offset > file_bytes - data || tensor.bytes > file_bytes - data - tensor.offset)
      reader.Refuse(place, "its weights run past the end of the file; is the file complete?");
  }
}

std::string PartName(const std::string& before, int part, int count) {
  return fmt::format("{}-{:05}-of-{:05}.gguf", before, part, count);
}

void AddSisters(const std::string& path, GgufFile& file) {
  const double count = file.Number("split.count", 1);
  if (!(count > 1)) return;
  constexpr int kMostParts = 10000;
  if (count > kMostParts || count != std::floor(count))
    throw InvalidInput(fmt::format("split.count: {:g} files are more than any model has", count));
  const int parts = static_cast<int>(count);
  const std::string ending = PartName("", 1, parts);
  if (!path.ends_with(ending))
    throw InvalidInput(fmt::format("is one of {} files; name the first, which ends in {}", parts, ending));
  const std::string before = path.substr(0, path.size() - ending.size());
  std::set<std::string> seen;
  for (const GgufTensor& tensor : file.tensors) seen.insert(tensor.name);
  for (int part = 2; part <= parts; ++part) {
    const std::string sister = PartName(before, part, parts);
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(sister, error);
    std::ifstream in(sister, std::ios::binary);
    if (error || !in) throw InvalidInput(fmt::format("its part {} cannot be read", Escaped(sister)));
    try {
      for (GgufTensor& tensor : ParseGguf(in, bytes).tensors) {
        if (!seen.insert(tensor.name).second)
          throw InvalidInput(fmt::format("tensor '{}' is there twice", Shown(tensor.name)));
        file.tensors.push_back(std::move(tensor));
      }
    } catch (const InvalidInput& wrong) {
      throw wrong.InFile(sister);
    }
  }
}

}  // namespace

const GgufValue* GgufFile::Find(const std::string& key) const {
  const auto found = metadata.find(key);
  return found == metadata.end() ? nullptr : &found->second;
}

double GgufFile::Number(const std::string& key, double otherwise) const {
  const GgufValue* const value = Find(key);
  if (value == nullptr) return otherwise;
  if (value->kind != GgufValue::Kind::kNumber || !std::isfinite(value->number))
    throw InvalidInput(key + ": is no number");
  return value->number;
}

std::string GgufFile::Text(const std::string& key) const {
  const GgufValue* const value = Find(key);
  return value != nullptr && value->kind == GgufValue::Kind::kText ? value->text : "";
}

GgufFile ParseGguf(std::istream& in, std::uint64_t file_bytes) {
  HeaderReader reader(in, file_bytes);
  if (reader.Whole<std::uint32_t>("its first bytes") != 0x46554747U) throw InvalidInput("is no GGUF file");
  const auto version = reader.Whole<std::uint32_t>("version");
  if (version == 0x03000000U || version == 0x02000000U)
    throw InvalidInput("is a big-endian GGUF file; only little-endian ones are read");
  if (version != 2 && version != 3) throw InvalidInput(fmt::format("is of GGUF version {}; 2 and 3 are read", version));
  const auto tensors = reader.Whole<std::uint64_t>("the number of tensors");
  const auto entries = reader.Whole<std::uint64_t>("the number of metadata entries");
  if (tensors > reader.left() / kLeastTensorBytes)
    reader.Refuse("the number of tensors", fmt::format("{} do not fit into the file", tensors));
  if (entries > reader.left() / kLeastEntryBytes)
    reader.Refuse("the number of metadata entries", fmt::format("{} do not fit into the file", entries));
  GgufFile file;
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::string number = fmt::format("metadata entry {}", i);
    const std::string key = reader.Text(kLongestName, number);
    const std::string place = fmt::format("{} '{}'", number, Shown(key));
    if (!file.metadata.emplace(key, ValueOf(reader, place)).second) reader.Refuse(place, "is there twice");
  }
  std::set<std::string> names;
  for (std::uint64_t i = 0; i < tensors; ++i) {
    file.tensors.push_back(TensorOf(reader, i));
    if (!names.insert(file.tensors.back().name).second)
      reader.Refuse(fmt::format("tensor {} '{}'", i, Shown(file.tensors.back().name)), "is there twice");
  }
  CheckData(file, reader, file_bytes);
  return file;
}

GgufFile ReadGguf(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) throw InvalidInput(path + ": is a folder");
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) throw InvalidInput(path + ": cannot be opened: " + (error ? error.message() : "not readable"));
  try {
    GgufFile file = ParseGguf(in, bytes);
    AddSisters(path, file);
    return file;
  } catch (const InvalidInput& wrong) {
    throw wrong.InFile(path);
  }
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_external.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_tensor.h"
#include "millrace/formats/text_lines.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;

std::uint64_t NumberOf(const std::string& text, const std::string& what, const char* key) {
  if (const auto number = NumberIn<std::uint64_t>(text)) return *number;
  throw InvalidInput(fmt::format("{}: its external data's {} is '{}', which is no number", what, key, text));
}

// The file, once it is sure that it lies in the folder, links followed.
fs::path FileOf(const std::string& folder, const std::string& location, const std::string& what) {
  const fs::path relative(location);
  bool escapes = location.empty() || relative.is_absolute();
  for (const fs::path& part : relative) escapes = escapes || part == "..";
  std::error_code error;
  const fs::path root = fs::canonical(folder.empty() ? fs::path(".") : fs::path(folder), error);
  fs::path file = fs::weakly_canonical(root / relative, error);
  const fs::path inside = file.lexically_relative(root);
  escapes = escapes || inside.empty() || *inside.begin() == "..";
  if (escapes) {
    throw InvalidInput(
        fmt::format("{}: its data is said to lie in '{}', which is not in the model's own folder", what, location));
  }
  if (!fs::is_regular_file(file, error)) {
    throw InvalidInput(fmt::format("{}: its data file '{}' is missing; put it beside the model", what, file.string()));
  }
  return file;
}

}  // namespace

std::shared_ptr<const ConstantData> ExternalData::Read(const onnx::TensorProto& tensor, const std::string& what) {
  const DataType type = *DataTypeOf(tensor.data_type());
  const Shape shape = ShapeOf(tensor);
  const std::uint64_t wanted = static_cast<std::uint64_t>(CheckedElements(shape, what)) * BytesOf(type);
  std::string location;
  std::uint64_t offset = 0;
  std::uint64_t length = wanted;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = NumberOf(entry.value(), what, "offset");
    if (entry.key() == "length") length = NumberOf(entry.value(), what, "length");
  }
  const fs::path file = FileOf(folder_, location, what);
  if (length != wanted) {
    throw InvalidInput(
        fmt::format("{}: {} bytes of external data where its dimensions ask for {}", what, length, wanted));
  }
  const Stretch stretch{file.string(), offset, type, shape};
  if (const auto found = read_.find(stretch); found != read_.end()) return found->second;
  std::error_code error;
  const std::uint64_t size = fs::file_size(file, error);
  if (error || offset > size || wanted > size - offset) {
    throw InvalidInput(fmt::format("{}: its data file '{}' is too short: bytes {} .. {} are wanted, it has {}", what,
                                   file.string(), offset, offset + wanted, error ? 0 : size));
  }
  std::vector<std::byte> bytes(wanted);
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset));
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(wanted));
  if (static_cast<std::uint64_t>(stream.gcount()) != wanted) {
    throw InvalidInput(fmt::format("{}: its data file '{}' cannot be read", what, file.string()));
  }
  std::shared_ptr<const ConstantData> data = ConstantData::Dense(type, shape, std::move(bytes));
  read_.emplace(stretch, data);
  return data;
}

}  // namespace millrace

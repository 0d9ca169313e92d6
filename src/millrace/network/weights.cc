// SPDX-License-Identifier: Apache-2.0
#include "millrace/network/weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/json_value.h"
#include "millrace/formats/json_write.h"

namespace millrace {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian, and so must be the machine");

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMostHeaderBytes = std::size_t{1} << 20;
constexpr std::size_t kMostFileBytes = std::size_t{1} << 30;
constexpr const char* kMetadata = "__metadata__";

// Where a tensor's values lie among the data.
struct Extent {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view tensor;
};

// How many values a tensor of this shape has; nothing where that is beyond any file.
std::optional<std::size_t> CountOf(const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    if (size == 0) return 0;
  }
  for (const std::int64_t size : shape) {
    if (static_cast<std::size_t>(size) > kMostFileBytes / count) return std::nullopt;
    count *= static_cast<std::size_t>(size);
  }
  return count;
}

std::string ShownShape(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

bool AllFinite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

std::size_t SizeAt(const JsonPlace& place) {
  const std::uint64_t size = place.Unsigned();
  if (size > kMostFileBytes) place.Refuse("is beyond any file of weights");
  return static_cast<std::size_t>(size);
}

// Reads the entry of one tensor and copies its values out of the data.
WeightTensor TakeTensor(const JsonPlace& entry, std::string_view data, Extent& extent) {
  const JsonPlace dtype = entry.Member("dtype");
  if (dtype.Text() != "F32") dtype.Refuse("is '" + Shown(dtype.Text()) + "'; only F32 is read");

  WeightTensor tensor;
  const JsonPlace shape = entry.Member("shape");
  for (std::size_t i = 0; i < shape.Size(); ++i)
    tensor.shape.push_back(static_cast<std::int64_t>(SizeAt(shape.Element(i))));
  const auto count = CountOf(tensor.shape);
  if (!count) shape.Refuse("is too large");

  const JsonPlace offsets = entry.Member("data_offsets");
  if (offsets.Size() != 2) offsets.Refuse("must be two numbers");
  extent.begin = SizeAt(offsets.Element(0));
  extent.end = SizeAt(offsets.Element(1));
  if (extent.begin > extent.end || extent.end > data.size()) {
    offsets.Refuse("reaches from " + std::to_string(extent.begin) + " to " + std::to_string(extent.end) +
                   ", and there are " + std::to_string(data.size()) + " bytes of data; the file may be truncated");
  }
  if (*count * sizeof(float) != extent.end - extent.begin) {
    offsets.Refuse("holds " + std::to_string(extent.end - extent.begin) + " bytes where the shape " +
                   ShownShape(tensor.shape) + " takes " + std::to_string(*count * sizeof(float)));
  }
  tensor.values.resize(*count);
  if (*count > 0) std::memcpy(tensor.values.data(), data.data() + extent.begin, extent.end - extent.begin);
  if (!AllFinite(tensor.values)) throw InvalidInput("holds values that are not finite");
  return tensor;
}

// The tensors must lie one after the other, from the first byte of the data to the last.
void CheckNoGaps(std::vector<Extent> extents, std::size_t data_bytes) {
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::size_t reached = 0;
  for (const Extent& extent : extents) {
    if (extent.begin == reached) {
      reached = extent.end;
      continue;
    }
    throw InvalidInput("tensor '" + Shown(extent.tensor) + "' starts at byte " + std::to_string(extent.begin) +
                       " of the data, " + (extent.begin < reached ? "inside" : "behind a hole after") +
                       " what ends at " + std::to_string(reached));
  }
  if (reached != data_bytes) {
    throw InvalidInput("has " + std::to_string(data_bytes - reached) + " bytes of data that belong to no tensor");
  }
}

Weights Parse(std::string_view bytes) {
  std::uint64_t header_bytes = 0;
  if (bytes.size() < kLengthBytes) throw InvalidInput("is too short for a safetensors file");
  std::memcpy(&header_bytes, bytes.data(), kLengthBytes);
  if (header_bytes > kMostHeaderBytes || header_bytes > bytes.size() - kLengthBytes) {
    throw InvalidInput("promises a header of " + std::to_string(header_bytes) + " bytes" +
                       (header_bytes > kMostHeaderBytes ? "; it is no safetensors file of weights"
                                                        : " and ends before; it is truncated"));
  }
  const JsonValue header = ParseJson(bytes.substr(kLengthBytes, static_cast<std::size_t>(header_bytes)));
  const std::string_view data = bytes.substr(kLengthBytes + static_cast<std::size_t>(header_bytes));

  Weights weights;
  std::vector<Extent> extents;
  bool described = false;
  for (const JsonMember& member : JsonPlace(header).Object()) {
    const JsonPlace entry(member.value);
    try {
      if (member.name == kMetadata) {
        if (described) throw InvalidInput("is given twice");
        described = true;
        for (const JsonMember& item : entry.Object()) {
          if (!weights.metadata.emplace(item.name, JsonPlace(item.value).Text()).second)
            throw InvalidInput("'" + Shown(item.name) + "' is given twice");
        }
        continue;
      }
      const auto [place, fresh] = weights.tensors.try_emplace(member.name);
      if (!fresh) throw InvalidInput("is given twice");
      extents.push_back({0, 0, member.name});
      place->second = TakeTensor(entry, data, extents.back());
    } catch (const InvalidInput& error) {
      throw error.InFile(member.name == kMetadata ? kMetadata : "tensor '" + Shown(member.name) + "'");
    }
  }
  CheckNoGaps(std::move(extents), data.size());
  return weights;
}

}  // namespace

const WeightTensor& Weights::Get(std::string_view name, const std::vector<std::int64_t>& shape) const {
  const auto found = tensors.find(std::string(name));
  if (found == tensors.end()) throw InvalidInput("tensor '" + std::string(name) + "' is missing");
  const WeightTensor& tensor = found->second;
  if (tensor.shape != shape || CountOf(shape) != tensor.values.size()) {
    throw InvalidInput("tensor '" + std::string(name) + "' has the shape " + ShownShape(tensor.shape) + "; " +
                       ShownShape(shape) + " is wanted here");
  }
  return tensor;
}

Weights ParseWeights(std::string_view bytes, std::string_view name) {
  try {
    return Parse(bytes);
  } catch (const InvalidInput& error) {
    throw error.InFile(std::string(name));
  }
}

Weights ReadWeights(const std::string& path) { return ParseWeights(ReadWholeFile(path, kMostFileBytes), path); }

std::string WeightsBytes(const Weights& weights) {
  std::string header = "{";
  if (!weights.metadata.empty()) {
    AppendJsonText(header, kMetadata);
    header += ":{";
    bool first = true;
    for (const auto& [name, value] : weights.metadata) {
      if (!std::exchange(first, false)) header += ',';
      AppendJsonText(header, name);
      header += ':';
      AppendJsonText(header, value);
    }
    header += '}';
  }
  std::size_t end = 0;
  for (const auto& [name, tensor] : weights.tensors) {
    if (CountOf(tensor.shape) != tensor.values.size())
      throw WorkFailed("tensor '" + name + "' has not as many values as its shape says; no weights are written");
    if (!AllFinite(tensor.values))
      throw WorkFailed("tensor '" + name + "' holds values that are not finite; no weights are written");
    if (header.size() > 1) header += ',';
    AppendJsonText(header, name);
    header += R"(:{"dtype":"F32","shape":[)";
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      if (i > 0) header += ',';
      header += std::to_string(tensor.shape[i]);
    }
    header += R"(],"data_offsets":[)" + std::to_string(end) + ",";
    end += tensor.values.size() * sizeof(float);
    header += std::to_string(end) + "]}";
  }
  header += '}';
  // The format wants the data aligned, and allows spaces after the header for it.
  header.resize((header.size() + 7) / 8 * 8, ' ');

  const std::uint64_t header_bytes = header.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &header_bytes, kLengthBytes);
  bytes.reserve(kLengthBytes + header.size() + end);
  bytes += header;
  for (const auto& [name, tensor] : weights.tensors) {
    const std::span<const std::byte> values = std::as_bytes(std::span(tensor.values));
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size());
  }
  return bytes;
}

void WriteWeights(const std::string& path, const Weights& weights) { WriteFileAtomically(path, WeightsBytes(weights)); }

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// JSON as plain data, and reading it member by member with complaints that say where: "tensors[3].consumers[1]: ...".
// The room's JSON formats are read through this; the grammar itself is nlohmann json's.
namespace millrace {

struct JsonMember;

struct JsonValue {
  using List = std::vector<JsonValue>;
  using Object = std::vector<JsonMember>;  // in the file's order

  // Null, a boolean, a number (whole ones by sign, so that 64-bit seeds survive), a string, a list, an object.
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, List, Object> value;
};

struct JsonMember {
  std::string name;
  JsonValue value;
};

// A value and where it stands. Every method that reads throws InvalidInput naming that place when it finds something
// else. Refers to the value and to the parent: both must outlive it.
class JsonPlace {
 public:
  explicit JsonPlace(const JsonValue& root) : value_(&root) {}
  // An element of a list that is a member of the root, read while the root is still being parsed.
  JsonPlace(std::string_view list, std::size_t index, const JsonValue& element)
      : value_(&element), member_(list), index_(index) {}

  JsonPlace Member(std::string_view name) const;                   // it must be there, and not null
  std::optional<JsonPlace> Optional(std::string_view name) const;  // nothing where it is absent or null
  std::size_t Size() const;                                        // of a list
  JsonPlace Element(std::size_t index) const;                      // of a list

  const std::string& Text() const;
  bool Boolean() const;
  double Number() const;  // finite
  double Cost() const;    // finite and >= 0, as all costs, sizes and times are
  double Time() const;    // kLeastTime to kMostTime, as all times that were measured are
  double Rate() const;    // finite and > 0, as all rates and bandwidths are
  std::int32_t Integer() const;
  std::uint64_t Unsigned() const;
  std::vector<std::int32_t> Integers() const;  // of a list
  const JsonValue::Object& Object() const;
  bool IsNumber() const;
  bool IsObject() const;

  [[noreturn]] void Refuse(const std::string& complaint) const;
  std::string Path() const;

 private:
  JsonPlace(const JsonPlace* parent, const JsonValue& value, std::string_view member, std::optional<std::size_t> index)
      : parent_(parent), value_(&value), member_(member), index_(index) {}
  const JsonMember* Find(std::string_view name) const;

  const JsonPlace* parent_ = nullptr;
  const JsonValue* value_;
  std::string_view member_;
  std::optional<std::size_t> index_;
};

// Lists under the root that may be long: their elements are handed over one at a time and not kept.
struct JsonStream {
  std::vector<std::string_view> members;
  std::function<void(const JsonPlace& element, std::string_view member)> take;
};

// The whole text as one object. Throws InvalidInput: not JSON, not UTF-8, nested deeper than anything of ours, numbers
// beyond a double, something after the end, no object at the root.
JsonValue ParseJson(std::string_view text, const JsonStream& stream = {});

// Refuses a root whose "format" and "version" are not these.
void CheckFormat(const JsonPlace& root, std::string_view format);

// What a JSON file of ours, or of a workload collection, holds: told from its first telling members.
enum class JsonKind { kGraph, kMachine, kPlan, kDnnPartitioning, kUnknown };
JsonKind KindOfJson(std::string_view text);

}  // namespace millrace

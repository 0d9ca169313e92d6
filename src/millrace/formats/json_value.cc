// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/json_value.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/formats/text_lines.h"

namespace millrace {
namespace {

// Nothing of ours nests deeper than a plan's machine's devices' units.
constexpr std::size_t kDeepest = 64;
constexpr std::size_t kLongestComplaint = 300;

// The grammar's complaint as one readable line, without its own tag.
std::string Readable(std::string complaint) {
  const std::size_t tag_end = complaint.find("] ");
  if (complaint.starts_with("[json.exception") && tag_end != std::string::npos) complaint.erase(0, tag_end + 2);
  return Shown(complaint, kLongestComplaint);
}

// Builds JsonValue out of the grammar's events, keeping the depth in bounds and handing streamed elements over.
class Builder {
 public:
  explicit Builder(const JsonStream& stream) : stream_(stream) {}

  JsonValue TakeRoot() { return std::move(root_); }

  bool null() { return Put(JsonValue{}); }
  bool boolean(bool value) { return Put(JsonValue{value}); }
  bool number_integer(std::int64_t value) { return Put(JsonValue{value}); }
  bool number_unsigned(std::uint64_t value) { return Put(JsonValue{value}); }
  bool number_float(double value, const std::string&) { return Put(JsonValue{value}); }
  bool string(std::string& value) { return Put(JsonValue{std::move(value)}); }
  bool binary(nlohmann::json::binary_t&) { return false; }

  bool start_object(std::size_t) { return Open(JsonValue{JsonValue::Object()}); }
  bool start_array(std::size_t) { return Open(JsonValue{JsonValue::List()}); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }

  bool key(std::string& name) {
    if (open_.size() == 1) {
      streaming_ = std::find(stream_.members.begin(), stream_.members.end(), name) != stream_.members.end();
      streamed_ = 0;
      const JsonValue::Object& members = std::get<JsonValue::Object>(root_.value);
      if (streaming_ &&
          std::any_of(members.begin(), members.end(), [&name](const JsonMember& m) { return m.name == name; })) {
        throw InvalidInput(name + ": is given twice");
      }
    }
    std::get<JsonValue::Object>(open_.back().value->value).push_back({std::move(name), {}});
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) {
    const std::string path = Path();
    throw InvalidInput((path.empty() ? "" : path + ": ") + "not JSON: " + Readable(error.what()));
  }

 private:
  struct Level {
    JsonValue* value;
    std::size_t elements;  // so far, where it is a list
  };

  // Where the next value goes; containers above it are not moved while it is filled.
  JsonValue& Next() {
    if (open_.empty()) return root_;
    Level& level = open_.back();
    if (auto* object = std::get_if<JsonValue::Object>(&level.value->value)) return object->back().value;
    ++level.elements;
    return std::get<JsonValue::List>(level.value->value).emplace_back();
  }

  bool Put(JsonValue value) {
    if (open_.empty()) throw InvalidInput("the file holds no JSON object");
    Next() = std::move(value);
    HandOver();
    return true;
  }

  bool Open(JsonValue value) {
    if (open_.size() >= kDeepest) throw InvalidInput(Path() + ": is nested too deeply");
    if (open_.empty() && !std::holds_alternative<JsonValue::Object>(value.value))
      throw InvalidInput("the file holds no JSON object");
    JsonValue& place = Next();
    place = std::move(value);
    open_.push_back({&place, 0});
    return true;
  }

  bool Close() {
    open_.pop_back();
    HandOver();
    return true;
  }

  // Called when a value is complete: one that is an element of a streamed list leaves.
  void HandOver() {
    if (open_.size() != 2 || !streaming_) return;
    auto* list = std::get_if<JsonValue::List>(&open_[1].value->value);
    if (list == nullptr || list->empty()) return;
    const std::string& member = std::get<JsonValue::Object>(root_.value).back().name;
    stream_.take(JsonPlace(member, streamed_++, list->back()), member);
    list->clear();
  }

  std::string Path() const {
    std::string path;
    for (const Level& level : open_) {
      if (const auto* object = std::get_if<JsonValue::Object>(&level.value->value)) {
        if (object->empty()) break;
        path += (path.empty() ? "" : ".") + object->back().name;
      } else {
        // The innermost list has yet to get the element that is at fault.
        const bool innermost = &level == &open_.back();
        path += "[" + std::to_string(innermost ? level.elements : level.elements - 1) + "]";
      }
    }
    return Shown(path, kLongestComplaint);
  }

  const JsonStream& stream_;
  JsonValue root_;
  std::vector<Level> open_;
  bool streaming_ = false;
  std::size_t streamed_ = 0;
};

// Watches only the members of the root, and stops at the first that tells what the file is.
class Sniffer {
 public:
  JsonKind kind() const { return kind_; }

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(std::int64_t) { return true; }
  bool number_unsigned(std::uint64_t) { return true; }
  bool number_float(double, const std::string&) { return true; }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool start_object(std::size_t) { return ++depth_ < kDeepest; }
  bool start_array(std::size_t) { return ++depth_ < kDeepest; }
  bool end_object() { return --depth_ > 0; }
  bool end_array() { return --depth_ > 0; }

  bool string(std::string& value) {
    if (depth_ != 1 || !at_format_) return true;
    kind_ = value == "millrace.graph"     ? JsonKind::kGraph
            : value == "millrace.machine" ? JsonKind::kMachine
            : value == "millrace.plan"    ? JsonKind::kPlan
                                          : JsonKind::kUnknown;
    return false;
  }

  bool key(std::string& name) {
    if (depth_ != 1) return true;
    at_format_ = name == "format";
    kind_ = name == "ops" || name == "tensors"                              ? JsonKind::kGraph
            : name == "devices" || name == "links"                          ? JsonKind::kMachine
            : name == "groups" || name == "placement" || name == "sequence" ? JsonKind::kPlan
            : name == "nodes" || name == "edges"                            ? JsonKind::kDnnPartitioning
                                                                            : JsonKind::kUnknown;
    return kind_ == JsonKind::kUnknown;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) { return false; }

 private:
  std::size_t depth_ = 0;
  bool at_format_ = false;
  JsonKind kind_ = JsonKind::kUnknown;
};

const char* NameOfKind(const JsonValue& value) {
  constexpr const char* kNames[] = {"null",     "a boolean", "a number", "a number",
                                    "a number", "a string",  "a list",   "an object"};
  return kNames[value.value.index()];
}

}  // namespace

JsonValue ParseJson(std::string_view text, const JsonStream& stream) {
  Builder builder(stream);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.TakeRoot();
}

JsonKind KindOfJson(std::string_view text) {
  Sniffer sniffer;
  nlohmann::json::sax_parse(text.begin(), text.end(), &sniffer);
  return sniffer.kind();
}

void CheckFormat(const JsonPlace& root, std::string_view format) {
  const auto found = root.Optional("format");
  if (!found) root.Refuse("format: is missing; '" + std::string(format) + "' is wanted here");
  const JsonPlace& stated = *found;
  if (stated.Text() != format)
    stated.Refuse("is '" + Shown(stated.Text()) + "'; '" + std::string(format) + "' is wanted here");
  const JsonPlace version = root.Member("version");
  if (version.Unsigned() != 1) {
    version.Refuse("is " + std::to_string(version.Unsigned()) + "; version 1 of " + std::string(format) +
                   " is the one this program reads");
  }
}

std::string JsonPlace::Path() const {
  std::string path = parent_ == nullptr ? "" : parent_->Path();
  if (!member_.empty()) path += (path.empty() ? "" : ".") + std::string(member_);
  if (index_) path += "[" + std::to_string(*index_) + "]";
  return path;
}

void JsonPlace::Refuse(const std::string& complaint) const {
  const std::string path = Shown(Path(), kLongestComplaint);
  throw InvalidInput(path.empty() ? complaint : path + ": " + complaint);
}

const JsonMember* JsonPlace::Find(std::string_view name) const {
  const JsonMember* found = nullptr;
  for (const JsonMember& member : Object()) {
    if (member.name != name) continue;
    if (found != nullptr) JsonPlace(this, member.value, found->name, std::nullopt).Refuse("is given twice");
    found = &member;
  }
  return found;
}

JsonPlace JsonPlace::Member(std::string_view name) const {
  const JsonMember* found = Find(name);
  if (found == nullptr || std::holds_alternative<std::monostate>(found->value.value)) {
    const JsonValue nothing;
    JsonPlace(this, nothing, name, std::nullopt).Refuse("is missing");
  }
  return JsonPlace(this, found->value, found->name, std::nullopt);
}

std::optional<JsonPlace> JsonPlace::Optional(std::string_view name) const {
  const JsonMember* found = Find(name);
  if (found == nullptr || std::holds_alternative<std::monostate>(found->value.value)) return std::nullopt;
  return JsonPlace(this, found->value, found->name, std::nullopt);
}

std::size_t JsonPlace::Size() const {
  const auto* list = std::get_if<JsonValue::List>(&value_->value);
  if (list == nullptr) Refuse(std::string("must be a list, not ") + NameOfKind(*value_));
  return list->size();
}

JsonPlace JsonPlace::Element(std::size_t index) const {
  return JsonPlace(this, std::get<JsonValue::List>(value_->value)[index], {}, index);
}

const std::string& JsonPlace::Text() const {
  const auto* text = std::get_if<std::string>(&value_->value);
  if (text == nullptr) Refuse(std::string("must be a string, not ") + NameOfKind(*value_));
  return *text;
}

bool JsonPlace::Boolean() const {
  const bool* boolean = std::get_if<bool>(&value_->value);
  if (boolean == nullptr) Refuse(std::string("must be true or false, not ") + NameOfKind(*value_));
  return *boolean;
}

bool JsonPlace::IsNumber() const {
  return std::holds_alternative<double>(value_->value) || std::holds_alternative<std::int64_t>(value_->value) ||
         std::holds_alternative<std::uint64_t>(value_->value);
}

bool JsonPlace::IsObject() const { return std::holds_alternative<JsonValue::Object>(value_->value); }

double JsonPlace::Number() const {
  if (const auto* whole = std::get_if<std::uint64_t>(&value_->value)) return static_cast<double>(*whole);
  if (const auto* negative = std::get_if<std::int64_t>(&value_->value)) return static_cast<double>(*negative);
  const double* number = std::get_if<double>(&value_->value);
  if (number == nullptr) Refuse(std::string("must be a number, not ") + NameOfKind(*value_));
  if (!std::isfinite(*number)) Refuse("must be a finite number");
  return *number;
}

double JsonPlace::Cost() const {
  const double cost = Number();
  if (cost < 0) Refuse("is negative; it must be >= 0");
  return cost;
}

double JsonPlace::Time() const {
  const double time = Number();
  if (!(time >= kLeastTime && time <= kMostTime))
    Refuse(
        fmt::format("{:g} s is no time that a run takes; it must be from {:g} to {:g} s", time, kLeastTime, kMostTime));
  return time;
}

double JsonPlace::Rate() const {
  const double rate = Number();
  if (rate <= 0) Refuse("must be > 0");
  return rate;
}

std::int32_t JsonPlace::Integer() const {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (const auto* whole = std::get_if<std::uint64_t>(&value_->value)) {
    if (*whole <= static_cast<std::uint64_t>(kMost)) return static_cast<std::int32_t>(*whole);
    Refuse("is too large for a whole number here");
  }
  if (const auto* negative = std::get_if<std::int64_t>(&value_->value)) {
    if (*negative >= kLeast && *negative <= kMost) return static_cast<std::int32_t>(*negative);
    Refuse("is too large for a whole number here");
  }
  Refuse(std::string("must be a whole number") + (IsNumber() ? "" : std::string(", not ") + NameOfKind(*value_)));
}

std::uint64_t JsonPlace::Unsigned() const {
  if (const auto* whole = std::get_if<std::uint64_t>(&value_->value)) return *whole;
  Refuse("must be a whole number, 0..18446744073709551615");
}

std::vector<std::int32_t> JsonPlace::Integers() const {
  std::vector<std::int32_t> numbers(Size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = Element(i).Integer();
  return numbers;
}

const JsonValue::Object& JsonPlace::Object() const {
  const auto* object = std::get_if<JsonValue::Object>(&value_->value);
  if (object == nullptr) Refuse(std::string("must be an object, not ") + NameOfKind(*value_));
  return *object;
}

}  // namespace millrace

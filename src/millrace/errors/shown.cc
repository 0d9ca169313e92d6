// SPDX-License-Identifier: Apache-2.0
#include "millrace/errors/shown.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace millrace {
namespace {

constexpr char kHex[] = "0123456789abcdef";

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: what stands here is no UTF-8
};

// The first character of a text that is not empty.
Character FirstOf(std::string_view text) {
  const auto byte = [&text](std::size_t at) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at]));
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0xffU >> (bytes + 1));
  for (std::size_t at = 1; at < bytes; ++at) {
    if ((byte(at) & 0xc0U) != 0x80) return {};
    code = code << 6 | (byte(at) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLeast[bytes] || code > 0x10ffff || surrogate) return {};
  return {code, bytes};
}

bool IsControl(std::uint32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

// Ends of lines and paragraphs, and marks and overrides of direction.
bool Misleads(std::uint32_t code) {
  return code == 0x2028 || code == 0x2029 || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

void AppendHex(std::string& out, const char* kind, std::uint32_t number, int digits) {
  out += kind;
  for (int digit = digits - 1; digit >= 0; --digit) out += kHex[number >> (4 * digit) & 0xfU];
}

void AppendEscaped(std::string& out, std::uint32_t code) {
  switch (code) {
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      code < 0x80 ? AppendHex(out, "\\x", code, 2) : AppendHex(out, "\\u", code, 4);
  }
}

}  // namespace

std::string Escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character first = FirstOf(text);
    if (first.bytes == 0) {
      AppendHex(out, "\\x", static_cast<unsigned char>(text.front()), 2);
      text.remove_prefix(1);
      continue;
    }
    if (IsControl(first.code) || Misleads(first.code)) {
      AppendEscaped(out, first.code);
    } else {
      out += text.substr(0, first.bytes);
    }
    text.remove_prefix(first.bytes);
  }
  return out;
}

std::string Shown(std::string_view text, std::size_t most) {
  if (text.size() <= most) return Escaped(text);
  std::size_t end = most;
  // Not in the middle of a character.
  while (end > 0 && most - end < 3 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80) --end;
  return Escaped(text.substr(0, end)) + "...";
}

std::string TerminalSafeJson(std::string json) {
  const auto suspect = [](char c) { return c == '\x7f' || c == '\xc2' || c == '\xe2'; };
  if (std::none_of(json.begin(), json.end(), suspect)) return json;
  std::string out;
  out.reserve(json.size());
  std::string_view rest = json;
  while (!rest.empty()) {
    const Character first = FirstOf(rest);
    const std::size_t bytes = std::max<std::size_t>(first.bytes, 1);
    if (first.code >= 0x7f && (IsControl(first.code) || Misleads(first.code))) {
      AppendHex(out, "\\u", first.code, 4);
    } else {
      out += rest.substr(0, bytes);
    }
    rest.remove_prefix(bytes);
  }
  return out;
}

}  // namespace millrace

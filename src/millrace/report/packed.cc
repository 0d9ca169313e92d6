// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/packed.h"

#include <zlib.h>

#include <cstdint>
#include <new>

namespace millrace {
namespace {

std::string Deflated(std::string_view text) {
  uLongf size = ::compressBound(static_cast<uLong>(text.size()));
  std::string packed(size, '\0');
  const int status =
      ::compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
                  static_cast<uLong>(text.size()), Z_DEFAULT_COMPRESSION);
  if (status != Z_OK) throw std::bad_alloc();
  packed.resize(size);
  return packed;
}

std::string Base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t three = 0;
    for (std::size_t i = 0; i < 3; ++i)
      three = three << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += at + i > bytes.size() ? '=' : kDigits[three >> (6 * (3 - i)) & 0x3fU];
  }
  return text;
}

}  // namespace

std::string Packed(std::string_view text) { return Base64(Deflated(text)); }

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/mpi/letter.h"

#include <array>
#include <cstring>

#include "millrace/errors/errors.h"

namespace millrace::mpi {
namespace {

constexpr int kSizeTag = 1;
constexpr int kContentTag = 2;

}  // namespace

void Letter::PutText(std::string_view text) {
  Put(static_cast<std::uint64_t>(text.size()));
  PutBytes(text.data(), text.size());
}

std::string Letter::TakeText() {
  std::string text(TakeCount(1), '\0');
  TakeBytes(text.data(), text.size());
  return text;
}

std::size_t Letter::TakeCount(std::size_t least_bytes) {
  const auto count = Take<std::uint64_t>();
  if (count > (content_.size() - taken_) / least_bytes) throw WorkFailed("a rank sent less than it announced");
  return static_cast<std::size_t>(count);
}

void Letter::PutBytes(const void* bytes, std::size_t size) {
  const auto* const begin = static_cast<const std::byte*>(bytes);
  content_.insert(content_.end(), begin, begin + size);
}

void Letter::TakeBytes(void* bytes, std::size_t size) {
  if (size > content_.size() - taken_) throw WorkFailed("a rank sent less than it announced");
  if (size > 0) std::memcpy(bytes, content_.data() + taken_, size);
  taken_ += size;
}

void SendLetter(Postman& postman, int to, const Letter& letter) {
  const std::uint64_t size = letter.content().size();
  Delivery announced, sent;
  postman.Send(to, kSizeTag, std::as_bytes(std::span(&size, 1)), &announced);
  postman.Send(to, kContentTag, letter.content(), &sent);
  // Both are over before either is gone, also where one is lost.
  const bool first = postman.TryAwait(announced);
  postman.Await(sent);
  if (!first) postman.Await(announced);
}

Letter ReceiveLetter(Postman& postman, int from) {
  std::uint64_t size = 0;
  Delivery announced, received;
  postman.Receive(from, kSizeTag, std::as_writable_bytes(std::span(&size, 1)), &announced);
  postman.Await(announced);
  std::vector<std::byte> content(static_cast<std::size_t>(size));
  postman.Receive(from, kContentTag, content, &received);
  postman.Await(received);
  return Letter(std::move(content));
}

}  // namespace millrace::mpi

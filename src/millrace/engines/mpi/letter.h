// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "millrace/engines/mpi/postman.h"

// What ranks tell each other besides tensors: commands and answers, as numbers and texts in a row. Ranks are of one
// build, so their numbers look alike.
namespace millrace::mpi {

class Letter {
 public:
  Letter() = default;
  explicit Letter(std::vector<std::byte> content) : content_(std::move(content)) {}

  template <typename Number>
  requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
  void Put(Number number) { PutBytes(&number, sizeof number); }
  void PutText(std::string_view text);
  template <typename Number>
  void PutAll(const std::vector<Number>& numbers) {
    Put(static_cast<std::uint64_t>(numbers.size()));
    PutBytes(numbers.data(), numbers.size() * sizeof(Number));
  }

  // The next one. Throws WorkFailed where the letter ends before it.
  template <typename Number>
  requires std::is_arithmetic_v<Number> || std::is_enum_v<Number> Number Take() {
    Number number{};
    TakeBytes(&number, sizeof number);
    return number;
  }
  std::string TakeText();
  template <typename Number>
  std::vector<Number> TakeAll() {
    std::vector<Number> numbers(TakeCount(sizeof(Number)));
    TakeBytes(numbers.data(), numbers.size() * sizeof(Number));
    return numbers;
  }
  // How many things follow that take at least so many bytes each: never more than the letter can hold.
  std::size_t TakeCount(std::size_t least_bytes);

  const std::vector<std::byte>& content() const { return content_; }

 private:
  void PutBytes(const void* bytes, std::size_t size);
  void TakeBytes(void* bytes, std::size_t size);

  std::vector<std::byte> content_;
  std::size_t taken_ = 0;
};

// Both wait until it is done. Throw as Postman::Await does.
void SendLetter(Postman& postman, int to, const Letter& letter);
Letter ReceiveLetter(Postman& postman, int from);

}  // namespace millrace::mpi

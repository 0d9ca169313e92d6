// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/mpi/exchange.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "millrace/runtime/aligned_memory.h"

namespace millrace::mpi {
namespace {

constexpr int kThereTag = 16;
constexpr int kBackTag = 17;

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Messages are expected while this lives.
class Expecting {
 public:
  explicit Expecting(Postman& postman) : postman_(postman) { postman_.ExpectMessages(true); }
  ~Expecting() { postman_.ExpectMessages(false); }
  Expecting(const Expecting&) = delete;
  Expecting& operator=(const Expecting&) = delete;

 private:
  Postman& postman_;
};

}  // namespace

double TimeExchange(Postman& postman, const ExchangeOrder& order) {
  const Expecting expecting(postman);
  const std::size_t size = static_cast<std::size_t>(order.bytes);
  const std::shared_ptr<std::byte> sent = AllocateAligned(size);
  std::vector<std::shared_ptr<std::byte>> received;
  for (std::size_t i = 0; i < order.from.size(); ++i) received.push_back(AllocateAligned(size));
  std::byte byte{};
  std::vector<std::byte> answers(order.to.size());
  std::vector<double> times;
  // The first repetition finds out that all are there.
  for (int repetition = 0; repetition <= order.repetitions; ++repetition) {
    std::vector<Delivery> out(order.to.size()), back(order.to.size()), in(order.from.size()),
        answered(order.from.size());
    const double start = Now();
    for (std::size_t i = 0; i < in.size(); ++i)
      postman.Receive(order.from[i], kThereTag, {received[i].get(), size}, &in[i]);
    for (std::size_t i = 0; i < out.size(); ++i) {
      postman.Receive(order.to[i], kBackTag, {&answers[i], 1}, &back[i]);
      postman.Send(order.to[i], kThereTag, {sent.get(), size}, &out[i]);
    }
    for (std::size_t i = 0; i < in.size(); ++i) {
      postman.TryAwait(in[i]);
      postman.Send(order.from[i], kBackTag, {&byte, 1}, &answered[i]);
    }
    for (Delivery& delivery : back) postman.TryAwait(delivery);
    const double seconds = Now() - start;
    for (Delivery& delivery : out) postman.TryAwait(delivery);
    for (Delivery& delivery : answered) postman.TryAwait(delivery);
    postman.ThrowIfInTrouble();
    if (repetition > 0) times.push_back(seconds);
  }
  if (times.empty() || order.to.empty()) return 0;
  return *std::min_element(times.begin(), times.end());
}

}  // namespace millrace::mpi

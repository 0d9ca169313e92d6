// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/mpi/postman.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "millrace/engines/mpi/letter.h"
#include "millrace/errors/errors.h"
#include "millrace/ranks/local_ranks.h"

namespace millrace::mpi {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const PostmanOptions kImpatient{0.02, 0.3};

TEST(Postman, DeliversWhileItsOwnersDoOtherThings) {
  std::vector<std::unique_ptr<Ranks>> ranks = MakeLocalRanks(2);
  Postman first(std::move(ranks[0])), second(std::move(ranks[1]));
  std::vector<int> numbers(1000), heard(1000);
  for (int i = 0; i < 1000; ++i) numbers[static_cast<std::size_t>(i)] = i * i;
  std::vector<Delivery> sent(1000), received(1000);
  for (std::size_t i = 0; i < 1000; ++i) {
    second.Receive(0, kFirstTag, std::as_writable_bytes(std::span(&heard[i], 1)), &received[i]);
    first.Send(1, kFirstTag, std::as_bytes(std::span(&numbers[i], 1)), &sent[i]);
  }
  for (Delivery& delivery : received) second.Await(delivery);
  for (Delivery& delivery : sent) first.Await(delivery);
  EXPECT_EQ(heard, numbers);  // one tag: in the order they were sent
}

TEST(Postman, TakesOrdersOfSeveralThreadsAtOnce) {
  std::vector<std::unique_ptr<Ranks>> ranks = MakeLocalRanks(2);
  Postman first(std::move(ranks[0])), second(std::move(ranks[1]));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&first, &second, tag = kFirstTag + thread] {
      for (int i = 0; i < 200; ++i) {
        int heard = -1;
        Delivery sent, received;
        second.Receive(0, tag, std::as_writable_bytes(std::span(&heard, 1)), &received);
        first.Send(1, tag, std::as_bytes(std::span(&i, 1)), &sent);
        second.Await(received);
        first.Await(sent);
        EXPECT_EQ(heard, i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Postman, CallsARankDeadThatGivesNoSignOfLife) {
  std::vector<std::unique_ptr<Ranks>> ranks = MakeLocalRanks(3);
  Postman first(std::move(ranks[0]), kImpatient), second(std::move(ranks[1]), kImpatient);
  ranks[2].reset();
  std::byte byte{};
  Delivery received, other;
  first.Receive(1, kFirstTag, {&byte, 1}, &received);
  EXPECT_THAT([&] { first.Await(received); }, ThrowsMessage<WorkFailed>(HasSubstr("rank 2 has given no sign of life")));
  // From then on everything is lost at once.
  first.Receive(1, kFirstTag, {&byte, 1}, &other);
  EXPECT_FALSE(first.TryAwait(other));
  EXPECT_TRUE(first.InTrouble());
}

TEST(Postman, OfAnyRankNoticesThatRankZeroIsGone) {
  std::vector<std::unique_ptr<Ranks>> ranks = MakeLocalRanks(2);
  Postman second(std::move(ranks[1]), kImpatient);
  ranks[0].reset();
  EXPECT_THAT([&] { ReceiveLetter(second, 0); }, ThrowsMessage<WorkFailed>(HasSubstr("rank 0 has given no sign")));
}

TEST(Postman, KeepsRanksTogetherThatOnlyWait) {
  std::vector<std::unique_ptr<Ranks>> ranks = MakeLocalRanks(2);
  Postman first(std::move(ranks[0]), {0.02, 1}), second(std::move(ranks[1]), {0.02, 1});
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_EQ(first.trouble(), "");
  EXPECT_EQ(second.trouble(), "");
}

TEST(Postman, MayGoWhileTheOtherGivesSignsOfLife) {
  for (int i = 0; i < 500; ++i) {
    std::vector<std::unique_ptr<Ranks>> ranks = MakeLocalRanks(2);
    const Postman first(std::move(ranks[0]), {0, 1}), second(std::move(ranks[1]), {0, 1});
    if (i % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(i));
    EXPECT_EQ(second.trouble(), "");
  }
}

TEST(Letter, KeepsNumbersAndTexts) {
  Letter letter;
  letter.Put(3);
  letter.PutText("a text");
  letter.PutAll(std::vector<double>{1.5, -2});
  letter.Put(true);
  Letter read(letter.content());
  EXPECT_EQ(read.Take<int>(), 3);
  EXPECT_EQ(read.TakeText(), "a text");
  EXPECT_EQ(read.TakeAll<double>(), (std::vector<double>{1.5, -2}));
  EXPECT_TRUE(read.Take<bool>());
  EXPECT_THROW(read.Take<char>(), WorkFailed);
}

TEST(Letter, DoesNotBelieveACountBeyondItsEnd) {
  Letter letter;
  letter.Put(std::uint64_t{1} << 60);
  EXPECT_THROW(Letter(letter.content()).TakeAll<int>(), WorkFailed);
  EXPECT_THROW(Letter(letter.content()).TakeText(), WorkFailed);
}

}  // namespace
}  // namespace millrace::mpi

// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/mpi/follower.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "millrace/engines/mpi/commands.h"
#include "millrace/engines/mpi/exchange.h"
#include "millrace/engines/mpi/rank_work.h"
#include "millrace/errors/errors.h"
#include "millrace/runtime/aligned_memory.h"

namespace millrace::mpi {
namespace {

class Follower {
 public:
  Follower(Postman& postman, const RankSkills& skills, std::vector<int> cpus)
      : postman_(postman), skills_(skills), cpus_(cpus), work_(postman, skills.model, std::move(cpus)) {}

  void Serve() {
    while (true) {
      Letter letter = ReceiveLetter(postman_, 0);
      switch (letter.Take<Command>()) {
        case Command::kStop:
          return;
        case Command::kLoad:
          Load(letter);
          break;
        case Command::kUnload:
          work_.Unload(letter.Take<int>());
          break;
        case Command::kWrite:
          Write(letter);
          break;
        case Command::kRun:
          Run(letter);
          break;
        case Command::kRead:
          Read(letter);
          break;
        case Command::kExchange:
          Exchange(letter);
          break;
        case Command::kTime:
          Time(letter);
          break;
      }
    }
  }

 private:
  // Does what may fail for reasons of its own, and answers how it went; `put` adds to the answer. Trouble with other
  // ranks is no answer but the end.
  template <typename Work>
  void Answer(const Work& work) {
    Letter answer;
    try {
      Letter more = AnswerOf(Ending::kDone);
      work(more);
      answer = std::move(more);
    } catch (const InvalidInput& error) {
      answer = AnswerOf(Ending::kInvalid, error.what());
    } catch (const std::exception& error) {
      postman_.ThrowIfInTrouble();
      answer = AnswerOf(Ending::kFailed, error.what());
    }
    SendLetter(postman_, 0, answer);
  }

  void Load(Letter& letter) {
    const int number = letter.Take<int>();
    const auto kind = letter.Take<PartKind>();
    const PartPlan plan = TakePart(letter);
    Answer([&](Letter&) { work_.Load(number, plan, kind); });
  }

  void Write(Letter& letter) {
    const int number = letter.Take<int>();
    const int value = letter.Take<int>();
    const auto bytes = static_cast<std::size_t>(letter.Take<std::uint64_t>());
    const std::shared_ptr<std::byte> content = AllocateAligned(bytes);
    Delivery received;
    postman_.Receive(0, kDataTag, {content.get(), bytes}, &received);
    postman_.Await(received);
    const std::span<std::byte> input = work_.Input(number, value);
    if (input.size() == bytes) std::copy_n(content.get(), bytes, input.data());
  }

  void Run(Letter& letter) {
    const int number = letter.Take<int>();
    std::byte byte{};
    Delivery go;
    postman_.Receive(0, kGoTag, {&byte, 1}, &go);
    work_.Prepare(number);
    postman_.ExpectMessages(true);
    SendLetter(postman_, 0, AnswerOf(Ending::kDone));
    postman_.Await(go);
    Answer([&](Letter& answer) { answer.Put(work_.Run(number)); });
    postman_.ExpectMessages(false);
  }

  void Read(Letter& letter) {
    const int number = letter.Take<int>();
    const std::span<const std::byte> output = work_.Output(number, letter.Take<int>());
    Letter answer = AnswerOf(Ending::kDone);
    answer.Put(static_cast<std::uint64_t>(output.size()));
    SendLetter(postman_, 0, answer);
    if (output.empty()) return;
    Delivery sent;
    postman_.Send(0, kDataTag, output, &sent);
    postman_.Await(sent);
  }

  void Exchange(Letter& letter) {
    ExchangeOrder order;
    order.to = letter.TakeAll<int>();
    order.from = letter.TakeAll<int>();
    order.bytes = letter.Take<std::uint64_t>();
    order.repetitions = letter.Take<int>();
    Answer([&](Letter& answer) { answer.Put(TimeExchange(postman_, order)); });
  }

  void Time(Letter& letter) {
    const std::vector<int> ops = letter.TakeAll<int>();
    const std::vector<int> processors = letter.TakeAll<int>();
    Answer([&](Letter& answer) {
      std::vector<int> cpus;
      for (const int processor : processors) cpus.push_back(cpus_.at(static_cast<std::size_t>(processor)));
      const TimedGroup timed = skills_.time_group(ops, cpus);
      answer.Put(timed.seconds);
      answer.Put(timed.disturbed);
    });
  }

  Postman& postman_;
  const RankSkills& skills_;
  const std::vector<int> cpus_;
  RankWork work_;
};

}  // namespace

void FollowRankZero(Postman& postman, const RankFacts& own, const RankSkills& skills) {
  std::optional<std::vector<int>> cpus = Report(postman, own);
  if (cpus) Follower(postman, skills, *std::move(cpus)).Serve();
}

}  // namespace millrace::mpi

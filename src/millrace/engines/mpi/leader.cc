// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/mpi/leader.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <map>
#include <string>
#include <utility>

#include "millrace/engines/mpi/commands.h"
#include "millrace/errors/errors.h"

namespace millrace::mpi {
namespace {

Letter CommandLetter(Command command) {
  Letter letter;
  letter.Put(command);
  return letter;
}

Letter CommandLetter(Command command, int number) {
  Letter letter = CommandLetter(command);
  letter.Put(number);
  return letter;
}

}  // namespace

Leader::Leader(std::unique_ptr<Postman> postman) : postman_(std::move(postman)) {}

Leader::~Leader() {
  try {
    if (state_ == State::kJoining) TurnAway(*postman_);
    for (const int rank : state_ == State::kLeading ? Others() : std::vector<int>())
      Tell(rank, CommandLetter(Command::kStop));
  } catch (const std::exception&) {
    // There is trouble, which has been told.
  }
  postman_.reset();
}

std::vector<int> Leader::Others() const {
  std::vector<int> others;
  for (int rank = 1; rank < size(); ++rank) others.push_back(rank);
  return others;
}

void Leader::Tell(int rank, const Letter& letter) { SendLetter(*postman_, rank, letter); }

std::vector<Letter> Leader::HearAll(const std::vector<int>& ranks) {
  std::vector<Letter> answers;
  std::exception_ptr complaint;
  for (const int rank : ranks) {
    answers.push_back(ReceiveLetter(*postman_, rank));
    const auto ending = answers.back().Take<Ending>();
    if (ending == Ending::kDone || complaint) continue;
    const std::string why = fmt::format("rank {} on {}: {}", rank, members_[static_cast<std::size_t>(rank)].facts.host,
                                        answers.back().TakeText());
    complaint = ending == Ending::kInvalid ? std::make_exception_ptr(InvalidInput(why))
                                           : std::make_exception_ptr(WorkFailed(why));
  }
  if (complaint) std::rethrow_exception(complaint);
  return answers;
}

void Leader::Assemble(const RankFacts& own, const RankSkills& skills) {
  skills_ = skills;
  state_ = State::kLeft;  // what is thrown now has been told to the others
  members_ = Gather(*postman_, own);
  state_ = State::kLeading;
  work_ = std::make_unique<RankWork>(*postman_, skills.model, members_.front().cpus);
}

int Leader::Load(const std::vector<PartPlan>& parts, PartKind kind) {
  const int number = next_++;
  for (const int rank : Others()) {
    Letter letter = CommandLetter(Command::kLoad, number);
    letter.Put(kind);
    PutPart(parts[static_cast<std::size_t>(rank)], letter);
    Tell(rank, letter);
  }
  std::exception_ptr own;
  try {
    work_->Load(number, parts.front(), kind);
  } catch (const std::exception&) {
    own = std::current_exception();
  }
  try {
    HearAll(Others());
    if (own) std::rethrow_exception(own);
  } catch (const std::exception&) {
    if (!postman_->InTrouble()) Unload(number);
    throw;
  }
  return number;
}

void Leader::Unload(int number) {
  work_->Unload(number);
  for (const int rank : Others()) Tell(rank, CommandLetter(Command::kUnload, number));
}

void Leader::Write(int number, int value, std::span<const std::byte> content) {
  const std::span<std::byte> own = work_->Input(number, value);
  if (own.size() == content.size()) std::copy(content.begin(), content.end(), own.begin());
  for (const int rank : Others()) {
    Letter letter = CommandLetter(Command::kWrite, number);
    letter.Put(value);
    letter.Put(static_cast<std::uint64_t>(content.size()));
    Tell(rank, letter);
    Delivery sent;
    postman_->Send(rank, kDataTag, content, &sent);
    postman_->Await(sent);
  }
}

double Leader::Run(int number) {
  postman_->ExpectMessages(true);
  for (const int rank : Others()) Tell(rank, CommandLetter(Command::kRun, number));
  work_->Prepare(number);
  HearAll(Others());
  std::vector<Delivery> go(Others().size());
  const std::byte byte{};
  for (std::size_t i = 0; i < go.size(); ++i) postman_->Send(Others()[i], kGoTag, {&byte, 1}, &go[i]);
  double seconds = 0;
  std::exception_ptr own;
  try {
    seconds = work_->Run(number);
  } catch (const std::exception&) {
    own = std::current_exception();
  }
  for (Delivery& sent : go) postman_->TryAwait(sent);
  postman_->ThrowIfInTrouble();
  postman_->ExpectMessages(false);
  for (Letter& answer : HearAll(Others())) seconds = std::max(seconds, answer.Take<double>());
  if (own) std::rethrow_exception(own);
  return seconds;
}

bool Leader::Read(int number, int value, int rank, std::span<std::byte> content) {
  if (rank == 0) {
    const std::span<const std::byte> own = work_->Output(number, value);
    if (own.size() != content.size()) return false;
    std::copy(own.begin(), own.end(), content.begin());
    return true;
  }
  Letter letter = CommandLetter(Command::kRead, number);
  letter.Put(value);
  Tell(rank, letter);
  const auto bytes = static_cast<std::size_t>(HearAll({rank}).front().Take<std::uint64_t>());
  if (bytes == 0) return false;
  if (bytes != content.size()) throw WorkFailed(fmt::format("rank {} has an output of another size", rank));
  Delivery received;
  postman_->Receive(rank, kDataTag, content, &received);
  postman_->Await(received);
  return true;
}

std::vector<double> Leader::Exchange(const std::vector<Stream>& streams, std::uint64_t bytes, int repetitions) {
  std::map<int, ExchangeOrder> orders;  // by rank
  for (const Stream& stream : streams) {
    orders[stream.from].to.push_back(stream.to);
    orders[stream.to].from.push_back(stream.from);
  }
  std::vector<int> told;
  for (auto& [rank, order] : orders) {
    order.bytes = bytes;
    order.repetitions = repetitions;
    if (rank == 0) continue;
    Letter letter = CommandLetter(Command::kExchange);
    letter.PutAll(order.to);
    letter.PutAll(order.from);
    letter.Put(order.bytes);
    letter.Put(order.repetitions);
    Tell(rank, letter);
    told.push_back(rank);
  }
  std::map<int, double> seconds_of;  // by rank
  if (orders.count(0) > 0) seconds_of[0] = TimeExchange(*postman_, orders[0]);
  std::vector<Letter> answers = HearAll(told);
  for (std::size_t i = 0; i < told.size(); ++i) seconds_of[told[i]] = answers[i].Take<double>();
  std::vector<double> seconds;
  for (const Stream& stream : streams) seconds.push_back(seconds_of[stream.from]);
  return seconds;
}

TimedGroup Leader::Time(int rank, std::span<const int> ops, const std::vector<int>& processors) {
  if (rank == 0) {
    std::vector<int> cpus;
    for (const int processor : processors)
      cpus.push_back(members_.front().cpus.at(static_cast<std::size_t>(processor)));
    return skills_.time_group(ops, cpus);
  }
  Letter letter = CommandLetter(Command::kTime);
  letter.PutAll(std::vector<int>(ops.begin(), ops.end()));
  letter.PutAll(processors);
  Tell(rank, letter);
  Letter answer = HearAll({rank}).front();
  const double seconds = answer.Take<double>();
  return {seconds, answer.Take<bool>()};
}

}  // namespace millrace::mpi

// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/mpi/rank_work.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "millrace/errors/errors.h"

namespace millrace::mpi {

// A part with its messages.
struct RankWork::Loaded final : public Border {
  Loaded(Postman& with, PartPlan of)
      : postman(with), plan(std::move(of)), arrivals(plan.arriving.size()), departed(plan.leaving.size(), 0) {
    for (const Parcel& parcel : plan.leaving) departures.emplace_back(parcel.peers.size());
  }

  bool Await(int arrival) noexcept override { return postman.TryAwait(arrivals[static_cast<std::size_t>(arrival)]); }

  void Depart(int departure) noexcept override {
    const std::size_t at = static_cast<std::size_t>(departure);
    const Parcel& parcel = plan.leaving[at];
    departed[at] = 1;
    for (std::size_t peer = 0; peer < parcel.peers.size(); ++peer)
      postman.Send(parcel.peers[peer], parcel.tag, part->Departure(at), &departures[at][peer]);
  }

  Postman& postman;
  const PartPlan plan;
  std::unique_ptr<Part> part;
  std::vector<Delivery> arrivals;
  std::vector<std::vector<Delivery>> departures;  // by parcel that leaves and who reads it
  std::vector<char> departed;                     // by parcel that leaves: in this run
};

RankWork::RankWork(Postman& postman, const Model* model, std::vector<int> cpus)
    : postman_(postman), model_(model), cpus_(std::move(cpus)) {}

RankWork::~RankWork() = default;

void RankWork::Load(int number, const PartPlan& plan, PartKind kind) {
  auto loaded = std::make_unique<Loaded>(postman_, plan);
  if (!plan.groups.empty()) {
    if (kind == PartKind::kEmulated) {
      loaded->part = MakeEmulatedPart(plan);
    } else {
      if (model_ == nullptr) throw InvalidInput("there is no model to execute");
      if (!pool_) pool_.emplace(cpus_);
      const OnFault on_fault = kind == PartKind::kModelChecked ? OnFault::kThrow : OnFault::kIgnore;
      loaded->part = MakeModelPart(plan, *model_, cpus_, *pool_, weights_, on_fault);
    }
  }
  loaded_[number] = std::move(loaded);
}

void RankWork::Unload(int number) { loaded_.erase(number); }

std::span<std::byte> RankWork::Input(int number, int value) {
  const auto at = loaded_.find(number);
  return at == loaded_.end() || at->second->part == nullptr ? std::span<std::byte>() : at->second->part->Input(value);
}

std::span<const std::byte> RankWork::Output(int number, int value) {
  const auto at = loaded_.find(number);
  return at == loaded_.end() || at->second->part == nullptr ? std::span<const std::byte>()
                                                            : at->second->part->Output(value);
}

void RankWork::Prepare(int number) {
  Loaded& loaded = *loaded_.at(number);
  std::fill(loaded.departed.begin(), loaded.departed.end(), 0);
  for (std::size_t i = 0; i < loaded.plan.arriving.size(); ++i) {
    const Parcel& parcel = loaded.plan.arriving[i];
    postman_.Receive(parcel.peers.front(), parcel.tag, loaded.part->Arrival(i), &loaded.arrivals[i]);
  }
}

double RankWork::Run(int number) {
  Loaded& loaded = *loaded_.at(number);
  if (loaded.part == nullptr) return 0;
  double seconds = 0;
  std::exception_ptr fault;
  try {
    seconds = loaded.part->Run(loaded);
  } catch (const InvalidInput&) {
    fault = std::current_exception();  // after the messages: nobody else may be kept waiting
  }
  // All of them are over before anybody is told of one that is lost: they go with what is loaded.
  for (Delivery& arrival : loaded.arrivals) postman_.TryAwait(arrival);
  for (std::size_t i = 0; i < loaded.departures.size(); ++i) {
    if (loaded.departed[i] == 0) continue;
    for (Delivery& departure : loaded.departures[i]) postman_.TryAwait(departure);
  }
  postman_.ThrowIfInTrouble();
  if (fault) std::rethrow_exception(fault);
  return seconds;
}

}  // namespace millrace::mpi

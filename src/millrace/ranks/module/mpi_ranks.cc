// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/ranks/module/join.h"

namespace millrace::mpi {
namespace {

// Longer messages go in pieces that MPI sends at once. Of a message above its limit OpenMPI asks the receiver first,
// and over TCP the answer stands in line behind all that the receiver itself is sending: over slow links, for a second.
// Nothing need be asked here, where whoever receives is ready before anything is sent.
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

// Of one message. All that is sent to a rank stands in one line there, and a sign of life shall not wait behind a
// gigabyte.
constexpr int kMostUnderWay = 16;

// The limit, headers included; OpenMPI reads it when it starts.
constexpr char kLimitVariable[] = "OMPI_MCA_btl_tcp_eager_limit";
constexpr std::size_t kLimitBytes = kPieceBytes + 4096;

// What the kernel takes of a connection before it is on its way. Left to itself it takes megabytes, behind which the
// answers to what comes the other way stand in line, and all that is sent later.
constexpr char kBufferVariable[] = "OMPI_MCA_btl_tcp_sndbuf";
constexpr std::size_t kBufferBytes = std::size_t{1} << 17;

void Check(int result, const char* what) {
  if (result == MPI_SUCCESS) return;
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  throw WorkFailed(fmt::format("MPI: {}: {}", what, text.substr(0, static_cast<std::size_t>(length))));
}

class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    Check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "no rank");
    Check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "no size");
  }
  ~MpiRanks() override {
    if (abandoned_) return;
    // A message nobody will answer would keep MPI from ending.
    for (MPI_Request& request : requests_) {
      MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
    MPI_Finalize();
  }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  MessageId Send(int to, int tag, std::span<const std::byte> bytes) override {
    const MessageId id = next_++;
    unfinished_[id] = PiecesOf(bytes);
    sending_.push_back({id, to, tag, bytes});
    SendOn();
    return id;
  }

  MessageId Receive(int from, int tag, std::span<std::byte> bytes) override {
    const MessageId id = next_++;
    unfinished_[id] = PiecesOf(bytes);
    std::size_t at = 0;
    do {
      const int count = NextPiece(bytes, at);
      Begin({id, true, count}, [&](MPI_Request* request) {
        return MPI_Irecv(bytes.data() + at, count, MPI_BYTE, from, tag, MPI_COMM_WORLD, request);
      });
      at += static_cast<std::size_t>(count);
    } while (at < bytes.size());
    return id;
  }

  void Test(std::span<const MessageId> messages, std::vector<std::size_t>& complete) override {
    Move();
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const auto at = unfinished_.find(messages[i]);
      if (at->second > 0) continue;
      unfinished_.erase(at);
      complete.push_back(i);
    }
  }

  void Abandon() override {
    if (abandoned_) return;
    abandoned_ = true;
    requests_.clear();
    sending_.clear();
  }

 private:
  struct Piece {
    MessageId message = 0;  // that it belongs to
    bool received = false;
    int count = 0;
  };

  // A message of which pieces are still to be sent.
  struct Sending {
    MessageId message = 0;
    int to = 0;
    int tag = 0;
    std::span<const std::byte> bytes;
    std::size_t at = 0;  // what is begun
    int under_way = 0;   // pieces
    bool begun = false;  // all of it
  };

  static int PiecesOf(std::span<const std::byte> bytes) {
    return static_cast<int>(std::max<std::size_t>(1, (bytes.size() + kPieceBytes - 1) / kPieceBytes));
  }
  static int NextPiece(std::span<const std::byte> bytes, std::size_t at) {
    return static_cast<int>(std::min(kPieceBytes, bytes.size() - at));
  }

  template <typename Start>
  void Begin(const Piece& piece, const Start& start) {
    MPI_Request request = MPI_REQUEST_NULL;
    Check(start(&request), "a message cannot be begun");
    requests_.push_back(request);
    pieces_.push_back(piece);  // NOLINT(clang-analyzer-optin.mpi.MPI-Checker): Move waits for it
  }

  // Begins what pieces may be. Those of one receiver and tag go in the order of their messages.
  void SendOn() {
    for (auto sending = sending_.begin(); sending != sending_.end(); ++sending) {
      const auto stands_behind = [&](const Sending& before) {
        return before.to == sending->to && before.tag == sending->tag && !before.begun;
      };
      if (std::any_of(sending_.begin(), sending, stands_behind)) continue;
      while (!sending->begun && sending->under_way < kMostUnderWay) {
        const int count = NextPiece(sending->bytes, sending->at);
        Begin({sending->message, false, count}, [&](MPI_Request* request) {
          return MPI_Isend(sending->bytes.data() + sending->at, count, MPI_BYTE, sending->to, sending->tag,
                           MPI_COMM_WORLD, request);
        });
        sending->at += static_cast<std::size_t>(count);
        ++sending->under_way;
        sending->begun = sending->at == sending->bytes.size();
      }
    }
    std::erase_if(sending_, [](const Sending& sending) { return sending.begun; });
  }

  void Move() {
    if (requests_.empty()) return;
    indices_.resize(requests_.size());
    statuses_.resize(requests_.size());
    int done = 0;
    const int result =
        MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &done, indices_.data(), statuses_.data());
    if (result != MPI_SUCCESS) {
      for (int i = 0; result == MPI_ERR_IN_STATUS && i < done; ++i)
        Check(statuses_[static_cast<std::size_t>(i)].MPI_ERROR, "a message failed");
      Check(result, "a message failed");
    }
    if (done <= 0) return;
    for (int i = 0; i < done; ++i) {
      const Piece& piece = pieces_[static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)])];
      --unfinished_[piece.message];
      for (Sending& sending : sending_) {
        if (sending.message == piece.message) --sending.under_way;
      }
      int came = piece.count;
      if (piece.received) MPI_Get_count(&statuses_[static_cast<std::size_t>(i)], MPI_BYTE, &came);
      if (came != piece.count)
        throw WorkFailed(fmt::format("rank {}: a message has another size than expected", rank_));
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] == MPI_REQUEST_NULL) continue;
      requests_[kept] = requests_[i];
      pieces_[kept++] = pieces_[i];
    }
    requests_.resize(kept);
    pieces_.resize(kept);
    SendOn();
  }

  int rank_ = 0;
  int size_ = 1;
  bool abandoned_ = false;
  MessageId next_ = 0;
  std::map<MessageId, int> unfinished_;  // pieces
  std::vector<Sending> sending_;
  std::vector<MPI_Request> requests_;
  std::vector<Piece> pieces_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace
}  // namespace millrace::mpi

extern "C" int MillraceRanksInterface() { return millrace::mpi::kRanksInterface; }

extern "C" millrace::mpi::Ranks* MillraceJoinRanks(const char** reason) {
  // What the user has set stays.
  setenv(millrace::mpi::kLimitVariable, std::to_string(millrace::mpi::kLimitBytes).c_str(), 0);
  setenv(millrace::mpi::kBufferVariable, std::to_string(millrace::mpi::kBufferBytes).c_str(), 0);
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
    *reason = "MPI cannot start";
    return nullptr;
  }
  if (provided < MPI_THREAD_SERIALIZED) {
    *reason = "this MPI serves one thread only";
    return nullptr;
  }
  int* most_tag = nullptr;
  int known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&most_tag), &known);
  if (known == 0 || *most_tag < millrace::mpi::kMostTag) {
    *reason = "this MPI tells too few messages apart";
    return nullptr;
  }
  try {
    return new millrace::mpi::MpiRanks();
  } catch (const millrace::WorkFailed&) {
    *reason = "MPI does not tell which rank this is";
    return nullptr;
  }
}

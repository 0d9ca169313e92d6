// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"

namespace millrace {
namespace {

std::string Reason(int error) { return std::strerror(error); }

class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int number() const { return number_; }
  // Errors of a delayed write may surface only here.
  int Close() {
    const int result = ::close(number_);
    number_ = -1;
    return result;
  }

 private:
  int number_;
};

// Opening a pipe waits for somebody at its other end; a signal that asks us to stop ends that.
int OpenPatiently(const std::string& path, int how) {
  while (true) {
    const int file = ::open(path.c_str(), how | O_CLOEXEC);
    const int error = errno;
    if (file >= 0 || error != EINTR) return file;
    StopIfInterrupted();
  }
}

void WriteAll(int file, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), std::min(content.size(), std::size_t{1} << 30));
    if (written < 0) {
      const int error = errno;
      StopIfInterrupted();
      if (error == EINTR) continue;
      throw WorkFailed(path + ": could not be written: " + Reason(error));
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

// A file made by mkstemp is private to its owner; give it the mode any other new file would have.
void GiveUsualMode(int file) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  static_cast<void>(::fchmod(file, static_cast<mode_t>(0666) & ~mask));
}

// The rename itself is only safe on disk once its folder is.
void SyncFolder(const std::filesystem::path& folder) {
  const FileDescriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.number() >= 0) static_cast<void>(::fsync(directory.number()));
}

}  // namespace

void WriteFileAtomically(const std::string& path, std::string_view content) {
  if (path.empty()) throw WorkFailed("no name was given for the file to write");
  std::string destination = path;
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw WorkFailed(path + ": is a folder; name a file to write");
    if (!S_ISREG(status.st_mode)) {
      // A pipe or a device: there is nothing to rename over.
      FileDescriptor file(OpenPatiently(path, O_WRONLY));
      if (file.number() < 0) throw WorkFailed(path + ": could not be written: " + Reason(errno));
      WriteAll(file.number(), content, path);
      if (file.Close() != 0) throw WorkFailed(path + ": could not be written: " + Reason(errno));
      return;
    }
    // Through a symbolic link it is the file behind it that is replaced, not the link.
    std::error_code ignored;
    const std::filesystem::path real = std::filesystem::canonical(path, ignored);
    if (!ignored) destination = real.string();
  }

  std::string name = destination + ".XXXXXX";
  FileDescriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (file.number() < 0) throw WorkFailed(path + ": could not be written: " + Reason(errno));
  TemporaryFile temporary(name);
  GiveUsualMode(file.number());
  WriteAll(file.number(), content, path);
  if (::fsync(file.number()) != 0 || file.Close() != 0 || std::rename(name.c_str(), destination.c_str()) != 0) {
    throw WorkFailed(path + ": could not be written: " + Reason(errno));
  }
  temporary.Keep();
  const std::filesystem::path folder = std::filesystem::path(destination).parent_path();
  SyncFolder(folder.empty() ? "." : folder);
}

std::string ReadWholeFile(const std::string& path, std::size_t most_bytes) {
  const FileDescriptor file(OpenPatiently(path, O_RDONLY));
  if (file.number() < 0) throw InvalidInput(path + ": could not be read: " + Reason(errno));
  struct stat status = {};
  if (::fstat(file.number(), &status) != 0) throw InvalidInput(path + ": could not be read: " + Reason(errno));
  if (S_ISDIR(status.st_mode)) throw InvalidInput(path + ": is a folder; name a file");
  const std::string too_large =
      path + ": is larger than " + std::to_string(most_bytes) + " bytes, the most that is read";
  std::string content;
  if (S_ISREG(status.st_mode)) {
    if (static_cast<std::uint64_t>(status.st_size) > most_bytes) throw InvalidInput(too_large);
    content.reserve(static_cast<std::size_t>(status.st_size));
  }
  // A pipe has no size, and a file may grow: read to the end, whatever its size was said to be.
  std::vector<char> block(std::size_t{1} << 18);
  while (true) {
    const ssize_t count = ::read(file.number(), block.data(), block.size());
    const int error = errno;
    if (count < 0) StopIfInterrupted();
    if (count < 0 && error == EINTR) continue;
    if (count < 0) throw InvalidInput(path + ": could not be read: " + Reason(error));
    if (count == 0) return content;
    if (content.size() + static_cast<std::size_t>(count) > most_bytes) throw InvalidInput(too_large);
    content.append(block.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
// A library to be preloaded (LD_PRELOAD): it makes one call of the program's fail, counted from where main begins.
//
//   MILLRACE_FAIL=memory:N   the Nth allocation finds no memory
//   MILLRACE_FAIL=write:N    the Nth call that writes (write, fsync, rename, mkostemp, mkdir) finds a full disk
//   ...,on                   and so do all after it
//   MILLRACE_CALLS=FILE      at the end the number of calls of that kind is written there
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

}  // extern "C"

namespace {

enum class Kind { kNothing, kMemory, kWrite };

Kind counted = Kind::kNothing;
bool from_then_on = false;
long failing = 0;
std::atomic<bool> running{false};
std::atomic<long> calls{0};
char calls_file[4096] = "";

bool Fails(Kind kind) {
  if (kind != counted || !running.load(std::memory_order_relaxed)) return false;
  const long call = ++calls;
  return from_then_on ? call >= failing : call == failing;
}

void ReadSettings() {
  const char* const words = std::getenv("MILLRACE_FAIL");
  if (words == nullptr) return;
  if (std::strncmp(words, "memory:", 7) == 0) counted = Kind::kMemory;
  if (std::strncmp(words, "write:", 6) == 0) counted = Kind::kWrite;
  failing = std::strtol(std::strchr(words, ':') + 1, nullptr, 10);
  from_then_on = std::strstr(words, ",on") != nullptr;
  const char* const file = std::getenv("MILLRACE_CALLS");
  if (file != nullptr) std::strncpy(calls_file, file, sizeof calls_file - 1);
}

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

void* NoMemory() {
  errno = ENOMEM;
  return nullptr;
}

int FullDisk() {
  errno = ENOSPC;
  return -1;
}

void TellCalls() {
  running = false;
  if (calls_file[0] == '\0') return;
  if (std::FILE* const file = std::fopen(calls_file, "w")) {
    std::fprintf(file, "%ld\n", calls.load());
    std::fclose(file);
  }
}

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

int CountedMain(int argc, char** argv, char** environment) {
  std::atexit(TellCalls);
  running = true;
  return real_main(argc, argv, environment);
}

}  // namespace

extern "C" {

int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(), void (*end)(), void* stack) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  ReadSettings();
  real_main = main;
  return Next<Start>("__libc_start_main")(CountedMain, argc, argv, init, fini, end, stack);
}

void* malloc(std::size_t size) { return Fails(Kind::kMemory) ? NoMemory() : __libc_malloc(size); }

void* calloc(std::size_t count, std::size_t size) {
  return Fails(Kind::kMemory) ? NoMemory() : __libc_calloc(count, size);
}

void* realloc(void* old, std::size_t size) { return Fails(Kind::kMemory) ? NoMemory() : __libc_realloc(old, size); }

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return Fails(Kind::kMemory) ? NoMemory() : __libc_memalign(alignment, size);
}

int posix_memalign(void** place, std::size_t alignment, std::size_t size) {
  void* const memory = Fails(Kind::kMemory) ? nullptr : __libc_memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *place = memory;
  return 0;
}

ssize_t write(int file, const void* bytes, std::size_t size) {
  if (Fails(Kind::kWrite)) return FullDisk();
  static const auto next = Next<ssize_t (*)(int, const void*, std::size_t)>("write");
  return next(file, bytes, size);
}

int fsync(int file) {
  if (Fails(Kind::kWrite)) return FullDisk();
  static const auto next = Next<int (*)(int)>("fsync");
  return next(file);
}

int rename(const char* from, const char* to) {
  if (Fails(Kind::kWrite)) return FullDisk();
  static const auto next = Next<int (*)(const char*, const char*)>("rename");
  return next(from, to);
}

int mkostemp(char* name, int flags) {
  if (Fails(Kind::kWrite)) return FullDisk();
  static const auto next = Next<int (*)(char*, int)>("mkostemp");
  return next(name, flags);
}

int mkdir(const char* path, mode_t mode) {
  if (Fails(Kind::kWrite)) return FullDisk();
  static const auto next = Next<int (*)(const char*, mode_t)>("mkdir");
  return next(path, mode);
}

}  // extern "C"

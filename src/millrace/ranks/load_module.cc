// SPDX-License-Identifier: Apache-2.0
#include "millrace/ranks/load_module.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "millrace/errors/errors.h"

namespace millrace::mpi {
namespace {

constexpr const char* kFile = "millrace-mpi.so";

std::vector<std::filesystem::path> Folders() {
  std::vector<std::filesystem::path> folders;
  if (const char* const named = std::getenv("MILLRACE_MPI"); named != nullptr && *named != '\0')
    folders.emplace_back(named);
  std::error_code error;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    folders.push_back(executable.parent_path());
    folders.push_back(executable.parent_path().parent_path() / "lib" / "millrace");
  }
  folders.emplace_back(MILLRACE_INSTALLED_MODULES);
  return folders;
}

std::string Find() {
  std::string looked;
  for (const std::filesystem::path& folder : Folders()) {
    const std::filesystem::path path = folder / kFile;
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) return path.string();
    looked += (looked.empty() ? "" : ", ") + folder.string();
  }
  throw InvalidInput(fmt::format(
      "ranks of MPI need {}, which is not in {}; it is built where CMake finds MPI (Debian: libopenmpi-dev), and "
      "MILLRACE_MPI may name a folder that has it",
      kFile, looked));
}

template <typename Function>
Function Symbol(void* module, const char* name, const std::string& path) {
  void* const symbol = dlsym(module, name);
  if (symbol == nullptr) throw InvalidInput(fmt::format("{}: is no module of this program", path));
  return reinterpret_cast<Function>(symbol);
}

}  // namespace

std::unique_ptr<Ranks> JoinMpiRanks() {
  const std::string path = Find();
  // Never closed: MPI leaves threads and handlers behind that are in it.
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) throw InvalidInput(fmt::format("{}: cannot be loaded: {}", path, dlerror()));
  if (Symbol<int (*)()>(module, "MillraceRanksInterface", path)() != kRanksInterface)
    throw InvalidInput(fmt::format("{}: belongs to another build; install both together", path));
  const char* reason = "";
  Ranks* const ranks = Symbol<Ranks* (*)(const char**)>(module, "MillraceJoinRanks", path)(&reason);
  if (ranks == nullptr) throw WorkFailed(reason);
  return std::unique_ptr<Ranks>(ranks);
}

bool StartedWithOthers() {
  // Ranks in all, as Open MPI, MPICH and Slurm say it to each. What a batch script of Slurm has is another.
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* const text = std::getenv(name);
    if (text != nullptr && std::strtol(text, nullptr, 10) > 1) return true;
  }
  return false;
}

}  // namespace millrace::mpi

// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/onnxruntime/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"

namespace millrace::ort {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "MILLRACE_ONNXRUNTIME";
constexpr std::string_view kFileName = "libonnxruntime.so";
constexpr const char* kGetOne =
    "name one of version 1.14 or newer with --target ort,library=PATH or in MILLRACE_ONNXRUNTIME";
constexpr std::size_t kMostShown = 120;

#if defined(__aarch64__)
constexpr const char* kNodeArchitecture = "arm64";
#else
constexpr const char* kNodeArchitecture = "x64";
#endif

// libonnxruntime.so or the newest of libonnxruntime.so.N in the folder; empty where it has none.
std::string LibraryIn(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> found;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(kFileName) && (name.size() == kFileName.size() || name[kFileName.size()] == '.'))
      found.push_back(entry->path().string());
  }
  return found.empty() ? "" : *std::max_element(found.begin(), found.end());
}

// Adds the library of the package onnxruntime-node in this node_modules, if it is there.
void AddNodePackage(const fs::path& modules, std::vector<std::string>& files) {
  std::error_code error;
  std::vector<std::string> found;
  for (fs::directory_iterator entry(modules / "onnxruntime-node" / "bin", error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->path().filename().string().starts_with("napi-")) continue;
    const std::string library = LibraryIn(entry->path() / "linux" / kNodeArchitecture);
    if (!library.empty()) found.push_back(library);
  }
  if (!found.empty()) files.push_back(*std::max_element(found.begin(), found.end()));
}

std::string FromVariable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Null where it cannot be opened, and *failure then says why.
void* Open(const std::string& path, std::string* failure) {
  void* const opened = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (opened == nullptr) {
    const char* const words = ::dlerror();
    *failure = words == nullptr ? "it cannot be loaded" : words;
  }
  return opened;
}

void* OpenNamed(const std::string& named, std::string* path) {
  *path = named;
  std::error_code error;
  if (fs::is_directory(named, error)) {
    *path = LibraryIn(named);
    if (path->empty())
      throw InvalidInput(fmt::format("{}: holds no {}; {}", Shown(named, kMostShown), kFileName, kGetOne));
  }
  if (!fs::exists(*path, error))
    throw InvalidInput(fmt::format("{}: there is no such library; {}", Shown(named, kMostShown), kGetOne));
  std::string failure;
  // The loader searches its path for names without a slash.
  void* const opened = Open(fs::absolute(*path).string(), &failure);
  if (opened == nullptr)
    throw InvalidInput(fmt::format("{}: cannot be loaded as ONNX Runtime's library: {}; {}", Shown(*path, kMostShown),
                                   Shown(failure, kMostShown), kGetOne));
  return opened;
}

void* OpenFound(std::string* path) {
  const Places places = UsualPlaces();
  if (!places.named.empty()) return OpenNamed(places.named, path);
  std::string failure;
  for (const auto* names : {&places.loader, &places.files}) {
    for (const std::string& name : *names) {
      void* const opened = Open(name, &failure);
      *path = name;
      if (opened != nullptr) return opened;
      if (names == &places.files)
        throw InvalidInput(fmt::format("{}: cannot be loaded as ONNX Runtime's library: {}; {}",
                                       Shown(name, kMostShown), Shown(failure, kMostShown), kGetOne));
    }
  }
  throw InvalidInput(fmt::format(
      "there is no ONNX Runtime here (the npm package onnxruntime-node and its releases hold the library); {}",
      kGetOne));
}

// The second number of "1.30.0"; -1 where the text is of another kind or the first is not 1.
int MinorOf(std::string_view version) {
  if (!version.starts_with("1.")) return -1;
  version.remove_prefix(2);
  int minor = 0;
  const std::size_t digits = std::min(version.find_first_not_of("0123456789"), version.size());
  if (digits == 0 || digits > 4) return -1;
  for (const char digit : version.substr(0, digits)) minor = 10 * minor + (digit - '0');
  return minor;
}

}  // namespace

Places UsualPlaces() {
  Places places;
  places.named = FromVariable(kVariable);
  places.loader = {std::string(kFileName), std::string(kFileName) + ".1"};
  const std::string node_path = FromVariable("NODE_PATH");
  for (std::size_t begin = 0; begin < node_path.size();) {
    const std::size_t end = std::min(node_path.find(':', begin), node_path.size());
    if (end > begin) AddNodePackage(node_path.substr(begin, end - begin), places.files);
    begin = end + 1;
  }
  std::error_code error;
  for (fs::path folder = fs::current_path(error); !error && !folder.empty(); folder = folder.parent_path()) {
    AddNodePackage(folder / "node_modules", places.files);
    if (folder == folder.root_path()) break;
  }
  return places;
}

Library::Library(const std::string& path) {
  void* const opened = path.empty() ? OpenFound(&path_) : OpenNamed(path, &path_);
  const auto get_base = reinterpret_cast<GetApiBase>(::dlsym(opened, kGetApiBase));
  const ApiBase* const base = get_base == nullptr ? nullptr : get_base();
  if (base == nullptr)
    throw InvalidInput(fmt::format("{}: is not ONNX Runtime's library, it has no {}; {}", Shown(path_, kMostShown),
                                   kGetApiBase, kGetOne));
  version_ = base->get_version();
  // An older one would print a line of its own when asked for more than it has.
  const Place* const table = MinorOf(version_) >= static_cast<int>(kApiVersion) ? base->get_api(kApiVersion) : nullptr;
  if (table == nullptr)
    throw InvalidInput(fmt::format("{}: is ONNX Runtime {}, and versions 1.{} and newer of the 1 series do; {}",
                                   Shown(path_, kMostShown), Shown(version_), kApiVersion, kGetOne));
  functions_ = std::make_unique<Functions>(table);
  Check(functions_->create_environment(kFatal, "millrace", &environment_), "ONNX Runtime does not start");
}

Library::~Library() { functions_->release_environment(environment_); }

std::string Library::WordsOf(Status* status) const {
  if (status == nullptr) return "";
  std::string words = functions_->message_of(status);
  functions_->release_status(status);
  return words.empty() ? "no reason given" : words;
}

void Library::Check(Status* status, const std::string& what) const {
  if (status == nullptr) return;
  throw WorkFailed(fmt::format("{}: {}", what, Shown(WordsOf(status), 2 * kMostShown)));
}

}  // namespace millrace::ort

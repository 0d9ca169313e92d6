// SPDX-License-Identifier: Apache-2.0
#include "tests/report/browser.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

namespace millrace::testing {

Browsed Browse(const std::string& page, const std::string& act, const std::string& flags) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("millrace_report_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  // Virtual time runs ahead of threads that unpack, the more so on a busy machine: there is plenty of it.
  std::string acted = page;
  const std::string script =
      "<script>(async () => { const root = document.documentElement.dataset;"
      "while (!root.scripts) await new Promise((again) => setTimeout(again, 5));"
      "document.body.dataset.seen = await (async () => {" +
      act + "})(); })().catch((error) => console.error(error))</script>";
  acted.insert(acted.rfind("</body>"), script);
  std::ofstream(folder / "report.html") << acted;
  const std::string command =
      "chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir='" +
      (folder / "profile").string() + "' --enable-logging=stderr --virtual-time-budget=600000 " + flags +
      " --dump-dom 'file://" + (folder / "report.html").string() + "' 2>'" + (folder / "console").string() + "'";
  Browsed browsed;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return browsed;
  std::array<char, 4096> chunk;
  std::size_t got = 0;
  while ((got = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0) browsed.document.append(chunk.data(), got);
  EXPECT_EQ(::pclose(pipe), 0) << "chromium is one of the packages script/bootstrap --test installs";
  std::ifstream console(folder / "console");
  for (std::string line; std::getline(console, line);) {
    if (line.find("CONSOLE") != std::string::npos) browsed.console += line + "\n";
  }
  std::filesystem::remove_all(folder);
  return browsed;
}

std::size_t Count(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator()));
}

}  // namespace millrace::testing

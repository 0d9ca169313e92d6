// SPDX-License-Identifier: Apache-2.0
#include "millrace/bench/output.h"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iterator>

#include "millrace/runtime/host_units.h"
#include "millrace/target/profile_cache.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The command as it was typed, the program without its folder; words with spaces in quotes.
std::string TypedCommand() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::string command;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    if (begin == 0) word = word.substr(word.rfind('/') + 1);
    if (word.find(' ') != std::string::npos) word = fmt::format("'{}'", word);
    command += (begin == 0 ? "" : " ") + word;
    begin = end + 1;
  }
  return command;
}

Json JsonOf(const Table& table) {
  Json rows = Json::array();
  for (const std::vector<Cell>& row : table.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Cell& cell = row[i];
      if (cell.numbers.size() == 1) {
        object[table.columns[i]] = cell.numbers.front();
      } else if (!cell.numbers.empty()) {
        object[table.columns[i]] = cell.numbers;
      } else {
        object[table.columns[i]] = cell.text == "-" ? Json(nullptr) : Json(cell.text);
      }
    }
    rows.push_back(std::move(object));
  }
  return rows;
}

}  // namespace

int ThreadsOf(const CommandLine& line) {
  const int processors = static_cast<int>(AllowedProcessors().size());
  return line.common.threads == 0 ? processors : std::min(processors, line.common.threads);
}

BenchAccount::BenchAccount(const CommandLine& line, int threads)
    : line_(line),
      threads_(threads),
      date_(fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)))),
      begin_(Now()),
      watch_(AllowedProcessors()) {}

std::string BenchAccount::Notes() const { return fmt::format("{}", fmt::join(notes_, " ")); }

void BenchAccount::Print(const std::vector<Table>& tables) const {
  const double seconds = Now() - begin_;
  const double others = watch_.ShareOfOthers();
  const std::size_t processors = AllowedProcessors().size();
  if (line_.common.json) {
    Json object{{"command", TypedCommand()},
                {"processor", HostProcessor()},
                {"processors", processors},
                {"threads", threads_},
                {"date", date_},
                {"seed", line_.common.seed},
                {"notes", notes_},
                {"wall_seconds", seconds},
                {"share_of_others", others},
                {"tables", Json::object()}};
    for (const Table& table : tables) object["tables"][table.name] = JsonOf(table);
    PrintJson(object);
    return;
  }
  cli::Print("    {}\n\n", TypedCommand());
  cli::Print("{}, {} processors, {} used; {}; seed {}; {:.0f} s, {:.0f} % of the processors' time went to others.\n\n",
             HostProcessor(), processors, threads_, date_, line_.common.seed, seconds, 100 * others);
  for (const std::string& note : notes_) cli::Print("{}\n\n", note);
  for (const Table& table : tables) {
    if (!table.for_programs) WriteOut(Markdown(table));
  }
}

}  // namespace millrace::cli

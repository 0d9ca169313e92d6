// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/verb.h"
#include "millrace/verb_tree.h"
#include "millrace/version.h"

// millrace manual: the manual page of the command or of a verb, as man reads it.
namespace millrace::cli {
namespace {

// As text that groff shows as it is: hyphens are those of flags, and no line begins with a request.
std::string Roff(const std::string& text) {
  std::string roff;
  for (const char c : text) {
    if (c == '\\') {
      roff += "\\e";
    } else if (c == '-') {
      roff += "\\-";
    } else if ((c == '.' || c == '\'') && (roff.empty() || roff.back() == '\n')) {
      roff += std::string("\\&") + c;
    } else {
      roff += c;
    }
  }
  return roff;
}

std::string Entries(const std::vector<VerbFlag>& flags) {
  std::string text;
  for (const VerbFlag& flag : flags) {
    std::string names;
    for (const std::string& name : flag.names) names += (names.empty() ? "" : ", ") + name;
    text += ".TP\n\\fB" + Roff(names) + "\\fR" + (flag.takes_value ? " \\fIVALUE\\fR" : "") + "\n";
    text += Roff(flag.meaning.empty() ? "See millrace(1)." : flag.meaning) + "\n";
  }
  return text;
}

std::string PageName(const VerbPage& page) {
  std::string name = "millrace";
  for (const std::string& word : page.path) name += "-" + word;
  return name;
}

std::string PageText(const VerbPage& page, const std::vector<VerbPage>& all) {
  std::string name = PageName(page);
  std::string text = ".TH " + name + " 1 \"\" \"millrace " MILLRACE_VERSION "\" \"User Commands\"\n";
  text += ".SH NAME\n" + Roff(name) + " \\- " + Roff(page.meaning) + "\n.SH SYNOPSIS\n.B millrace";
  text += Roff(page.path.empty() ? "" : " " + page.Words()) + "\n";
  for (const VerbFlag& argument : page.arguments) text += ".I " + Roff(argument.names.front()) + "\n";
  if (!page.children.empty()) text += ".I VERB\n";
  text += "[options]\n";
  if (!page.children.empty()) {
    text += ".SH VERBS\n";
    for (const VerbPage& other : all) {
      if (other.path.size() != page.path.size() + 1 ||
          !std::equal(page.path.begin(), page.path.end(), other.path.begin()))
        continue;
      text += ".TP\n\\fB" + Roff(other.path.back()) + "\\fR\n" + Roff(other.meaning) + "\n";
    }
  }
  if (!page.arguments.empty()) {
    text += ".SH ARGUMENTS\n";
    for (const VerbFlag& argument : page.arguments)
      text += ".TP\n\\fI" + Roff(argument.names.front()) + "\\fR\n" + Roff(argument.meaning) + "\n";
  }
  text += ".SH OPTIONS\n" + Entries(page.flags);
  text +=
      ".SH EXIT STATUS\n0 where the work is done, 1 where it failed, 2 for bad input or usage, with one line that says "
      "what to do.\n";
  if (page.path.empty()) {
    text += ".SH ENVIRONMENT\n.TP\n.B MILLRACE_MODELS\nA folder with weights of the learned planners.\n";
  } else {
    text += ".SH SEE ALSO\n.BR millrace (1)\n";
  }
  return text;
}

struct ManualOptions {
  std::vector<std::string> verb;
  std::string folder;
};

// A file for each page, as man finds them in a folder man1.
int WritePages(const CommandLine& line, const std::vector<VerbPage>& pages, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  nlohmann::ordered_json written = nlohmann::ordered_json::array();
  for (const VerbPage& page : pages) {
    const std::string path = (std::filesystem::path(folder) / (PageName(page) + ".1")).string();
    WriteFileAtomically(path, PageText(page, pages));
    written.push_back(path);
  }
  if (line.common.json) PrintJson({{"pages", std::move(written)}});
  return 0;
}

int Manual(const CommandLine& line, const ManualOptions& options) {
  const std::vector<VerbPage> pages = PagesOf(line.app);
  if (!options.folder.empty()) return WritePages(line, pages, options.folder);
  for (const VerbPage& page : pages) {
    if (page.path != options.verb) continue;
    const std::string text = PageText(page, pages);
    if (line.common.json) {
      PrintJson({{"name", PageName(page)}, {"page", text}});
    } else {
      WriteOut(text);
    }
    return 0;
  }
  VerbPage asked;
  asked.path = options.verb;
  throw InvalidInput("there is no verb '" + asked.Words() + "'; millrace --help lists them");
}

}  // namespace

void AddManual(CommandLine& line) {
  const auto options = std::make_shared<ManualOptions>();
  CLI::App* verb = AddVerb(line, "manual", "Print a manual page; to read it: millrace manual optimize | man -l -",
                           [&line, options] { return Manual(line, *options); });
  CLI::Option* const words = verb->add_option("VERB", options->verb, "Its words; without them the page of the command");
  verb->add_option("--output-dir", options->folder, "Write all pages into this folder, a file each")->excludes(words);
}

}  // namespace millrace::cli

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/verb.h"
#include "millrace/verb_tree.h"

// millrace completion: what a shell needs to complete verbs and flags.
namespace millrace::cli {
namespace {

std::string Joined(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

std::string FlagWords(const VerbPage& page) {
  std::vector<std::string> words;
  for (const VerbFlag& flag : page.flags) words.insert(words.end(), flag.names.begin(), flag.names.end());
  return Joined(words);
}

// Within single quotes of a shell; what `special` has gets a backslash.
std::string Quoted(std::string_view text, std::string_view special) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
      continue;
    }
    if (special.find(c) != std::string_view::npos) quoted += '\\';
    quoted += c;
  }
  return quoted;
}

std::string ForBash(const std::vector<VerbPage>& pages) {
  std::string script =
      "_millrace() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} verb=\"${COMP_WORDS[*]:1:COMP_CWORD-1}\" words=''\n"
      "  case \"$verb \" in\n";
  // Those of longer paths first: the first that fits is taken.
  for (auto page = pages.rbegin(); page != pages.rend(); ++page) {
    if (page->path.empty()) continue;
    script += "    '" + page->Words() + " '*) words='" + Joined(page->children) + (page->children.empty() ? "" : " ") +
              FlagWords(*page) + "' ;;\n";
  }
  script += "    *) words='" + Joined(pages.front().children) + " " + FlagWords(pages.front()) + "' ;;\n  esac\n";
  script +=
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
      "  if [[ $word != -* && $COMP_CWORD -gt 1 ]]; then\n"
      "    mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$word\")\n"
      "  fi\n"
      "}\n"
      "complete -o filenames -F _millrace millrace\n";
  return script;
}

std::string ForZsh(const std::vector<VerbPage>& pages) {
  constexpr std::string_view kSpecial = "[]:\\";
  std::string script = "#compdef millrace\nlocal -a below\ncase \"$words[2,CURRENT-1] \" in\n";
  for (auto page = pages.rbegin(); page != pages.rend(); ++page) {
    script += page->path.empty() ? "  *)\n" : "  '" + page->Words() + " '*)\n";
    if (!page->children.empty()) {
      script += "    below=(";
      for (const VerbPage& child : pages) {
        if (child.path.size() == page->path.size() + 1 &&
            std::equal(page->path.begin(), page->path.end(), child.path.begin()))
          script += "'" + child.path.back() + ":" + Quoted(child.meaning, kSpecial) + "' ";
      }
      script += ")\n    _describe verb below\n";
    }
    script += "    _arguments";
    for (const VerbFlag& flag : page->flags) {
      for (const std::string& name : flag.names)
        script += " \\\n      '" + name + "[" + Quoted(flag.meaning, kSpecial) + "]" +
                  (flag.takes_value ? ":value:_files'" : "'");
    }
    script += " \\\n      '*:file:_files'\n    ;;\n";
  }
  return script + "esac\n";
}

std::string ForFish(const std::vector<VerbPage>& pages) {
  constexpr std::string_view kSpecial = "\\";
  std::string script;
  for (const VerbPage& page : pages) {
    std::string when = "not __fish_seen_subcommand_from " + Joined(pages.front().children);
    if (!page.path.empty()) {
      when.clear();
      for (const std::string& word : page.path)
        when += (when.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + word);
      std::string above = "not __fish_seen_subcommand_from " + Joined(pages.front().children);
      if (page.path.size() > 1) above = "__fish_seen_subcommand_from " + page.path.front();
      script += "complete -c millrace -n '" + above + "' -a " + page.path.back() + " -d '" +
                Quoted(page.meaning, kSpecial) + "'\n";
    }
    for (const VerbFlag& flag : page.flags) {
      script += "complete -c millrace -n '" + when + "'";
      for (const std::string& name : flag.names)
        script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      script += std::string(flag.takes_value ? " -r" : "") + " -d '" + Quoted(flag.meaning, kSpecial) + "'\n";
    }
  }
  return script;
}

struct CompletionOptions {
  std::string shell;
};

int Completion(const CommandLine& line, const CompletionOptions& options) {
  const std::vector<VerbPage> pages = PagesOf(line.app);
  const std::string script = options.shell == "bash"  ? ForBash(pages)
                             : options.shell == "zsh" ? ForZsh(pages)
                                                      : ForFish(pages);
  if (line.common.json) {
    PrintJson({{"shell", options.shell}, {"script", script}});
  } else {
    WriteOut(script);
  }
  return 0;
}

}  // namespace

void AddCompletion(CommandLine& line) {
  const auto options = std::make_shared<CompletionOptions>();
  CLI::App* verb = AddVerb(line, "completion", "Print what a shell needs to complete verbs and flags",
                           [&line, options] { return Completion(line, *options); });
  verb->add_option("SHELL", options->shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

}  // namespace millrace::cli

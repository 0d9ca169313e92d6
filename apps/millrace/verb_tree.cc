// SPDX-License-Identifier: Apache-2.0
#include "millrace/verb_tree.h"

namespace millrace::cli {
namespace {

void AddPages(const CLI::App& app, const std::vector<std::string>& path, std::vector<VerbPage>& pages) {
  VerbPage page;
  page.path = path;
  page.meaning = app.get_description();
  for (const CLI::Option* const option : app.get_options()) {
    VerbFlag flag;
    for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
    flag.meaning = option->get_description();
    flag.takes_value = option->get_items_expected_max() > 0;
    if (!flag.names.empty()) {
      page.flags.push_back(std::move(flag));
    } else if (option->get_positional()) {
      flag.names.push_back(option->get_name());
      page.arguments.push_back(std::move(flag));
    }
  }
  const std::vector<const CLI::App*> below = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* const child : below) page.children.push_back(child->get_name());
  pages.push_back(std::move(page));
  for (const CLI::App* const child : below) {
    std::vector<std::string> longer = path;
    longer.push_back(child->get_name());
    AddPages(*child, longer, pages);
  }
}

}  // namespace

std::string VerbPage::Words() const {
  std::string words;
  for (const std::string& word : path) words += (words.empty() ? "" : " ") + word;
  return words;
}

std::vector<VerbPage> PagesOf(const CLI::App& app) {
  std::vector<VerbPage> pages;
  AddPages(app, {}, pages);
  return pages;
}

}  // namespace millrace::cli

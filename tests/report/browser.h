// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// Pages as a browser makes them: headless Chromium, one of the packages script/bootstrap --test installs.
namespace millrace::testing {

struct Browsed {
  std::string document;  // as it stands after the scripts ran
  std::string console;   // complaints
};

// Opens the page and waits until its script says that it is done. `act` is script of the test's own that runs then, in
// an async function; what it returns becomes data-seen of the body.
Browsed Browse(const std::string& page, const std::string& act = "", const std::string& flags = "");

// How often the regular expression matches.
std::size_t Count(const std::string& text, const std::string& pattern);

}  // namespace millrace::testing

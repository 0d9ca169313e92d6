// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "millrace/report/account.h"

// Which colour an op type has on a page: the style sheet has eight for those that take most time and one for the rest.
namespace millrace {

inline constexpr std::size_t kTypeColours = 8;

class TypeColours {
 public:
  // By the main types of the groups, counted over all accounts.
  explicit TypeColours(const std::vector<PlanAccount>& accounts);

  std::size_t Of(const std::string& main_type) const;               // 0..kTypeColours; the last is the rest
  std::string ClassOf(const std::string& main_type) const;          // "t0".."t8"
  const std::vector<std::string>& types() const { return types_; }  // those with a colour of their own
  bool some_have_none() const { return some_have_none_; }

 private:
  std::vector<std::string> types_;
  std::map<std::string, std::size_t> colours_;
  bool some_have_none_ = false;
};

}  // namespace millrace

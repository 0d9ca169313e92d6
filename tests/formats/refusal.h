// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "millrace/errors/errors.h"

// Checking that something is refused as bad input, in one readable line.
namespace millrace::testing {

template <typename Function>
std::string RefusalOf(const Function& function) {
  try {
    function();
  } catch (const InvalidInput& error) {
    const std::string line = error.what();
    EXPECT_THAT(line, ::testing::Not(::testing::HasSubstr("\n")));
    EXPECT_LT(line.size(), 800U);
    return line;
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

}  // namespace millrace::testing

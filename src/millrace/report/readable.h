// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// Times and sizes as people read them; in files and JSON they are seconds and bytes.
namespace millrace {

// 1.234 ms, 12.3 us, 2.50 s.
std::string ReadableSeconds(double seconds);

// As short as it goes, for axes: 20 ms.
std::string RoundSeconds(double seconds);

// 1.2 MB, 320 B.
std::string ReadableBytes(double bytes);

// With so many decimals; from a million on as 1.23e+09, for nobody reads three hundred digits.
std::string ReadableNumber(double number, int decimals);

}  // namespace millrace

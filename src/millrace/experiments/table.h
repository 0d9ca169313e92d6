// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

// What an experiment has to say, as rows and columns: printed as Markdown for people, as JSON for programs.
namespace millrace {

// A cell's text, and the numbers behind it where it has any: one, or several that belong together (a mean and its
// deviation, the ends of an interval).
struct Cell {
  std::string text;
  std::vector<double> numbers;
};

Cell Words(std::string text);
Cell Count(std::size_t count);
Cell Number(double number, int decimals);                            // "-" where it is not finite, and no number
Cell MeanAndDeviation(double mean, double deviation, int decimals);  // "1.23 +- 0.04"
Cell Range(double value, double low, double high, int decimals);     // "1.23 (1.20 .. 1.26)"

struct Table {
  std::string name;     // a key: "overall"
  std::string caption;  // one line above it; may be empty
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;  // each as long as columns
  bool for_programs = false;            // too long for people: left out of Markdown
};

// Caption, header and rows; ends in an empty line. A bar in a cell is escaped.
std::string Markdown(const Table& table);

}  // namespace millrace

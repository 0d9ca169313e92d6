// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/table.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "millrace/errors/shown.h"

namespace millrace {
namespace {

std::string CellText(const std::string& text) {
  std::string escaped;
  for (const char character : Escaped(text)) {
    if (character == '|') escaped += '\\';
    escaped += character;
  }
  return escaped;
}

std::string Row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + CellText(cell) + " |";
  return row + "\n";
}

}  // namespace

Cell Words(std::string text) { return {std::move(text), {}}; }

Cell Count(std::size_t count) { return {std::to_string(count), {static_cast<double>(count)}}; }

Cell Number(double number, int decimals) {
  if (!std::isfinite(number)) return {"-", {}};
  return {fmt::format("{:.{}f}", number, decimals), {number}};
}

Cell MeanAndDeviation(double mean, double deviation, int decimals) {
  if (!std::isfinite(mean)) return {"-", {}};
  return {fmt::format("{:.{}f} +- {:.{}f}", mean, decimals, deviation, decimals), {mean, deviation}};
}

Cell Range(double value, double low, double high, int decimals) {
  if (!std::isfinite(value)) return {"-", {}};
  return {fmt::format("{:.{}f} ({:.{}f} .. {:.{}f})", value, decimals, low, decimals, high, decimals),
          {value, low, high}};
}

std::string Markdown(const Table& table) {
  std::string text = table.caption.empty() ? "" : table.caption + "\n\n";
  text += Row(table.columns) + "|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) text += "---|";
  text += "\n";
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<std::string> cells;
    for (const Cell& cell : row) cells.push_back(cell.text);
    text += Row(cells);
  }
  return text + "\n";
}

}  // namespace millrace

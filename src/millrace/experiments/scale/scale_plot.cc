// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/scale/scale_plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

namespace millrace {
namespace {

constexpr double kWidth = 420;
constexpr double kHeight = 360;
constexpr double kLeft = 60;
constexpr double kTop = 40;
constexpr double kBottom = 40;
constexpr double kLegend = 150;
constexpr double kGap = 30;
constexpr std::array kColours = {"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd",
                                 "#8c564b", "#e377c2", "#7f7f7f", "#17becf"};

using Figure = std::function<double(const StageCost&)>;

// The powers of ten that hold all values between them.
struct Decades {
  int low = 0;
  int high = 1;

  double Share(double value) const { return (std::log10(value) - low) / (high - low); }
};

Decades DecadesOf(const std::vector<double>& values) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const double value : values) {
    if (!(value > 0)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  if (most == 0) return {};
  Decades decades{static_cast<int>(std::floor(std::log10(least))), static_cast<int>(std::ceil(std::log10(most)))};
  if (decades.high == decades.low) ++decades.high;
  return decades;
}

std::string Text(double x, double y, const char* anchor, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, words);
}

std::string Stroke(double x1, double y1, double x2, double y2, const char* colour) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2, y2,
                     colour);
}

const char* ColourOf(std::size_t stage) { return kColours[stage % kColours.size()]; }

// One panel whose inner corner lies at (left, kTop).
std::string Panel(const std::vector<ScalePoint>& points, const std::vector<std::string>& stages,
                  const std::set<double>& degrees, double left, const std::string& title, const Figure& figure) {
  std::vector<double> ops, figures;
  for (const ScalePoint& point : points) {
    if (!point.cost) continue;
    ops.push_back(point.ops);
    figures.push_back(figure(*point.cost));
  }
  const Decades across = DecadesOf(ops);
  const Decades up = DecadesOf(figures);
  const auto x = [&](double value) { return left + kWidth * across.Share(value); };
  const auto y = [&](double value) { return kTop + kHeight * (1 - up.Share(value)); };
  std::string svg = Text(left + kWidth / 2, kTop - 14, "middle", title);
  for (int decade = across.low; decade <= across.high; ++decade) {
    const double at = x(std::pow(10, decade));
    svg += Stroke(at, kTop, at, kTop + kHeight, "#ddd") +
           Text(at, kTop + kHeight + 16, "middle", fmt::format("1e{}", decade));
  }
  for (int decade = up.low; decade <= up.high; ++decade) {
    const double at = y(std::pow(10, decade));
    svg += Stroke(left, at, left + kWidth, at, "#ddd") + Text(left - 6, at + 4, "end", fmt::format("1e{}", decade));
  }
  svg += Text(left + kWidth / 2, kTop + kHeight + 34, "middle", "ops");
  for (std::size_t s = 0; s < stages.size(); ++s) {
    for (const double degree : degrees) {
      std::string line;
      for (const ScalePoint& point : points) {
        if (point.stage != stages[s] || point.degree != degree || !point.cost || !(figure(*point.cost) > 0)) continue;
        line += fmt::format("{:.1f},{:.1f} ", x(point.ops), y(figure(*point.cost)));
      }
      if (line.empty()) continue;
      line.pop_back();
      svg += fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"{} points=\"{}\"/>\n", ColourOf(s),
                         degree == *degrees.begin() ? "" : " stroke-dasharray=\"5 3\"", line);
    }
  }
  return svg;
}

}  // namespace

std::string ScalePlot(const std::vector<ScalePoint>& points) {
  std::vector<std::string> stages;
  std::set<double> degrees;
  for (const ScalePoint& point : points) {
    if (std::find(stages.begin(), stages.end(), point.stage) == stages.end()) stages.push_back(point.stage);
    degrees.insert(point.degree);
  }
  const double second = kLeft + kWidth + kGap + kLeft;
  const double legend = second + kWidth + kGap;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      legend + kLegend, kTop + kHeight + kBottom);
  svg += Panel(points, stages, degrees, kLeft, "wall seconds", [](const StageCost& cost) { return cost.seconds.wall; });
  svg += Panel(points, stages, degrees, second, "peak memory, MB",
               [](const StageCost& cost) { return cost.peak_bytes / 1e6; });
  double row = kTop + 10;
  for (std::size_t s = 0; s < stages.size(); ++s, row += 18)
    svg += Stroke(legend, row - 4, legend + 24, row - 4, ColourOf(s)) + Text(legend + 30, row, "start", stages[s]);
  for (const double degree : degrees) {
    row += 18;
    svg += Text(legend, row, "start",
                fmt::format("{}: {} edges an op", degree == *degrees.begin() ? "solid" : "dashed", degree));
  }
  return svg + "</svg>\n";
}

}  // namespace millrace

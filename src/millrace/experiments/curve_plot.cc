// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/curve_plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace millrace {
namespace {

constexpr double kPanelWidth = 480;
constexpr double kPanelHeight = 360;
constexpr double kLeftMargin = 70;
constexpr double kTopMargin = 20;
constexpr double kBottomMargin = 50;
constexpr double kLegendWidth = 170;
constexpr int kTicks = 5;
constexpr std::array kCurveColours = {"#d62728", "#ff9896", "#9467bd", "#1f77b4", "#2ca02c",
                                      "#ff7f0e", "#8c564b", "#7f7f7f", "#17becf"};

struct Span {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void Add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  // A little room on both sides; 0..1 of nothing.
  void Close() {
    if (least > most) *this = {0, 1};
    const double room = most > least ? 0.05 * (most - least) : 0.5;
    least -= room;
    most += room;
  }
  double Share(double value) const { return (value - least) / (most - least); }
};

bool Shown(const std::pair<double, double>& point) { return std::isfinite(point.first) && std::isfinite(point.second); }

std::string Label(double x, double y, const char* anchor, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, words);
}

std::string Grid(const Span& across, const Span& up, const CurvePlotOptions& options) {
  std::string svg;
  for (int tick = 0; tick <= kTicks; ++tick) {
    const double share = static_cast<double>(tick) / kTicks;
    const double x = kLeftMargin + kPanelWidth * share;
    const double y = kTopMargin + kPanelHeight * (options.downwards ? share : 1 - share);
    svg += fmt::format("<path d=\"M{:.1f} {:.1f}V{:.1f}M{:.1f} {:.1f}H{:.1f}\" stroke=\"#ddd\"/>\n", x, kTopMargin,
                       kTopMargin + kPanelHeight, kLeftMargin, y, kLeftMargin + kPanelWidth);
    svg += Label(x, kTopMargin + kPanelHeight + 16, "middle",
                 fmt::format("{:.3g}", across.least + share * (across.most - across.least)));
    svg += Label(kLeftMargin - 6, y + 4, "end", fmt::format("{:.4g}", up.least + share * (up.most - up.least)));
  }
  svg += Label(kLeftMargin + kPanelWidth / 2, kTopMargin + kPanelHeight + 38, "middle", options.across);
  const double middle = kTopMargin + kPanelHeight / 2;
  return svg + fmt::format(
                   "<text x=\"16\" y=\"{0:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {0:.1f})\">"
                   "{1}</text>\n",
                   middle, options.up);
}

}  // namespace

std::string CurvePlot(const std::vector<Curve>& curves, const CurvePlotOptions& options) {
  Span across, up;
  for (const Curve& curve : curves) {
    for (const std::pair<double, double>& point : curve.points) {
      if (!Shown(point)) continue;
      across.Add(point.first);
      up.Add(point.second);
    }
  }
  across.Close();
  up.Close();
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kLeftMargin + kPanelWidth + kLegendWidth, kTopMargin + kPanelHeight + kBottomMargin);
  svg += Grid(across, up, options);
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const char* colour = kCurveColours[c % kCurveColours.size()];
    std::string line, dots;
    for (const std::pair<double, double>& point : curves[c].points) {
      if (!Shown(point)) continue;
      const double x = kLeftMargin + kPanelWidth * across.Share(point.first);
      const double share = up.Share(point.second);
      const double y = kTopMargin + kPanelHeight * (options.downwards ? share : 1 - share);
      line += fmt::format("{:.1f},{:.1f} ", x, y);
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x, y, colour);
    }
    if (!line.empty()) line.pop_back();
    svg += fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" points=\"{}\"/>\n", colour, line);
    const double row = kTopMargin + 12 + 18 * static_cast<double>(c);
    const double legend = kLeftMargin + kPanelWidth + 16;
    svg += dots + fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n", legend, row - 4, colour) +
           Label(legend + 10, row, "start", curves[c].name);
  }
  return svg + "</svg>\n";
}

}  // namespace millrace

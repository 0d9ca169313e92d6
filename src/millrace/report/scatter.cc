// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "millrace/report/gantt.h"
#include "millrace/report/readable.h"

namespace millrace {
namespace {

constexpr double kLeft = 78, kBottom = 44, kTop = 10, kRight = 12;
constexpr double kWidth = 560, kHeight = 400;

// A stretch of seconds laid over a stretch of pixels.
struct Axis {
  double low, high, from, to;
  double At(double seconds) const { return from + (seconds - low) / (high - low) * (to - from); }
  std::vector<double> Ticks() const { return AxisTicks(low, high, 5); }
};

Axis Around(double low, double high, double from, double to) {
  const double margin = std::max(0.06 * (high - low), 0.02 * high);
  return Axis{std::max(0.0, low - margin), high + margin + std::numeric_limits<double>::min(), from, to};
}

}  // namespace

std::string ScatterSvg(const std::vector<Candidate>& candidates, const Candidate& best) {
  double proxy_low = std::numeric_limits<double>::infinity(), proxy_high = 0;
  double target_low = proxy_low, target_high = 0;
  for (const Candidate& candidate : candidates) {
    if (!candidate.target_seconds) continue;
    proxy_low = std::min(proxy_low, candidate.proxy_seconds);
    proxy_high = std::max(proxy_high, candidate.proxy_seconds);
    target_low = std::min(target_low, *candidate.target_seconds);
    target_high = std::max(target_high, *candidate.target_seconds);
  }
  if (proxy_high <= 0 || target_high <= 0) return "<p>No candidate has both a predicted and a measured time.</p>";
  const Axis x = Around(proxy_low, proxy_high, kLeft, kWidth - kRight);
  const Axis y = Around(target_low, target_high, kHeight - kBottom, kTop);
  std::string marks;
  for (const double tick : x.Ticks()) {
    marks += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\"/><text class=\"tick\" x=\"{0:.1f}\" "
        "y=\"{3}\">{4}</text>",
        x.At(tick), kTop, kHeight - kBottom, kHeight - kBottom + 16, RoundSeconds(tick));
  }
  for (const double tick : y.Ticks()) {
    marks += fmt::format(
        "<line class=\"grid\" x1=\"{1}\" y1=\"{0:.1f}\" x2=\"{2}\" y2=\"{0:.1f}\"/><text class=\"tick left\" x=\"{3}\" "
        "y=\"{0:.1f}\">{4}</text>",
        y.At(tick), kLeft, kWidth - kRight, kLeft - 6, RoundSeconds(tick));
  }
  const double low = std::max(x.low, y.low), high = std::min(x.high, y.high);
  if (low < high) {
    marks += fmt::format("<line class=\"agree\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", x.At(low),
                         y.At(low), x.At(high), y.At(high));
  }
  const auto is_best = [&best](const Candidate& candidate) { return candidate.plan == best.plan; };
  for (const bool winner : {false, true}) {
    for (const Candidate& candidate : candidates) {
      if (!candidate.target_seconds || is_best(candidate) != winner) continue;
      marks += fmt::format(
          "<circle class=\"point{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}, fusion {}\nproxy {}\nmeasured {} "
          "({} runs)</title></circle>",
          winner ? " winner" : "", x.At(candidate.proxy_seconds), y.At(*candidate.target_seconds), winner ? 7 : 5,
          HtmlText(candidate.method), HtmlText(candidate.fusion), ReadableSeconds(candidate.proxy_seconds),
          ReadableSeconds(*candidate.target_seconds), candidate.times.size());
    }
  }
  return fmt::format(
      "<svg class=\"scatter\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"Proxy against measured time\">{2}"
      "<text class=\"axis\" x=\"{3}\" y=\"{4}\">predicted by the proxy</text><text class=\"axis\" "
      "transform=\"translate(12 {5}) rotate(-90)\">measured on the target</text></svg>",
      kWidth, kHeight, marks, (kLeft + kWidth) / 2, kHeight - 6, kHeight / 2);
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/scatter.h"

#include <fmt/format.h>

#include <algorithm>

#include "millrace/report/axis.h"
#include "millrace/report/html_text.h"
#include "millrace/report/readable.h"

namespace millrace {
namespace {

constexpr double kLeft = 72, kBottom = 48, kTop = 10, kRight = 24;
constexpr double kWidth = 480, kHeight = 400;

// What the points of one axis are, in order.
class Range {
 public:
  void Add(double number) { numbers_.insert(std::upper_bound(numbers_.begin(), numbers_.end(), number), number); }

  double low() const { return numbers_.empty() ? 0 : numbers_.front(); }
  double high() const { return numbers_.empty() ? 0 : numbers_.back(); }

  // Do most lie so near to the lowest that the highest leaves no room to tell them apart?
  bool IsSquashed() const {
    constexpr double kFar = 2;
    constexpr double kNear = 0.2;
    if (high() <= kFar * low()) return false;
    return numbers_[numbers_.size() / 2] - low() < kNear * (high() - low());
  }

 private:
  std::vector<double> numbers_;
};

std::string Ticks(const Axis& x, const Axis& y) {
  std::string marks;
  for (const double tick : x.Ticks()) {
    marks += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\"/><text class=\"tick\" x=\"{0:.1f}\" "
        "y=\"{3}\">{4}</text>",
        x.At(tick), kTop, kHeight - kBottom, kHeight - kBottom + 17, RoundSeconds(tick));
  }
  for (const double tick : y.Ticks()) {
    marks += fmt::format(
        "<line class=\"grid\" x1=\"{1}\" y1=\"{0:.1f}\" x2=\"{2}\" y2=\"{0:.1f}\"/><text class=\"tick left\" x=\"{3}\" "
        "y=\"{0:.1f}\">{4}</text>",
        y.At(tick), kLeft, kWidth - kRight, kLeft - 6, RoundSeconds(tick));
  }
  return marks;
}

}  // namespace

std::string ScatterSvg(const std::vector<Candidate>& candidates, const Candidate& best) {
  Range proxy, target;
  for (const Candidate& candidate : candidates) {
    if (!candidate.target_seconds) continue;
    proxy.Add(candidate.proxy_seconds);
    target.Add(*candidate.target_seconds);
  }
  if (proxy.high() <= 0 || target.high() <= 0) return "<p>No candidate has both a predicted and a measured time.</p>";
  const bool logarithmic = (proxy.IsSquashed() || target.IsSquashed()) && proxy.low() > 0 && target.low() > 0;
  const Axis x = AxisAround(proxy.low(), proxy.high(), kLeft, kWidth - kRight, logarithmic);
  const Axis y = AxisAround(target.low(), target.high(), kHeight - kBottom, kTop, logarithmic);
  std::string marks = Ticks(x, y);
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
          "<circle class=\"point{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}, fusion {}\npredicted {}\nmeasured "
          "{} ({} runs)</title></circle>",
          winner ? " winner" : "", x.At(candidate.proxy_seconds), y.At(*candidate.target_seconds), winner ? 8 : 6,
          HtmlText(candidate.method), HtmlText(candidate.fusion), ReadableSeconds(candidate.proxy_seconds),
          ReadableSeconds(*candidate.target_seconds), candidate.times.size());
    }
  }
  const char* const scale = logarithmic ? " (logarithmic)" : "";
  return fmt::format(
      "<svg class=\"scatter\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"Predicted against measured time of the "
      "candidates; the table has the same numbers\">{2}<text class=\"axis\" x=\"{3}\" "
      "y=\"{4}\">predicted{6}</text><text "
      "class=\"axis\" transform=\"translate(13 {5}) rotate(-90)\">measured{6}</text></svg>",
      kWidth, kHeight, marks, (kLeft + kWidth - kRight) / 2, kHeight - 8, (kTop + kHeight - kBottom) / 2, scale);
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_einsum.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace millrace {
namespace {

constexpr std::string_view kEllipsis = "...";

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// One term of the equation: letters, with at most one ellipsis.
struct Term {
  std::string before, after;
  bool ellipsis = false;

  std::size_t letters() const { return before.size() + after.size(); }
};

std::optional<Term> TermOf(std::string_view text) {
  Term term;
  const std::size_t dots = text.find(kEllipsis);
  term.ellipsis = dots != std::string_view::npos;
  term.before = text.substr(0, dots);
  if (term.ellipsis) term.after = text.substr(dots + kEllipsis.size());
  const std::string letters = term.before + term.after;
  if (!std::all_of(letters.begin(), letters.end(), IsLetter)) return std::nullopt;
  return term;
}

// Terms between commas; nothing where one of them is no term.
std::optional<std::vector<Term>> TermsOf(std::string_view text) {
  std::vector<Term> terms;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::optional<Term> term = TermOf(text.substr(0, comma));
    if (!term) return std::nullopt;
    terms.push_back(*term);
    if (comma == std::string_view::npos) return terms;
    text.remove_prefix(comma + 1);
  }
}

class Labelling {
 public:
  // The dimensions of ellipses are labels 0 .. ellipsis - 1, aligned at their ends.
  explicit Labelling(std::size_t ellipsis) : ellipsis_(ellipsis) { labels_.extents.assign(ellipsis, 1); }

  bool AddInput(const Term& term, const Shape& shape) {
    if (shape.size() < term.letters() || (!term.ellipsis && shape.size() != term.letters())) return false;
    std::vector<int> labels = Labels(term, shape.size() - term.letters());
    for (std::size_t d = 0; d < shape.size(); ++d) {
      std::int64_t& extent = labels_.extents[static_cast<std::size_t>(labels[d])];
      if (extent != shape[d] && extent != 1 && shape[d] != 1) return false;
      if (shape[d] != 1) extent = shape[d];
    }
    labels_.inputs.push_back(std::move(labels));
    return true;
  }

  bool SetOutput(const Term& term) {
    for (const char letter : term.before + term.after) {
      if (letters_.count(letter) == 0) return false;
    }
    labels_.output = Labels(term, term.ellipsis ? ellipsis_ : 0);
    return std::set<int>(labels_.output.begin(), labels_.output.end()).size() == labels_.output.size();
  }

  EinsumLabels Take() { return std::move(labels_); }

 private:
  std::vector<int> Labels(const Term& term, std::size_t dots) {
    std::vector<int> labels;
    for (const char letter : term.before) labels.push_back(Label(letter));
    for (std::size_t i = 0; i < dots; ++i) labels.push_back(static_cast<int>(ellipsis_ - dots + i));
    for (const char letter : term.after) labels.push_back(Label(letter));
    return labels;
  }

  int Label(char letter) {
    const auto [found, is_new] = letters_.emplace(letter, static_cast<int>(labels_.extents.size()));
    if (is_new) labels_.extents.push_back(1);
    return found->second;
  }

  std::size_t ellipsis_;
  std::map<char, int> letters_;
  EinsumLabels labels_;
};

// Without an arrow: the ellipsis, then the letters that occur once, in alphabetical order.
Term ImpliedOutput(const std::vector<Term>& inputs) {
  std::map<char, int> occurrences;
  Term output;
  for (const Term& term : inputs) {
    output.ellipsis = output.ellipsis || term.ellipsis;
    for (const char letter : term.before + term.after) ++occurrences[letter];
  }
  for (const auto& [letter, count] : occurrences) {
    if (count == 1) output.after += letter;
  }
  return output;
}

}  // namespace

Shape EinsumLabels::OutputShape() const {
  Shape shape;
  shape.reserve(output.size());
  for (const int label : output) shape.push_back(extents[static_cast<std::size_t>(label)]);
  return shape;
}

std::optional<EinsumLabels> LabelsOfEinsum(const std::string& equation, const std::vector<Shape>& inputs) {
  std::string text = equation;
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const std::size_t arrow = text.find("->");
  const std::optional<std::vector<Term>> terms = TermsOf(std::string_view(text).substr(0, arrow));
  if (!terms || terms->size() != inputs.size()) return std::nullopt;
  std::size_t ellipsis = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Term& term = (*terms)[i];
    if (term.ellipsis && inputs[i].size() > term.letters())
      ellipsis = std::max(ellipsis, inputs[i].size() - term.letters());
  }
  Labelling labelling(ellipsis);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!labelling.AddInput((*terms)[i], inputs[i])) return std::nullopt;
  }
  const std::optional<Term> output =
      arrow == std::string::npos ? ImpliedOutput(*terms) : TermOf(std::string_view(text).substr(arrow + 2));
  if (!output || !labelling.SetOutput(*output)) return std::nullopt;
  return labelling.Take();
}

}  // namespace millrace

#include "passes/einsum_subscripts.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/error.h"

namespace ort_train::passes {
namespace {

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view ellipsis = "...";

std::vector<std::string> split_at_commas(const std::string& terms) {
  std::vector<std::string> parts(1);
  for (const char c : terms) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// The classical form: labels that occur once, in alphabetical order, after the ellipsis.
std::string implied_result(const std::string& left) {
  std::string labels;
  for (char c = 'A'; c <= 'z'; ++c) {
    if (std::isalpha(static_cast<unsigned char>(c)) && std::count(left.begin(), left.end(), c) == 1) labels += c;
  }
  return left.find('.') == std::string::npos ? labels : std::string(ellipsis) + labels;
}

/// Letters that the equation does not use, for the axes of its ellipses.
std::string free_letters(const std::string& equation) {
  std::string free;
  for (const char c : letters) {
    if (equation.find(c) == std::string::npos) free += c;
  }
  return free;
}

/// Replaces the ellipsis by the last letters of `axes` (operands are lined up at their last axes) so that the term has
/// `rank` letters.
std::string written_out(const graph::Node& node, const std::string& term, std::size_t rank, const std::string& axes) {
  const std::size_t place = term.find(ellipsis);
  if (place == std::string::npos) return term;
  const std::size_t hidden = rank + ellipsis.size() - term.size();
  if (hidden > axes.size()) fail(describe(node), ": the ellipsis stands for too many axes");
  return std::string(term).replace(place, ellipsis.size(), axes.substr(axes.size() - hidden));
}

}  // namespace

EinsumSubscripts einsum_subscripts(const graph::Node& node) {
  std::string equation = node.string("equation", "");
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow);
  const std::string right = arrow == std::string::npos ? implied_result(left) : equation.substr(arrow + 2);
  const std::string axes = free_letters(equation);
  EinsumSubscripts subscripts;
  const std::vector<std::string> terms = split_at_commas(left);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::size_t rank = node.input(static_cast<int>(i))->dims().size();
    subscripts.operands.push_back(written_out(node, terms[i], rank, axes));
  }
  subscripts.result = written_out(node, right, node.output()->dims().size(), axes);
  return subscripts;
}

}  // namespace ort_train::passes

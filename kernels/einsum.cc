#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "kernels/arguments.h"
#include "kernels/parallel.h"
#include "kernels/strided.h"

namespace ort_train::kernels {

namespace {

// An index of the equation: a letter, or one of the axes that an ellipsis stands for (counted from the last one).
struct Label {
  char letter;
  std::int64_t from_end = 0;
  bool operator==(const Label&) const = default;
  bool operator<(const Label& other) const {
    return std::pair(letter, from_end) < std::pair(other.letter, other.from_end);
  }
};
using Labels = std::vector<Label>;

// An operand in double precision with a label for every axis.
struct Term {
  Labels labels;
  Dims dims;
  Tensor elements;
};

// One part of the equation, such as "b...ij". `ellipsis_rank` is how many axes its ellipsis stands for.
Labels read_labels(const std::string& part, std::int64_t ellipsis_rank) {
  Labels labels;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] == '.') {
      if (part.compare(i, 3, "...") != 0) fail("'", part, "' is not understood: an ellipsis has three points");
      for (std::int64_t axis = ellipsis_rank; axis-- > 0;) labels.push_back({'.', axis});
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(part[i])) != 0) {
      labels.push_back({part[i]});
    } else {
      fail("the equation cannot contain '", part.substr(i, 1), "'");
    }
  }
  return labels;
}

bool has_ellipsis(const std::string& part) { return part.find('.') != std::string::npos; }

struct Equation {
  std::vector<std::string> operands;
  std::optional<std::string> result;
};

Equation read_equation(std::string text) {
  std::erase(text, ' ');
  Equation equation;
  const std::size_t arrow = text.find("->");
  if (arrow != std::string::npos) {
    equation.result = text.substr(arrow + 2);
    text.resize(arrow);
  }
  std::size_t begin = 0;
  while (true) {
    const std::size_t comma = text.find(',', begin);
    equation.operands.push_back(text.substr(begin, comma - begin));
    if (comma == std::string::npos) return equation;
    begin = comma + 1;
  }
}

using Extents = std::map<Label, std::int64_t>;

Term read_term(const std::string& part, const Tensor& input) {
  const std::int64_t letters = std::count_if(part.begin(), part.end(), [](char c) { return c != '.'; });
  const std::int64_t ellipsis_rank = has_ellipsis(part) ? input.rank() - letters : 0;
  Term term{ellipsis_rank < 0 ? Labels{} : read_labels(part, ellipsis_rank), input.dims(),
            input.cast(DataType::float64)};
  if (term.labels.size() != term.dims.size()) {
    fail("'", part, "' does not fit an operand of shape ", to_string(input.dims()));
  }
  return term;
}

// An extent of 1 is repeated along a longer axis of the same label.
void collect_extents(const Term& term, Extents& extents) {
  for (std::size_t axis = 0; axis < term.labels.size(); ++axis) {
    const auto [known, is_new] = extents.emplace(term.labels[axis], term.dims[axis]);
    if (is_new || known->second == term.dims[axis] || term.dims[axis] == 1) continue;
    if (known->second != 1) {
      fail("an index of the equation has the extents ", known->second, " and ", term.dims[axis]);
    }
    known->second = term.dims[axis];
  }
}

// Without "->", the result has the ellipsis first, then every letter that comes only once, in alphabetical order.
Labels result_labels(const Equation& equation, const std::vector<Term>& terms) {
  std::map<Label, int> uses;
  std::int64_t ellipsis_rank = 0;
  for (const Term& term : terms) {
    for (const Label& label : term.labels) {
      ++uses[label];
      if (label.letter == '.') ellipsis_rank = std::max(ellipsis_rank, label.from_end + 1);
    }
  }
  if (!equation.result) {
    Labels labels = read_labels("...", ellipsis_rank);
    for (const auto& [label, count] : uses) {
      if (label.letter != '.' && count == 1) labels.push_back(label);
    }
    return labels;
  }
  Labels labels = read_labels(*equation.result, ellipsis_rank);
  for (const Label& label : labels) {
    if (uses.count(label) == 0) fail("the result's index '", std::string(1, label.letter), "' is in no operand");
    if (std::count(labels.begin(), labels.end(), label) > 1) {
      fail("the result has the index '", std::string(1, label.letter), "' twice");
    }
  }
  return labels;
}

// How far a step along each label moves in the term: the sum over its axes of that label.
Dims strides_of(const Term& term, const Labels& labels) {
  const Dims own = row_major_strides(term.dims);
  Dims strides(labels.size(), 0);
  for (std::size_t axis = 0; axis < term.labels.size(); ++axis) {
    const auto at = std::find(labels.begin(), labels.end(), term.labels[axis]);
    if (at != labels.end() && term.dims[axis] != 1) strides[static_cast<std::size_t>(at - labels.begin())] += own[axis];
  }
  return strides;
}

Dims extents_of(const Labels& labels, const Extents& extents) {
  Dims dims;
  for (const Label& label : labels) dims.push_back(extents.at(label));
  return dims;
}

// The array over the labels `kept` of sums over all the other labels of a * b.
Term contract(const Term& a, const Term& b, const Labels& kept, const Extents& extents) {
  Labels summed;
  for (const Term* term : {&a, &b}) {
    for (const Label& label : term->labels) {
      const bool known = std::find(kept.begin(), kept.end(), label) != kept.end() ||
                         std::find(summed.begin(), summed.end(), label) != summed.end();
      if (!known) summed.push_back(label);
    }
  }
  const Dims kept_dims = extents_of(kept, extents), summed_dims = extents_of(summed, extents);
  const Dims a_kept = strides_of(a, kept), b_kept = strides_of(b, kept);
  const Dims a_summed = strides_of(a, summed), b_summed = strides_of(b, summed);
  Term result{kept, kept_dims, Tensor(DataType::float64, kept_dims)};
  const std::int64_t terms = element_count(summed_dims);
  if (terms == 0) return result;
  double* out = result.elements.data<double>();
  const double* left = a.elements.data<double>();
  const double* right = b.elements.data<double>();
  parallel_for(result.elements.size(), std::max<std::int64_t>(1, costly_grain / terms),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t position = begin; position < end; ++position) {
                   std::int64_t a_offset = 0, b_offset = 0, rest = position;
                   for (std::size_t axis = kept_dims.size(); axis-- > 0;) {
                     a_offset += rest % kept_dims[axis] * a_kept[axis];
                     b_offset += rest % kept_dims[axis] * b_kept[axis];
                     rest /= kept_dims[axis];
                   }
                   double sum = 0;
                   Dims index(summed_dims.size(), 0);
                   do {
                     sum += left[a_offset + offset_of(index, a_summed)] * right[b_offset + offset_of(index, b_summed)];
                   } while (advance(index, summed_dims));
                   out[position] = sum;
                 }
               });
  return result;
}

// Of the first two terms' labels, those that the result or a later term needs.
Labels needed_labels(const std::vector<Term>& terms, const Labels& result) {
  Labels needed;
  for (const Term* term : {&terms[0], &terms[1]}) {
    for (const Label& label : term->labels) {
      bool wanted = std::find(result.begin(), result.end(), label) != result.end();
      for (std::size_t later = 2; later < terms.size(); ++later) {
        const Labels& labels = terms[later].labels;
        wanted = wanted || std::find(labels.begin(), labels.end(), label) != labels.end();
      }
      if (wanted && std::find(needed.begin(), needed.end(), label) == needed.end()) needed.push_back(label);
    }
  }
  return needed;
}

Term one() { return {{}, {}, Tensor::scalar(1.0)}; }

// Operands are contracted from the left, two at a time, in double precision.
void compute_einsum(Invocation& call) {
  const Equation equation = read_equation(call.node.string("equation", ""));
  if (equation.operands.size() != call.inputs.size()) {
    fail("the equation has ", equation.operands.size(), " operands, the node ", call.inputs.size());
  }
  std::vector<Term> terms;
  Extents extents;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    terms.push_back(read_term(equation.operands[i], call.inputs[i]));
    collect_extents(terms.back(), extents);
  }
  const Labels result = result_labels(equation, terms);
  while (terms.size() > 2) {
    Term joined = contract(terms[0], terms[1], needed_labels(terms, result), extents);
    terms.erase(terms.begin());
    terms.front() = std::move(joined);
  }
  if (terms.size() == 1) terms.push_back(one());
  const Term sum = contract(terms[0], terms[1], result, extents);
  const DataType dtype = call.inputs[0].dtype();
  Tensor& y = output(call, 0, dtype, sum.dims);
  const Tensor rounded = sum.elements.cast(dtype);
  std::copy(rounded.raw(), rounded.raw() + rounded.bytes(), y.raw());
}

const Registration einsum("Einsum", compute_einsum);

}  // namespace

}  // namespace ort_train::kernels

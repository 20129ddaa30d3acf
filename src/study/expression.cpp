// Recursive descent over sums, products and atoms; the tree is evaluated as it stands.
#include "study/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <utility>

#include "config/nearest.h"
#include "designs/design.h"
#include "study/store.h"

namespace nearfar {

struct Expression::Node {
  char operation = 0;  ///< + - * /, n for a number, s for a statistic, h for the samples of a histogram below `number`
  double number = 0;
  std::string name;
  std::shared_ptr<const Node> left, right;
};

namespace {

using Node = Expression::Node;
using NodePtr = std::shared_ptr<const Node>;

constexpr unsigned kDeepestNesting = 64;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

/// Where the text of a scalar begins in its source: after the quote, if it has one.
Place text_place(const Place& place, const std::string& text) {
  if (!place.source) return place;
  for (const std::size_t quote : {std::size_t{0}, std::size_t{1}}) {
    const std::size_t at = place.offset + quote;
    if (at <= place.source->text.size() && place.source->text.compare(at, text.size(), text) == 0) {
      return {place.source, at, text.size()};
    }
  }
  return place;
}

class Parser {
 public:
  Parser(const std::string& text, const Place& place)
      : text_(text), place_(text_place(place, text)), exact_(place_.length == text.size()) {}

  NodePtr whole() {
    NodePtr node = sum(0);
    if (more()) fail(1, fmt::format("`{}` was not expected here; between two values stands +, -, * or /.", text_[at_]));
    return node;
  }

  std::vector<Expression::Name> take_names() { return std::move(names_); }

 private:
  [[noreturn]] void fail(std::size_t length, const std::string& message) const {
    fail_at(place_at(at_, length), message);
  }

  Place place_at(std::size_t at, std::size_t length) const {
    return exact_ && place_.source ? Place{place_.source, place_.offset + at, length} : place_;
  }

  bool more() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;  // a folded text has line breaks too
    return at_ < text_.size();
  }

  bool take(char c) {
    if (!more() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  static NodePtr join(char operation, NodePtr left, NodePtr right) {
    return std::make_shared<Node>(Node{operation, 0, "", std::move(left), std::move(right)});
  }

  NodePtr sum(unsigned depth) {
    NodePtr left = product(depth);
    for (;;) {
      if (take('+')) {
        left = join('+', left, product(depth));
      } else if (take('-')) {
        left = join('-', left, product(depth));
      } else {
        return left;
      }
    }
  }

  NodePtr product(unsigned depth) {
    NodePtr left = atom(depth);
    for (;;) {
      if (take('*')) {
        left = join('*', left, atom(depth));
      } else if (take('/')) {
        left = join('/', left, atom(depth));
      } else {
        return left;
      }
    }
  }

  NodePtr atom(unsigned depth) {
    if (depth > kDeepestNesting) fail(1, "this is nested too deeply.");
    if (!more()) fail(1, "a number or the name of a statistic is missing at the end.");
    if (take('(')) {
      NodePtr inner = sum(depth + 1);
      if (!take(')')) fail(1, "a closing parenthesis is missing.");
      return inner;
    }
    if (take('-')) return join('-', number(0), atom(depth + 1));
    if (is_digit(text_[at_])) return parse_number();
    if (is_letter(text_[at_])) return parse_name();
    fail(1, fmt::format("`{}` was not expected here; a number or the name of a statistic was.", text_[at_]));
  }

  static NodePtr number(double value) { return std::make_shared<Node>(Node{'n', value, "", nullptr, nullptr}); }

  NodePtr parse_number() {
    double value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) fail(1, "this number cannot be read.");
    at_ += static_cast<std::size_t>(end - begin);
    return number(value);
  }

  NodePtr parse_name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    std::string name = text_.substr(begin, at_ - begin);
    if (name == "samples" || name == "below") {
      if (take('(')) return parse_histogram(name == "below");
    }
    names_.push_back({name, place_at(begin, name.size())});
    return std::make_shared<Node>(Node{'s', 0, std::move(name), nullptr, nullptr});
  }

  NodePtr parse_histogram(bool below) {
    if (!more() || !is_letter(text_[at_])) fail(1, "the name of a histogram was expected here.");
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    std::string name = text_.substr(begin, at_ - begin);
    names_.push_back({name, place_at(begin, name.size()), true});
    double bound = std::numeric_limits<double>::infinity();
    if (below) {
      if (!take(',') || !more() || !is_digit(text_[at_])) fail(1, "below(NAME, N) wants a comma and a number here.");
      bound = parse_number()->number;
    }
    if (!take(')')) fail(1, "a closing parenthesis is missing.");
    return std::make_shared<Node>(Node{'h', bound, std::move(name), nullptr, nullptr});
  }

  const std::string& text_;
  Place place_;
  bool exact_;
  std::size_t at_ = 0;
  std::vector<Expression::Name> names_;
};

/// Nothing when the result has no such histogram, which also says how large its samples were at most.
std::optional<double> samples_below(const Statistics& statistics, const std::string& name, double bound) {
  if (!statistics.find(name + ".max")) return std::nullopt;
  double samples = 0;
  for (const auto& [limit, count] : histogram_bins(statistics, name)) {
    if (static_cast<double>(limit) <= bound) samples += count;
  }
  return samples;
}

std::optional<double> value_of(const Node& node, const Statistics& statistics) {
  if (node.operation == 'n') return node.number;
  if (node.operation == 's') return statistics.find(node.name);
  if (node.operation == 'h') return samples_below(statistics, node.name, node.number);
  const auto left = value_of(*node.left, statistics), right = value_of(*node.right, statistics);
  if (!left || !right) return std::nullopt;
  switch (node.operation) {
    case '+': return *left + *right;
    case '-': return *left - *right;
    case '*': return *left * *right;
    default: return *right == 0 ? std::numeric_limits<double>::quiet_NaN() : *left / *right;
  }
}

/// Whether `name` is `pattern` with something in the place of each <placeholder>: digits, or a word for <name>.
bool matches(std::string_view name, std::string_view pattern) {
  for (;;) {
    const std::size_t open = pattern.find('<');
    if (open == std::string_view::npos) return name == pattern;
    const std::size_t close = pattern.find('>', open);
    if (!name.starts_with(pattern.substr(0, open))) return false;
    name.remove_prefix(open);
    const bool word = pattern.substr(open, close - open + 1) == "<name>";
    std::size_t length = 0;
    while (length < name.size() && (is_digit(name[length]) || (word && name[length] != '.'))) ++length;
    if (length == 0) return false;
    name.remove_prefix(length);
    pattern.remove_prefix(close + 1);
  }
}

/// The last component of a statistic's name, as it was and as it is.
struct Renamed {
  std::string_view before;
  std::string_view now;
};
constexpr Renamed kRenamed[] = {
    {"l2_tlb_mpki_joined", "l2_tlb_mpki_merged"},
    {"move_requests", "migration_requests"},
};

const std::vector<StatInfo>& known_statistics() {
  static const std::vector<StatInfo> known = list_all_statistics();
  return known;
}

}  // namespace

Expression Expression::parse(const std::string& text, const Place& place) {
  Parser parser(text, place);
  Expression expression;
  expression.text_ = text;
  expression.root_ = parser.whole();
  expression.names_ = parser.take_names();
  return expression;
}

std::optional<double> Expression::evaluate(const Statistics& statistics) const { return value_of(*root_, statistics); }

std::map<std::uint64_t, double> histogram_bins(const Statistics& statistics, const std::string& name) {
  const std::string prefix = name + ".below_";
  std::map<std::uint64_t, double> bins;
  const auto& names = statistics.names();
  for (auto bin = std::ranges::lower_bound(names, prefix); bin != names.end() && bin->starts_with(prefix); ++bin) {
    std::uint64_t bound = 0;
    std::from_chars(bin->data() + prefix.size(), bin->data() + bin->size(), bound);
    bins[bound] = statistics.values()[static_cast<std::size_t>(bin - names.begin())];
  }
  return bins;
}

bool is_statistic(std::string_view name) {
  return std::ranges::any_of(known_statistics(), [&](const StatInfo& stat) { return matches(name, stat.name); });
}

bool is_histogram(std::string_view name) { return is_statistic(std::string(name) + ".below_1"); }

std::string renamed_statistic(std::string_view name) {
  const std::size_t last = name.rfind('.') + 1;  // npos + 1 is 0
  for (const Renamed& each : kRenamed) {
    if (name.substr(last) != each.before) continue;
    std::string now = std::string(name.substr(0, last)) + std::string(each.now);
    if (is_statistic(now)) return now;
  }
  return "";
}

std::string nearest_statistic(std::string_view name) {
  std::vector<std::string> names;
  for (const StatInfo& stat : known_statistics()) names.push_back(stat.name);
  return did_you_mean(name, names);
}

}  // namespace nearfar

// Files are read line by line, so that they may be larger than memory would hold as text.
#include "workload/graph/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>
#include <tuple>

#include "config/error.h"
#include "config/nearest.h"

namespace nearfar {
namespace {

constexpr std::uint64_t kMostVertices = std::uint64_t{1} << 31;
constexpr std::uint64_t kMostEdges = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kWidestExcerpt = 100;
constexpr std::uint32_t kNoWeight = 0;
constexpr std::uint32_t kMostWeight = 1 << 30;

struct Edge {
  std::uint32_t from, to, weight;
};

/// The lines of a file, and the words of the one being read.
class Lines {
 public:
  explicit Lines(const std::string& path) : path_(path) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_directory(status)) throw InputError(fmt::format("{}: is a directory, not a file.", path));
    if (!fs::status_known(status)) throw InputError(fmt::format("{}: cannot be read: {}.", path, error.message()));
    if (!fs::exists(status)) throw InputError(fmt::format("{}: there is no such file.", path));
    file_.open(path, std::ios::binary);
    if (!file_) throw InputError(fmt::format("{}: cannot be read: {}.", path, std::strerror(errno)));
  }

  /// Goes to the next line; false at the end of the file, where it stays on the last one.
  bool next() {
    if (!std::getline(file_, next_)) {
      if (file_.bad()) throw InputError(fmt::format("{}: cannot be read: {}.", path_, std::strerror(errno)));
      return false;
    }
    std::swap(line_, next_);
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    ++number_;
    at_ = 0;
    return true;
  }

  /// To the next line that has words and does not begin with one of these characters.
  bool next_beyond(std::string_view comments) {
    while (next()) {
      if (at_end()) continue;
      if (comments.find(line_[at_]) == std::string_view::npos) return true;
    }
    return false;
  }

  bool at_end() {
    while (at_ < line_.size() && std::isspace(static_cast<unsigned char>(line_[at_])) != 0) ++at_;
    return at_ == line_.size();
  }

  std::string_view word(std::string_view expected) {
    if (at_end()) fail(fmt::format("expected {}, but the line ends.", expected));
    begin_ = at_;
    while (at_ < line_.size() && std::isspace(static_cast<unsigned char>(line_[at_])) == 0) ++at_;
    return std::string_view(line_).substr(begin_, at_ - begin_);
  }

  std::uint64_t number(std::string_view expected, std::uint64_t least, std::uint64_t most) {
    const std::string_view text = word(expected);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::invalid_argument || (error == std::errc{} && end != text.data() + text.size())) {
      fail_here(fmt::format("expected {}, not `{}`.", expected, shown(text)));
    }
    if (error != std::errc{} || value < least || value > most) {
      fail_here(fmt::format("expected {} from {} to {}, not `{}`.", expected, least, most, shown(text)));
    }
    return value;
  }

  double real(std::string_view expected) {
    std::string_view text = word(expected);
    if (text.starts_with('+')) text.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::invalid_argument || end != text.data() + text.size() || !std::isfinite(value)) {
      fail_here(fmt::format("expected {}, not `{}`.", expected, shown(text)));
    }
    return value;
  }

  void end_of_line(std::string_view after) {
    if (!at_end()) fail(fmt::format("there is more on the line than {}.", after));
  }

  const std::string& line() const { return line_; }

  /// Points at where reading stands.
  [[noreturn]] void fail(const std::string& message) const { fail_at(at_, message); }
  /// Points at the word read last.
  [[noreturn]] void fail_here(const std::string& message) const { fail_at(begin_, message); }

 private:
  static std::string shown(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, kWidestExcerpt)) {
      out += c == '\t' ? ' ' : std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?';
    }
    return out;
  }

  [[noreturn]] void fail_at(std::size_t column, const std::string& message) const {
    const std::size_t begin = column > kWidestExcerpt / 2 ? column - kWidestExcerpt / 2 : 0;
    const std::string excerpt = shown(std::string_view(line_).substr(std::min(begin, line_.size())));
    throw InputError(fmt::format("{}:{}:{}: {}\n{:5} | {}\n      | {}^", path_, std::max<std::uint64_t>(number_, 1),
                                 column + 1, message, std::max<std::uint64_t>(number_, 1), excerpt,
                                 std::string(column - begin, ' ')));
  }

  std::string path_;
  std::ifstream file_;
  std::string line_, next_;
  std::uint64_t number_ = 0;
  std::size_t at_ = 0, begin_ = 0;
};

/// Sorts the edges into rows; of repeated ones the lightest is kept, which is all that a shortest path can use.
Csr from_edges(std::uint64_t vertices, std::vector<Edge>& edges) {
  std::ranges::sort(edges, [](const Edge& a, const Edge& b) {
    return std::tie(a.from, a.to, a.weight) < std::tie(b.from, b.to, b.weight);
  });
  const bool weighted = std::ranges::none_of(edges, [](const Edge& edge) { return edge.weight == kNoWeight; });
  Csr csr;
  csr.row.assign(vertices + 1, 0);
  for (const Edge& edge : edges) {
    const bool repeated = csr.row[edge.from + std::size_t{1}] != 0 && csr.col.back() == edge.to;
    if (repeated) continue;
    ++csr.row[edge.from + std::size_t{1}];
    csr.col.push_back(edge.to);
    if (weighted) csr.weight.push_back(edge.weight);
  }
  for (std::size_t v = 0; v < vertices; ++v) csr.row[v + 1] += csr.row[v];
  return csr;
}

std::uint32_t vertex(std::uint64_t number) { return static_cast<std::uint32_t>(number); }

/// A matrix's value as a weight: whole numbers of at least 1 are.
std::uint32_t weight_of(double value) {
  return value >= 1 && value <= kMostWeight && value == static_cast<double>(static_cast<std::uint32_t>(value))
             ? static_cast<std::uint32_t>(value)
             : kNoWeight;
}

class MatrixMarket {
 public:
  explicit MatrixMarket(Lines& lines) : lines_(lines) {}

  Csr read() {
    read_banner();
    if (!lines_.next_beyond("%")) lines_.fail("the file ends before the line `rows columns entries`.");
    const std::uint64_t n = lines_.number("the number of rows", 1, kMostVertices);
    const std::uint64_t columns = lines_.number("the number of columns", 1, kMostVertices);
    if (columns != n) lines_.fail_here(fmt::format("a graph needs a square matrix; this one is {} × {}.", n, columns));
    const std::uint64_t entries = lines_.number("the number of entries", 0, kMostEdges / 2);
    lines_.end_of_line("`rows columns entries`");
    std::vector<Edge> edges;
    for (std::uint64_t read = 0; read < entries; ++read) {
      if (!lines_.next_beyond("%")) {
        lines_.fail(fmt::format("the file ends after {} of its {} entries.", read, entries));
      }
      read_entry(n, edges);
    }
    if (lines_.next_beyond("%")) lines_.fail(fmt::format("there are more than the {} entries announced.", entries));
    return from_edges(n, edges);
  }

 private:
  /// One word of the banner, in lower case, that must be one of `choices`.
  std::string choice(std::string_view what, const std::vector<std::string>& choices,
                     const std::vector<std::string>& refused) {
    std::string word(lines_.word(what));
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (std::ranges::find(refused, word) != refused.end()) {
      lines_.fail_here(
          fmt::format("`{}` matrices cannot be read as graphs; {} may be {}.", word, what, fmt::join(choices, ", ")));
    }
    if (std::ranges::find(choices, word) == choices.end()) {
      lines_.fail_here(
          fmt::format("{} may be {}, not `{}`.{}", what, fmt::join(choices, ", "), word, did_you_mean(word, choices)));
    }
    return word;
  }

  void read_banner() {
    lines_.word("`%%MatrixMarket`");
    choice("the object", {"matrix"}, {"vector"});
    choice("the format", {"coordinate"}, {"array"});
    field_ = choice("the field", {"real", "integer", "pattern"}, {"complex"});
    symmetry_ = choice("the symmetry", {"general", "symmetric", "skew-symmetric"}, {"hermitian"});
    lines_.end_of_line("the banner");
  }

  void read_entry(std::uint64_t n, std::vector<Edge>& edges) {
    const std::uint64_t i = lines_.number("a row", 1, n);
    const std::uint64_t j = lines_.number("a column", 1, n);
    if (symmetry_ != "general" && (j > i || (j == i && symmetry_ == "skew-symmetric"))) {
      lines_.fail_here(
          fmt::format("a {} matrix is given by its lower triangle, but ({}, {}) is not in it.", symmetry_, i, j));
    }
    const std::uint32_t weight = field_ == "pattern" ? kNoWeight : weight_of(lines_.real("a value"));
    lines_.end_of_line(field_ == "pattern" ? "row and column" : "row, column and value");
    edges.push_back({vertex(i - 1), vertex(j - 1), weight});
    if (symmetry_ != "general" && i != j) edges.push_back({vertex(j - 1), vertex(i - 1), weight});
  }

  Lines& lines_;
  std::string field_, symmetry_;
};

Csr read_dimacs(Lines& lines) {
  if (!lines.next_beyond("c")) lines.fail("the file ends before the line `p sp vertices edges`.");
  if (lines.word("`p`") != "p") lines.fail_here("expected the line `p sp vertices edges`.");
  if (lines.word("`sp`") != "sp") lines.fail_here("expected `sp`, for shortest paths.");
  const std::uint64_t n = lines.number("the number of vertices", 1, kMostVertices);
  const std::uint64_t m = lines.number("the number of edges", 0, kMostEdges);
  lines.end_of_line("`p sp vertices edges`");
  std::vector<Edge> edges;
  for (; lines.next_beyond("c");) {
    if (lines.word("`a`") != "a") lines.fail_here("expected the line `a from to weight`.");
    if (edges.size() == m) lines.fail_here(fmt::format("there are more than the {} edges announced.", m));
    const std::uint64_t from = lines.number("a vertex", 1, n);
    const std::uint64_t to = lines.number("a vertex", 1, n);
    const std::uint64_t weight = lines.number("a weight", 0, kMostWeight);
    lines.end_of_line("`a from to weight`");
    edges.push_back({vertex(from - 1), vertex(to - 1), vertex(std::max<std::uint64_t>(weight, 1))});
  }
  if (edges.size() < m) lines.fail(fmt::format("the file ends after {} of its {} edges.", edges.size(), m));
  return from_edges(n, edges);
}

Csr read_metis(Lines& lines) {
  if (!lines.next_beyond("%")) lines.fail("the file ends before the line `vertices edges`.");
  const std::uint64_t n = lines.number("the number of vertices", 1, kMostVertices);
  const std::uint64_t m = lines.number("the number of edges", 0, kMostEdges / 2);
  lines.end_of_line("`vertices edges`; graphs with weights are not read");
  std::vector<Edge> edges;
  for (std::uint64_t v = 0; v < n;) {
    if (!lines.next()) lines.fail(fmt::format("the file ends after {} of its {} vertices.", v, n));
    if (lines.line().starts_with('%')) continue;
    while (!lines.at_end()) edges.push_back({vertex(v), vertex(lines.number("a neighbour", 1, n) - 1), kNoWeight});
    ++v;
  }
  if (lines.next_beyond("%")) lines.fail(fmt::format("there are more lines than the {} vertices announced.", n));
  if (edges.size() != 2 * m) {
    lines.fail(fmt::format("{} edges announced make {} neighbours, but there are {}.", m, 2 * m, edges.size()));
  }
  return from_edges(n, edges);
}

/// The first line has been read already.
Csr read_edge_list(Lines& lines, bool any_line) {
  std::vector<Edge> edges;
  std::uint64_t n = 0;
  const auto read_line = [&] {
    const std::uint64_t from = lines.number("a vertex", 0, kMostVertices - 1);
    const std::uint64_t to = lines.number("a vertex", 0, kMostVertices - 1);
    const bool has_weight = !lines.at_end();
    if (!edges.empty() && has_weight != (edges.front().weight != kNoWeight)) {
      lines.fail(has_weight ? "the edges before have no weight, but this one has: either all have one, or none."
                            : "the edges before have a weight: either all have one, or none.");
    }
    const std::uint32_t weight = has_weight ? vertex(lines.number("a weight", 1, kMostWeight)) : kNoWeight;
    lines.end_of_line("`from to weight`");
    edges.push_back({vertex(from), vertex(to), weight});
    n = std::max({n, from + 1, to + 1});
  };
  if (any_line && !lines.at_end() && !lines.line().starts_with('#') && !lines.line().starts_with('%')) read_line();
  while (lines.next_beyond("#%")) read_line();
  if (edges.empty()) lines.fail("there is no edge in this file; a line of a list of edges is `from to [weight]`.");
  return from_edges(n, edges);
}

bool is_banner(std::string_view line) {
  constexpr std::string_view kBanner = "%%matrixmarket";
  if (line.size() < kBanner.size()) return false;
  return std::ranges::equal(line.substr(0, kBanner.size()), kBanner,
                            [](unsigned char a, unsigned char b) { return std::tolower(a) == b; });
}

}  // namespace

Csr read_graph(const std::string& path) {
  Lines lines(path);
  const std::string extension = std::filesystem::path(path).extension();
  if (extension == ".gr") return read_dimacs(lines);
  if (extension == ".graph") return read_metis(lines);
  const bool any_line = lines.next();
  if (is_banner(lines.line())) return MatrixMarket(lines).read();
  if (extension == ".mtx") lines.fail("a Matrix Market file begins with `%%MatrixMarket matrix coordinate …`.");
  return read_edge_list(lines, any_line);
}

}  // namespace nearfar

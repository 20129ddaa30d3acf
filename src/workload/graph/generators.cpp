#include "workload/graph/generators.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>
#include <pcg_random.hpp>
#include <utility>

namespace nearfar {
namespace {

/// Uniform in [0, bound), without bias (Lemire 2019).
std::uint32_t below(std::uint32_t bound, pcg32& random) {
  std::uint64_t product = std::uint64_t{random()} * bound;
  if (static_cast<std::uint32_t>(product) < bound) {
    const std::uint32_t biased = (0U - bound) % bound;
    while (static_cast<std::uint32_t>(product) < biased) product = std::uint64_t{random()} * bound;
  }
  return static_cast<std::uint32_t>(product >> 32);
}

/// All pairs that `sparse` does not have.
Csr complement(const Csr& sparse) {
  const std::uint32_t n = sparse.vertices();
  Csr dense;
  dense.row.resize(n + std::size_t{1});
  for (std::uint32_t v = 0; v < n; ++v) dense.row[v + 1] = n - sparse.degree(v);
  lay_out_rows(dense);
  std::size_t out = 0;
  for (std::uint32_t v = 0; v < n; ++v) {
    const auto absent = sparse.neighbours(v);
    auto next = absent.begin();
    for (std::uint32_t column = 0; column < n; ++column) {
      if (next != absent.end() && *next == column) {
        ++next;
      } else {
        dense.col[out++] = column;
      }
    }
  }
  return dense;
}

/// Draws R-MAT edges. Four levels of quadrants are chosen by one random number, from a table made by Vose's alias
/// method: 256 equally likely places, each of which is shared by two outcomes.
class RmatEdges {
 public:
  RmatEdges(const RmatSpec& spec, std::uint64_t seed) : scale_(spec.scale), random_(seed, 3) {
    std::array<double, kOutcomes> share;
    for (unsigned outcome = 0; outcome < kOutcomes; ++outcome) share[outcome] = probability(spec, outcome) * kOutcomes;
    std::vector<unsigned> poor, rich;
    for (unsigned outcome = 0; outcome < kOutcomes; ++outcome) (share[outcome] < 1 ? poor : rich).push_back(outcome);
    while (!poor.empty() && !rich.empty()) {
      const unsigned small = poor.back(), large = rich.back();
      poor.pop_back();
      table_[small] = {static_cast<std::uint32_t>(share[small] * kChances), pack(small), pack(large)};
      share[large] -= 1 - share[small];
      if (share[large] < 1) {
        rich.pop_back();
        poor.push_back(large);
      }
    }
    for (const auto& left : {poor, rich}) {
      for (const unsigned outcome : left) table_[outcome] = {kChances, pack(outcome), pack(outcome)};
    }
  }

  std::pair<std::uint32_t, std::uint32_t> next() {
    std::uint32_t row = 0, column = 0;
    for (unsigned level = 0; level < scale_; level += kLevels) {
      const std::uint32_t u = random_();
      const Place& place = table_[u % kOutcomes];
      const Step step = u / kOutcomes < place.chances ? place.own : place.other;
      row = row << kLevels | step.row;
      column = column << kLevels | step.column;
    }
    const unsigned surplus = (kLevels - scale_ % kLevels) % kLevels;
    return {row >> surplus, column >> surplus};
  }

 private:
  static constexpr unsigned kLevels = 4;
  static constexpr unsigned kOutcomes = 1U << (2 * kLevels);
  static constexpr std::uint32_t kChances = 1U << (32 - 2 * kLevels);

  struct Step {
    std::uint8_t row, column;
  };
  struct Place {
    std::uint32_t chances;  ///< of kChances, that it is its own outcome
    Step own, other;
  };

  /// An outcome's row bits are its upper half, its column bits the lower.
  static Step pack(unsigned outcome) {
    return {static_cast<std::uint8_t>(outcome >> kLevels), static_cast<std::uint8_t>(outcome % (1U << kLevels))};
  }

  static double probability(const RmatSpec& spec, unsigned outcome) {
    const double quadrant[2][2] = {{spec.a, spec.b}, {spec.c, 1 - spec.a - spec.b - spec.c}};
    double product = 1;
    for (unsigned level = 0; level < kLevels; ++level) {
      product *= quadrant[outcome >> (kLevels + level) & 1][outcome >> level & 1];
    }
    return product;
  }

  unsigned scale_;
  std::array<Place, kOutcomes> table_;
  pcg32 random_;
};

/// The same graph with its vertices numbered at random.
Csr renumber(const Csr& graph, std::uint64_t seed) {
  pcg32 random(seed, 4);
  std::vector<std::uint32_t> number(graph.vertices());
  std::iota(number.begin(), number.end(), 0U);
  for (std::uint32_t i = graph.vertices(); i > 1; --i) std::swap(number[i - 1], number[below(i, random)]);

  Csr out;
  out.row.resize(graph.row.size());
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) out.row[number[v] + std::size_t{1}] = graph.degree(v);
  lay_out_rows(out);
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    const auto begin = out.col.begin() + out.row[number[v]];
    const auto end =
        std::ranges::transform(graph.neighbours(v), begin, [&](std::uint32_t to) { return number[to]; }).out;
    std::sort(begin, end);
  }
  return out;
}

}  // namespace

Csr uniform_graph(std::uint32_t vertices, std::uint64_t edges, std::uint64_t seed) {
  const std::uint64_t all = std::uint64_t{vertices} * vertices;
  assert(vertices > 0 && edges <= all);
  if (edges > all - edges) return complement(uniform_graph(vertices, all - edges, seed));

  pcg32 rows(seed, 1), columns(seed, 2);
  Csr csr;
  csr.row.resize(vertices + std::size_t{1});
  for (std::uint64_t e = 0; e < edges; ++e) ++csr.row[below(vertices, rows) + std::size_t{1}];
  lay_out_rows(csr);
  for (std::uint32_t& column : csr.col) column = below(vertices, columns);
  sort_and_deduplicate(csr);

  // Drawing again for exactly the repeated ones is the same as drawing pairs until there are enough distinct ones.
  while (csr.edges() < edges) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> more(edges - csr.edges());
    for (auto& [row, column] : more) {
      row = below(vertices, rows);
      column = below(vertices, columns);
    }
    std::ranges::sort(more);
    append_to_rows(csr, more);
    sort_and_deduplicate(csr);
  }
  return csr;
}

Csr rmat_graph(const RmatSpec& spec, std::uint64_t seed) {
  Csr csr;
  csr.row.resize((std::size_t{1} << spec.scale) + 1);
  RmatEdges counted(spec, seed);
  for (std::uint64_t e = 0; e < spec.draws; ++e) ++csr.row[counted.next().first + std::size_t{1}];
  lay_out_rows(csr);

  // The same edges are drawn a second time: cheaper than to remember them all.
  std::vector<std::uint32_t> next(csr.row.begin(), csr.row.end() - 1);
  RmatEdges placed(spec, seed);
  for (std::uint64_t e = 0; e < spec.draws; ++e) {
    const auto [row, column] = placed.next();
    csr.col[next[row]++] = column;
  }
  sort_and_deduplicate(csr);
  if (spec.permute) return renumber(csr, seed);
  return csr;
}

}  // namespace nearfar

#include "workload/graph/generators.h"

#include <algorithm>
#include <cassert>
#include <cmath>
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

class RmatEdges {
 public:
  RmatEdges(const RmatSpec& spec, std::uint64_t seed)
      : scale_(spec.scale), a_(share(spec.a)), ab_(share(spec.a + spec.b)), abc_(share(spec.a + spec.b + spec.c)),
        random_(seed, 3) {}

  std::pair<std::uint32_t, std::uint32_t> next() {
    std::uint32_t row = 0, column = 0;
    for (unsigned level = 0; level < scale_; ++level) {
      const std::uint32_t u = random_();
      const bool lower = u >= ab_;
      const bool right = lower ? u >= abc_ : u >= a_;
      row = row << 1 | std::uint32_t{lower};
      column = column << 1 | std::uint32_t{right};
    }
    return {row, column};
  }

 private:
  static std::uint32_t share(double of_all) { return static_cast<std::uint32_t>(std::llround(of_all * 0x1p32)); }

  unsigned scale_;
  std::uint32_t a_, ab_, abc_;
  pcg32 random_;
};

std::vector<std::uint32_t> numbering(const RmatSpec& spec, std::uint64_t seed) {
  std::vector<std::uint32_t> number(std::size_t{1} << spec.scale);
  std::iota(number.begin(), number.end(), 0U);
  if (spec.permute) {
    pcg32 random(seed, 4);
    for (auto i = static_cast<std::uint32_t>(number.size()); i > 1; --i) std::swap(number[i - 1], number[below(i, random)]);
  }
  return number;
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
  const std::vector<std::uint32_t> number = numbering(spec, seed);
  Csr csr;
  csr.row.resize(number.size() + 1);
  RmatEdges counted(spec, seed);
  for (std::uint64_t e = 0; e < spec.draws; ++e) ++csr.row[number[counted.next().first] + std::size_t{1}];
  lay_out_rows(csr);

  // The same edges are drawn a second time: cheaper than to remember them all.
  std::vector<std::uint32_t> next(csr.row.begin(), csr.row.end() - 1);
  RmatEdges placed(spec, seed);
  for (std::uint64_t e = 0; e < spec.draws; ++e) {
    const auto [row, column] = placed.next();
    csr.col[next[number[row]]++] = number[column];
  }
  sort_and_deduplicate(csr);
  return csr;
}

}  // namespace nearfar

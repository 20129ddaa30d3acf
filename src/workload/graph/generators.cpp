#include "workload/graph/generators.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>
#include <pcg_random.hpp>
#include <utility>

#include "workload/portable_math.h"

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

/// Uniform in (0, 1).
double fraction(pcg32& random) { return (random() + 0.5) / 4294967296.0; }

/// How far a walk goes that ends at every step with the same probability.
std::uint32_t exponential(double mean, pcg32& random) {
  return static_cast<std::uint32_t>(-mean * portable::log(fraction(random)));
}

/// A power law that begins at `least`.
std::uint32_t power_law(double least, double exponent, std::uint32_t most, pcg32& random) {
  return static_cast<std::uint32_t>(std::min<double>(least * portable::pow(fraction(random), -1 / exponent), most));
}

/// Puts vertices into sets that are united one by one.
class Components {
 public:
  explicit Components(std::uint32_t vertices) : parent_(vertices) { std::iota(parent_.begin(), parent_.end(), 0U); }

  /// Whether the two were apart until now.
  bool unite(std::uint32_t a, std::uint32_t b) {
    a = find(a), b = find(b);
    if (a == b) return false;
    parent_[a] = b;
    return true;
  }

 private:
  std::uint32_t find(std::uint32_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }

  std::vector<std::uint32_t> parent_;
};

using Links = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// The symmetric graph of links between different vertices.
Csr from_links(std::uint32_t vertices, const Links& links) {
  Csr csr;
  csr.row.resize(vertices + std::size_t{1});
  for (const auto& [a, b] : links) {
    ++csr.row[a + std::size_t{1}];
    ++csr.row[b + std::size_t{1}];
  }
  lay_out_rows(csr);
  std::vector<std::uint32_t> next(csr.row.begin(), csr.row.end() - 1);
  for (const auto& [a, b] : links) {
    csr.col[next[a]++] = b;
    csr.col[next[b]++] = a;
  }
  sort_and_deduplicate(csr);
  return csr;
}

Links mesh_links(std::uint32_t width, std::uint32_t height) {
  Links links;
  links.reserve(std::size_t{2} * width * height);
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x) {
      const std::uint32_t v = y * width + x;
      if (x + 1 < width) links.emplace_back(v, v + 1);
      if (y + 1 < height) links.emplace_back(v, v + width);
    }
  }
  return links;
}

/// Draws the pages of a web, host after host.
class Web {
 public:
  Web(std::uint32_t vertices, std::uint64_t seed) : random_(seed, 9) {
    graph_.row.reserve(vertices + std::size_t{1});
    const std::uint32_t largest = std::max(vertices / 40, 4U);
    while (hosts_.back() < vertices) {
      const std::uint32_t size = std::max(power_law(8, 1.1, largest, random_), 4U);
      hosts_.push_back(std::min(vertices, hosts_.back() + size));
    }
    for (std::size_t host = 0; host + 1 < hosts_.size(); ++host) {
      for (std::uint32_t u = hosts_[host]; u < hosts_[host + 1]; ++u) add_page(u, hosts_[host], hosts_[host + 1]);
    }
  }

  Csr take() { return std::move(graph_); }

 private:
  void add_page(std::uint32_t u, std::uint32_t lo, std::uint32_t hi) {
    links_.clear();
    const std::uint32_t drawn = power_law(20.7, 1.8, 7000, random_);
    const std::uint32_t back = 1 + exponential(6, random_);
    const std::uint32_t prototype = u - lo >= back ? u - back : lo;
    for (std::uint32_t i = 0; i < drawn; ++i) links_.push_back(draw_link(u, lo, hi, prototype));
    std::ranges::sort(links_);
    links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
    std::erase(links_, u);
    graph_.col.insert(graph_.col.end(), links_.begin(), links_.end());
    graph_.row.push_back(static_cast<std::uint32_t>(graph_.col.size()));
  }

  std::uint32_t draw_link(std::uint32_t u, std::uint32_t lo, std::uint32_t hi, std::uint32_t prototype) {
    if (prototype < u && fraction(random_) < 0.6) {
      const auto copied = graph_.neighbours(prototype);
      if (!copied.empty()) return copied[below(static_cast<std::uint32_t>(copied.size()), random_)];
    }
    if (fraction(random_) < 0.85) {
      if (random_() % 2 == 0) return front_page(lo, hi);
      const std::uint32_t away = (1 + exponential(40, random_)) % (hi - lo);  // a step over the end goes around
      return lo + (u - lo + (random_() % 2 == 0 ? away : hi - lo - away)) % (hi - lo);
    }
    const std::uint32_t page = below(hosts_.back(), random_);
    const auto next = std::ranges::upper_bound(hosts_, page);
    return front_page(*(next - 1), *next);
  }

  /// A page of a host, the first ones being the most popular.
  std::uint32_t front_page(std::uint32_t lo, std::uint32_t hi) {
    const double x = fraction(random_);
    return lo + static_cast<std::uint32_t>((hi - lo) * (x * x * x));
  }

  pcg32 random_;
  std::vector<std::uint32_t> hosts_{0};  // first page of each, and the end
  std::vector<std::uint32_t> links_;     // of the page being drawn
  Csr graph_;
};

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

Csr mesh_graph(std::uint32_t width, std::uint32_t height) {
  return from_links(width * height, mesh_links(width, height));
}

Csr banded_graph(std::uint32_t vertices, std::uint64_t edges, std::uint32_t half_band, std::uint64_t seed) {
  pcg32 random(seed, 5);
  Csr csr;
  csr.row.reserve(vertices + std::size_t{1});
  std::vector<std::uint32_t> drawn;
  for (std::uint32_t v = 0; v < vertices; ++v) {
    const std::uint32_t lo = v - std::min(v, half_band);
    const std::uint32_t hi = vertices - 1 - v > half_band ? v + half_band : vertices - 1;
    const std::uint64_t wanted = (v + std::uint64_t{1}) * edges / vertices - v * edges / vertices;
    const auto degree = std::min<std::uint64_t>(wanted, hi - lo);  // which are all but v itself
    drawn.clear();
    while (drawn.size() < degree) {
      const std::uint32_t to = lo + below(hi - lo + 1, random);
      const auto place = std::ranges::lower_bound(drawn, to);
      if (to != v && (place == drawn.end() || *place != to)) drawn.insert(place, to);
    }
    csr.col.insert(csr.col.end(), drawn.begin(), drawn.end());
    csr.row.push_back(static_cast<std::uint32_t>(csr.col.size()));
  }
  return csr;
}

Csr road_graph(std::uint32_t width, std::uint32_t height, double keep, std::uint64_t seed) {
  pcg32 random(seed, 6);
  Links links = mesh_links(width, height);
  for (auto i = static_cast<std::uint32_t>(links.size()); i > 1; --i) std::swap(links[i - 1], links[below(i, random)]);
  Components towns(width * height);
  // What is not needed to connect the towns is kept so often that the share comes out right.
  const auto all = static_cast<double>(links.size());
  const double tree = width * static_cast<double>(height) - 1;
  const double chance = all > tree ? std::clamp((keep * all - tree) / (all - tree), 0.0, 1.0) : 1;
  std::erase_if(links, [&](const auto& link) {
    const bool connects = towns.unite(link.first, link.second);
    return !connects && fraction(random) >= chance;
  });
  return from_links(width * height, links);
}

Csr geometric_graph(std::uint32_t vertices, std::uint64_t seed) {
  struct Point {
    double x, y;
  };
  pcg32 random(seed, 7);
  const double n = vertices;
  const double radius = vertices > 1 ? 0.55 * std::sqrt(portable::log(n) / n) : 1;
  const auto cells = std::max(static_cast<std::uint32_t>(1 / radius), 1U);
  const auto cell_of = [&](double at) { return std::min(static_cast<std::uint32_t>(at * cells), cells - 1); };

  std::vector<Point> drawn(vertices);
  Csr by_cell;  // the points of each cell: rows are cells, columns are points
  by_cell.row.resize(std::size_t{cells} * cells + 1);
  for (Point& point : drawn) {
    point = {fraction(random), fraction(random)};
    ++by_cell.row[cell_of(point.y) * std::size_t{cells} + cell_of(point.x) + 1];
  }
  lay_out_rows(by_cell);
  std::vector<std::uint32_t> next(by_cell.row.begin(), by_cell.row.end() - 1);
  std::vector<Point> points(vertices);
  for (const Point& point : drawn) {
    points[next[cell_of(point.y) * std::size_t{cells} + cell_of(point.x)]++] = point;
  }

  Csr csr;
  csr.row.reserve(vertices + std::size_t{1});
  for (std::uint32_t v = 0; v < vertices; ++v) {
    const Point at = points[v];
    const std::uint32_t cx = cell_of(at.x), cy = cell_of(at.y);
    for (std::uint32_t y = cy - std::min(cy, 1U); y <= std::min(cy + 1, cells - 1); ++y) {
      const std::uint32_t first = by_cell.row[y * std::size_t{cells} + cx - std::min(cx, 1U)];
      const std::uint32_t end = by_cell.row[y * std::size_t{cells} + std::min(cx + 1, cells - 1) + 1];
      for (std::uint32_t u = first; u < end; ++u) {
        const double dx = points[u].x - at.x, dy = points[u].y - at.y;
        if (u != v && dx * dx + dy * dy < radius * radius) csr.col.push_back(u);
      }
    }
    csr.row.push_back(static_cast<std::uint32_t>(csr.col.size()));
  }
  return csr;
}

Csr web_graph(std::uint32_t vertices, std::uint64_t seed) { return Web(vertices, seed).take(); }

Csr cage_graph(std::uint32_t vertices, std::uint64_t seed) {
  constexpr double kSpread = 2.2;
  const double mean_degree = 15.6 + 0.976 * portable::log(vertices / 130228.0);
  std::vector<std::uint32_t> offsets;
  for (std::uint64_t power = 1; 9 * power <= vertices; power *= 3) {
    offsets.push_back(static_cast<std::uint32_t>(power));
    offsets.push_back(static_cast<std::uint32_t>(2 * power));
  }
  pcg32 random(seed, 8);
  Links links;
  for (std::uint32_t v = 0; v < vertices && !offsets.empty(); ++v) {
    const double normal = std::sqrt(-2 * portable::log(fraction(random))) * portable::cosine_of_turn(fraction(random));
    const auto most = static_cast<double>(offsets.size());
    const auto moves =
        static_cast<std::uint32_t>(std::clamp(std::round((mean_degree - 1) / 2 + kSpread * normal), 1.0, most));
    for (std::uint32_t i = 0; i < moves; ++i) {  // the first `moves` of the offsets, shuffled that far
      const auto other = i + below(static_cast<std::uint32_t>(offsets.size()) - i, random);
      std::swap(offsets[i], offsets[other]);
      links.emplace_back(v, vertices - v > offsets[i] ? v + offsets[i] : v - offsets[i]);
    }
  }
  Csr csr = from_links(vertices, links);
  Links diagonal;
  for (std::uint32_t v = 0; v < vertices; ++v) diagonal.emplace_back(v, v);
  append_to_rows(csr, diagonal);
  sort_and_deduplicate(csr);
  return csr;
}

Csr renumber(const Csr& graph, std::uint64_t seed) {
  pcg32 random(seed, 4);
  std::vector<std::uint32_t> number(graph.vertices());
  std::iota(number.begin(), number.end(), 0U);
  for (std::uint32_t i = graph.vertices(); i > 1; --i) std::swap(number[i - 1], number[below(i, random)]);

  Csr out;
  out.row.resize(graph.row.size());
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) out.row[number[v] + std::size_t{1}] = graph.degree(v);
  lay_out_rows(out);
  out.weight.resize(graph.weight.size());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;  // of one vertex: to, and where it stands in `graph`
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    edges.clear();
    for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e) edges.emplace_back(number[graph.col[e]], e);
    std::ranges::sort(edges);
    std::uint32_t at = out.row[number[v]];
    for (const auto& [to, e] : edges) {
      if (!graph.weight.empty()) out.weight[at] = graph.weight[e];
      out.col[at++] = to;
    }
  }
  return out;
}

void draw_weights(Csr& graph, std::uint32_t largest, std::uint64_t seed) {
  pcg32 random(seed, 10);
  graph.weight.resize(graph.edges());
  for (std::uint32_t& weight : graph.weight) weight = 1 + below(largest, random);
}

}  // namespace nearfar
